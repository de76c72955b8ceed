/**
 * Xen Orchestra, which manages pools of XCP-ng and XenServer hosts.
 * @module
 */
import type { ProviderDefinition } from "../../cloud/provider_definition.ts";
import { XenOrchestraApi } from "./api.ts";
import { parseXenOrchestraConfig, type XenOrchestraSettings } from "./config.ts";
import { describeSettings } from "./config_schema.ts";
import { EventFeed } from "./events.ts";
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
    const session = new Session(settings, deps);
    const api = new XenOrchestraApi(session, metrics);
    const events = new EventFeed({ session, clock, log, metrics });
    return new XenOrchestraProvider({ api, events, settings, clock, log });
  },
};
