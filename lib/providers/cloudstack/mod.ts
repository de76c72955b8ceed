/**
 * Apache CloudStack.
 * @module
 */
import { compareSettings, type ProviderDefinition } from "../../cloud/provider_definition.ts";
import { CLOUDSTACK_DOCS, CLOUDSTACK_INSTALL } from "./docs.ts";
import { ObservationStore } from "./load_balancers/store.ts";
import { type CloudStackHandover, CloudStackProvider, Memory } from "./provider.ts";
import { CloudStackSession } from "./session/session.ts";
import {
  type CloudStackSettings,
  describeSettings,
  parseCloudStackConfig,
} from "./settings/config.ts";
import { INI_SYNTAX } from "./settings/ini_syntax.ts";

/** The settings that no request depends on. */
const LOCAL = [
  "region",
  "refreshIntervalMs",
  "instanceTypeStyle",
  "addresses",
  "leavesAddresses",
  "trustsEmptyAnswer",
] as const;

/** The provider `external-cloudstack`, as existing manifests name it. */
export const cloudStack: ProviderDefinition<CloudStackSettings, CloudStackHandover> = {
  name: "external-cloudstack",
  docs: CLOUDSTACK_DOCS,
  install: CLOUDSTACK_INSTALL,
  syntax: INI_SYNTAX,
  settings: describeSettings(),
  refusedSettings: {
    "loadBalancers.pools":
      "CloudStack has load balancers of its own, which give Services their addresses: remove the pools",
    "loadBalancers.announce":
      "CloudStack announces the addresses of Services itself: remove the setting",
  },
  parseConfig: parseCloudStackConfig,
  compare: (before, after) => compareSettings(before, after, LOCAL),
  create(settings, deps, before) {
    const { clock, log } = deps;
    const { change = "otherCloud", from } = before ?? {};
    const hasSameKeys =
      from !== undefined && compareSettings(from.settings, settings, LOCAL) === "sameUser";
    // Key files stay those in use: new ones would read other keys from the same paths, and would not report a change.
    const session = hasSameKeys
      ? from.session
      : new CloudStackSession(settings, deps, from?.session);
    // It keeps Nodes safe, because it knows what the server should show to this user, in this project.
    const memory = from !== undefined && change === "sameUser" ? from.memory : new Memory();
    const isSameProject =
      from?.settings.url === settings.url && from.settings.project === settings.project;
    const store = isSameProject ? from.store : new ObservationStore();
    // What was seen before does not count, but changes that still run do.
    if (change !== "sameUser") store.forget();
    return new CloudStackProvider({ settings, session, memory, store, clock, log });
  },
};
