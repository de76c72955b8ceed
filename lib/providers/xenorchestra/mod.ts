/**
 * Xen Orchestra, which manages pools of XCP-ng and XenServer hosts.
 * @module
 */
import type { ProviderDefinition } from "../../cloud/provider_definition.ts";
import { XenOrchestraApi } from "./api.ts";
import { parseXenOrchestraConfig, type XenOrchestraSettings } from "./config.ts";
import { describeSettings } from "./config_schema.ts";
import { XenOrchestraProvider } from "./provider.ts";
import { Session } from "./session.ts";

export { LABEL_DESCRIPTIONS } from "./labels.ts";

/** The provider `xenorchestra`. */
export const xenOrchestra: ProviderDefinition<XenOrchestraSettings> = {
  name: "xenorchestra",
  settings: describeSettings(),
  parseConfig: parseXenOrchestraConfig,
  create(settings, deps) {
    const { clock, log, metrics } = deps;
    const api = new XenOrchestraApi(new Session(settings, deps), metrics);
    return new XenOrchestraProvider({ api, settings, clock, log });
  },
};
