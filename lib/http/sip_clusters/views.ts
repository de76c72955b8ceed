/**
 * The data of the pages about SIPClusters and the hosts that they share. The composition root fills it in.
 * @module
 */
import type { ObjectView } from "../kind.ts";
import type { ConditionView, ServingView } from "../views.ts";

/**
 * How a SIPCluster stands.
 *
 * - `ready`: as its spec asks
 * - `working`: Landfall takes hosts, or waits for its services
 * - `waiting`: something prevents it, see its conditions
 * - `failing`: the last attempt failed
 */
export type SipClusterState = "ready" | "working" | "waiting" | "failing";

/** What a role of a cluster asks for, and gets. */
export interface SipRoleView {
  /** `ControlPlane`, `Worker`. */
  readonly role: string;
  readonly wanted: number;
  readonly have: number;
  /** Free hosts that fit, before anti-affinity. Absent: none was looked for. */
  readonly eligible?: number;
  /** Why hosts were refused in the last decision, the most frequent reason first. Empty if none are missing. */
  readonly rejected: readonly { readonly reason: string; readonly hosts: number }[];
  /** The same by host, `namespace/name`. */
  readonly refused: readonly { readonly host: string; readonly reason: string }[];
}

/** Everything that explains what Landfall does for one SIPCluster. */
export interface SipClusterView extends ObjectView {
  readonly state: SipClusterState;
  /** Whether it is being deleted. @default {false} */
  readonly isLeaving?: boolean;
  /** In the order of the kind. */
  readonly roles: readonly SipRoleView[];
  readonly conditions: readonly ConditionView[];
  /** What people should know of it also if it is ready: hosts too many, or too close to each other. */
  readonly notes: readonly string[];
  /** Hosts with the same value of a topology key, which stay: `namespace/name` each. */
  readonly breaches: readonly {
    readonly topologyKey: string;
    readonly value: string;
    readonly hosts: readonly string[];
  }[];
  readonly endpoints: readonly { readonly service: string; readonly nodePort: number }[];
  /** Labels by which its hosts are spread. */
  readonly topologyKeys: readonly string[];
}

/** A host, and who has it. */
export interface SipHostView {
  readonly namespace: string;
  readonly name: string;
  /** Values of the labels by which clusters spread their hosts, by the label. */
  readonly places: Readonly<Record<string, string>>;
  /** What metal3 says: `available`, `provisioned`. Empty: nothing yet. */
  readonly state: string;
  /** Why it may not be taken. */
  readonly trouble?: string;
  /** The SIPCluster that has it, `namespace/name`. */
  readonly cluster?: string;
  readonly role?: string;
  /** @default {false} */
  readonly standby?: boolean;
  /** What uses it: `Metal3Machine tenants/worker-1`. */
  readonly consumer?: string;
}

/** The SIPClusters and hosts of a process. Reads only memory. */
export interface SipClusterSource {
  /** In order of namespace and name. Each is described when it is read. */
  list(): Iterable<SipClusterView>;
  readServing(): ServingView;
  /** By `namespace/name`. */
  find(key: string): SipClusterView | undefined;
  /** All hosts in order of namespace and name, taken or not. */
  listHosts(): Iterable<SipHostView>;
}
