/**
 * The provider for Xen Orchestra, which manages pools of XCP-ng and XenServer hosts.
 * @module
 */
import {
  compareSettings,
  type ProviderDefinition,
  type ProviderDeps,
} from "../../cloud/provider_definition.ts";
import { XenOrchestraApi } from "./client.ts";
import { createEventFeed } from "./events.ts";
import { LABEL_DESCRIPTIONS } from "./labels.ts";
import { Memory } from "./memory.ts";
import { type Connection, type XenOrchestraHandover, XenOrchestraProvider } from "./provider.ts";
import { Session } from "./session/session.ts";
import { TokenWatch } from "./session/token_watch.ts";
import {
  describeSettings,
  INSTANCE_SETTINGS,
  parseXenOrchestraConfig,
  type XenOrchestraSettings,
} from "./settings.ts";

/** The settings on which no request depends. */
const LOCAL = [...INSTANCE_SETTINGS, "pools", "refreshIntervalMs"] as const;

/** The provider `xenorchestra`. */
export const xenOrchestra: ProviderDefinition<XenOrchestraSettings, XenOrchestraHandover> = {
  name: "xenorchestra",
  docs: {
    title: "Xen Orchestra",
    topology: {
      instanceType: "`4vCPU-8GB`, or the value of a tag of the VM",
      zone: "UUID of the host, or another value by `zoneLabelFrom`",
      region: "UUID of the pool",
    },
    labels: LABEL_DESCRIPTIONS,
    providerId: {
      form: "xenorchestra://<pool UUID>/<VM UUID>",
      meaning:
        "The VM, and the pool where Landfall first found it. The ID does not change when the VM moves.",
    },
    example: { url: "https://xo.example.org", token: "none" },
  },
  /** The Secret of the Go controller and of the CSI driver. */
  install: {
    other: "Go controller for Xen Orchestra",
    lease: "cloud-controller-manager-xenorchestra",
    secret: "xenorchestra-cloud-controller-manager",
    example: "url: https://xo.example.com\ntoken: REPLACE-ME\n",
    variable: "XOA_URL",
  },
  loadRoles: async () => [(await import("./machines/privileges.ts")).MACHINES_ROLE],
  settings: describeSettings(),
  parseConfig: parseXenOrchestraConfig,
  compare: (before, after) => compareSettings(before, after, LOCAL),
  create(settings, deps, before) {
    const { clock, log } = deps;
    const { change = "otherCloud", from } = before ?? {};
    // It protects Nodes, because it knows what the server should show.
    const memory = from === undefined || change === "otherCloud" ? new Memory() : from.memory;
    const isSameUser = from !== undefined && change === "sameUser";
    const connection = isSameUser ? from.connection : connect(settings, deps);
    // Another user may see less, so counts of what a list lacks start again.
    if (!isSameUser) memory.pools.noteOtherUser();
    return new XenOrchestraProvider({ settings, clock, log, memory, connection });
  },
};

function connect(settings: XenOrchestraSettings, deps: ProviderDeps): Connection {
  const session = new Session(settings, deps);
  const api = new XenOrchestraApi(session, deps.metrics);
  return {
    session,
    api,
    events: createEventFeed({ ...deps, session }),
    tokenWatch: new TokenWatch({ ...deps, session }),
  };
}
