/**
 * Apache CloudStack.
 * @module
 */
import type { ProviderDefinition } from "../../cloud/provider_definition.ts";
import { assert } from "../../core/errors.ts";
import { CLOUDSTACK_DOCS, CLOUDSTACK_INSTALL } from "./docs.ts";
import { CloudStackProvider } from "./provider.ts";
import { CloudStackSession } from "./session/session.ts";
import { type CloudStackSettings, parseCloudStackConfig } from "./settings/config.ts";
import { describeSettings } from "./settings/config_schema.ts";
import { INI_SYNTAX } from "./settings/ini_syntax.ts";
import { CloudStackApi } from "./wire/api.ts";

/** The provider `external-cloudstack`, as existing manifests name it. */
export const cloudStack: ProviderDefinition<CloudStackSettings> = {
  name: "external-cloudstack",
  docs: CLOUDSTACK_DOCS,
  install: CLOUDSTACK_INSTALL,
  syntax: INI_SYNTAX,
  settings: describeSettings(),
  refusedSections: {
    loadBalancers:
      "CloudStack has load balancers of its own, which give Services their addresses: remove the section",
  },
  parseConfig: parseCloudStackConfig,
  create(settings, deps) {
    const session = new CloudStackSession(settings, deps);
    const api = new CloudStackApi(session);
    return new CloudStackProvider({ api, session, settings, clock: deps.clock, log: deps.log });
  },
  reconfigure(provider, settings) {
    assert(
      provider instanceof CloudStackProvider,
      "only a provider that was created here can be reconfigured here",
    );
    return provider.reconfigure(settings);
  },
};
