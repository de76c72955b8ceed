/**
 * The provider for Xen Orchestra, which manages pools of XCP-ng and XenServer hosts.
 * @module
 */
import type { ProviderDefinition } from "../../cloud/provider_definition.ts";
import { assert } from "../../core/errors.ts";
import { XenOrchestraApi } from "./wire/api.ts";
import { parseXenOrchestraConfig, type XenOrchestraSettings } from "./settings/config.ts";
import { describeSettings } from "./settings/config_schema.ts";
import { createEventFeed } from "./wire/events.ts";
import { XEN_ORCHESTRA_DOCS, XEN_ORCHESTRA_INSTALL } from "./docs.ts";
import { XenOrchestraProvider } from "./provider.ts";
import { Session } from "./session/session.ts";
import { TokenWatch } from "./session/token_watch.ts";

/** The provider `xenorchestra`. */
export const xenOrchestra: ProviderDefinition<XenOrchestraSettings> = {
  name: "xenorchestra",
  docs: XEN_ORCHESTRA_DOCS,
  install: XEN_ORCHESTRA_INSTALL,
  loadRoles: async () => [(await import("./machines/privileges.ts")).MACHINES_ROLE],
  settings: describeSettings(),
  parseConfig: parseXenOrchestraConfig,
  create(settings, deps) {
    const { clock, log, metrics, notify, signal } = deps;
    const session = new Session(settings, deps);
    const api = new XenOrchestraApi(session, metrics);
    const events = createEventFeed({ session, clock, log, metrics });
    const tokenWatch = new TokenWatch({ session, clock, log, metrics, notify });
    return new XenOrchestraProvider({
      api,
      events,
      session,
      tokenWatch,
      settings,
      clock,
      log,
      signal,
    });
  },
  reconfigure(provider, settings) {
    assert(
      provider instanceof XenOrchestraProvider,
      "only a provider that was created here can be reconfigured here",
    );
    return provider.reconfigure(settings);
  },
};
