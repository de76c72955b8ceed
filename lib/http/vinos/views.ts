/**
 * The data of the pages about Vinos: their machines, and the hosts of the cloud. The composition root fills it in.
 * @module
 */
import type { ConditionView, PoolUsageView, ReconcileView, ServingView } from "../views.ts";

/**
 * How a Vino stands.
 *
 * - `ready`: as its spec asks
 * - `working`: Landfall makes machines, or waits for the cloud
 * - `waiting`: the cloud does not say enough to change anything
 * - `failing`: the last attempt failed, or a person must decide, see its conditions
 * - `deleting`: it is being deleted
 */
export type VinoState = "ready" | "working" | "waiting" | "failing" | "deleting";

/** A part of a machine: what it should be, and what it is. */
interface MachinePartView {
  /** What it is: `CPUs`, `disk root`. */
  readonly name: string;
  /** Absent if it should not exist. */
  readonly wanted?: string;
  /** Absent if it does not exist. */
  readonly actual?: string;
}

/** A machine of a Vino. */
export interface VinoMachineView {
  /** In the cloud. */
  readonly name: string;
  readonly role: string;
  readonly index: number;
  /** `Absent`, `Unknown`, `Creating`, `Unfinished`, `Ready`, `Removing`, `Blocked`. */
  readonly state: string;
  /** Whether the spec wants it. */
  readonly isWanted: boolean;
  /** `running`, `stopped`, as Landfall saw it last. Absent: it does not exist, or nothing shows it. */
  readonly power?: string;
  /** ID of the host in the cloud where it starts. */
  readonly host?: string;
  /** Name of that host, as the cloud showed it last. */
  readonly hostDisplayName?: string;
  /** The cloud's ID. */
  readonly machineId?: string;
  readonly address?: string;
  /** What it waits for, or what is worth knowing. */
  readonly message?: string;
  /** Those that differ. */
  readonly parts: readonly MachinePartView[];
  /** How far its BareMetalHost is: `Published`. Absent: it has none. */
  readonly bareMetalHost?: string;
  /** Name of its BareMetalHost, in the namespace of the Vino. */
  readonly hostName?: string;
  /** What metal3 says about its BareMetalHost: `available`. */
  readonly provisioning?: string;
  /** What uses its BareMetalHost: `Metal3Machine tenants/worker-1`. */
  readonly consumer?: string;
  /** Name of the SIPCluster that has its BareMetalHost. */
  readonly cluster?: string;
}

/** Everything that explains what Landfall does for one Vino. */
export interface VinoView {
  readonly namespace: string;
  readonly name: string;
  readonly state: VinoState;
  /** How many machines it wants. */
  readonly wanted: number;
  /** How many of these are ready. */
  readonly ready: number;
  /** By role and index. */
  readonly machines: readonly VinoMachineView[];
  readonly conditions: readonly ConditionView[];
  readonly lastReconcile: ReconcileView | null;
}

/** A pool of hosts. */
interface CloudPoolView {
  readonly id: string;
  readonly name: string;
  /** Whether it answered in full. */
  readonly isComplete: boolean;
}

/** A host of the cloud. */
export interface CloudHostView {
  readonly id: string;
  readonly name: string;
  /** ID of its pool. */
  readonly poolId: string;
  /** Whether machines can start on it now. */
  readonly isEnabled: boolean;
}

/** A machine as the cloud shows it, of any Vino or of none. */
export interface CloudMachineView {
  readonly name: string;
  readonly id: string;
  readonly poolId: string;
  /** ID of the host where it runs, otherwise of the host for which it was made. */
  readonly hostId?: string;
  /** `running`, `stopped`, `paused`, `suspended`, `unknown`. */
  readonly power: string;
  /** Whether it was complete once. */
  readonly isComplete: boolean;
  /** `namespace/name` of its Vino. Absent: no Vino of this cluster has it. */
  readonly vino?: string;
}

/** The last inventory. */
export interface CloudView {
  readonly pools: readonly CloudPoolView[];
  readonly hosts: readonly CloudHostView[];
  readonly machines: readonly CloudMachineView[];
}

/** The Vinos of a process. Reads only memory. */
export interface VinoSource {
  /** In order of namespace and name. Each is described when it is read. */
  list(): Iterable<VinoView>;
  /** By `namespace/name`. */
  find(key: string): VinoView | undefined;
  readServing(): ServingView;
  /** What the last inventory shows; `undefined` before the first one. */
  readCloud(signal: AbortSignal): Promise<CloudView | undefined>;
  /** How full the address pools are. */
  listPools(): readonly PoolUsageView[];
}
