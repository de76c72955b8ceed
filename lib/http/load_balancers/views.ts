/**
 * The data of the pages about load balancers. The composition root fills it in.
 * @module
 */
import type { ObjectView } from "../kind.ts";
import type { PoolUsageView, ServingView } from "../views.ts";

/**
 * How a load balancer stands.
 *
 * - `ready`: as its Service asks
 * - `working`: Landfall changes it, or waits for its turn
 * - `waiting`: something prevents it, see its problems
 * - `failing`: the last attempt failed
 */
export type LoadBalancerState = "ready" | "working" | "waiting" | "failing";

/** A part of a load balancer: what should exist in the cloud, and what does. */
export interface LoadBalancerPartView {
  /** What it is, in words of the cloud: `rule`, `firewall rule`. */
  readonly kind: string;
  /** Which one: `tcp 443`. */
  readonly name: string;
  /** Absent if it should not exist. */
  readonly wanted?: string;
  /** Absent if it does not exist. */
  readonly actual?: string;
  /** Whether it is not known yet what should exist; then {@linkcode wanted} is absent. @default {false} */
  readonly isUndecided?: boolean;
}

/** Why a load balancer is not as its Service asks. */
interface LoadBalancerProblemView {
  /** One word. */
  readonly reason: string;
  /** The same for people. */
  readonly message: string;
  /** Whether the Service must wait for it. @default {true} */
  readonly isWaiting?: boolean;
}

/** Everything that explains what Landfall does for one Service. */
export interface LoadBalancerView extends ObjectView {
  readonly state: LoadBalancerState;
  /** Whether the Service needs it no longer, and Landfall removes it. @default {false} */
  readonly isLeaving?: boolean;
  /** IP addresses and host names that the status of the Service shows; after a host name the IP it must lead to. */
  readonly addresses: readonly string[];
  /** `tcp 443`, in the order of the Service. */
  readonly ports: readonly string[];
  /** Names of the Nodes that can get traffic. Absent: it has no backends, because it sends no traffic itself. */
  readonly backends?: readonly string[];
  /** How many of them get traffic from each port; the fewest if they differ. Absent: not known. */
  readonly serving?: number;
  /** Empty until this process has looked at the cloud. */
  readonly parts: readonly LoadBalancerPartView[];
  readonly problems: readonly LoadBalancerProblemView[];
  /** What Landfall will do next, in this order. */
  readonly steps: readonly string[];
  /** What the work on it waits for. */
  readonly waitsFor?: string;
  /** Why the last attempt failed, in one line. */
  readonly failure?: string;
  /** Since when it is not ready; ISO 8601. Absent: it is. */
  readonly notReadySince?: string;
}

/** A public address in the cloud that was taken for a Service of this cluster which does not exist any more. */
export interface LeftoverView {
  readonly ip: string;
  /** The cloud's ID of the address. */
  readonly id: string;
  /** `namespace/name` of the Service, as the tags of the address say. */
  readonly service?: string;
  /** UID of the Service, as the tags of the address say. */
  readonly serviceUid: string;
  /** How many rules of load balancers are on it. */
  readonly rules: number;
  /** Not before this time the cloud showed it; ISO 8601. Without Services, Landfall does not look again. */
  readonly asOf: string;
}

/** The load balancers of a process. Reads only memory. */
export interface LoadBalancerSource {
  /** In order of namespace and name. Each is described when it is read. */
  list(): Iterable<LoadBalancerView>;
  /** The load balancer of a Service, by `namespace/name`. */
  find(key: string): LoadBalancerView | undefined;
  /** Whether this process works on them. */
  readServing(): ServingView;
  /** By the last look at the cloud. Empty if this process did not look. */
  listLeftovers(): readonly LeftoverView[];
  /** Address pools in the order of the settings. Empty if this process does not give addresses from pools. */
  listPools(): readonly PoolUsageView[];
}
