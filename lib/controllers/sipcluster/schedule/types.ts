/**
 * What the scheduler reads, and what it decides.
 * @module
 */

import type { Key } from "../../../kube/cache/store.ts";
import type { NodeSet, Role, Scheduling } from "../resource/sip_cluster.ts";

/** What a host is for, as the status of a SIPCluster records it. */
export interface Assigned {
  readonly cluster: Key;
  readonly role: Role;
  readonly standby: boolean;
}

/**
 * Why a host is taken after others.
 *
 * - `unready`: metal3 does not say that it can be installed now. Only of hosts that no cluster has
 * - `twin`: it has an address of a host that the cluster has or takes
 * - `missed`: another role of the cluster would miss it
 * - `reserved`: Cluster API keeps it for a machine that comes. It is given back last, too
 */
export const LATE = { unready: 1, twin: 2, missed: 3, reserved: 4 } as const;

/** A host, as the scheduler sees it. */
export interface HostFacts {
  /** `namespace/name`. */
  readonly key: Key;
  readonly labels: Readonly<Record<string, string>>;
  /** By the record of the cluster that has it. Labels are written from it, and never read for it. */
  readonly assigned?: Assigned;
  /**
   * Why it may not be taken, and if it is not in use, not be kept: short, the same for all hosts with it (`paused`).
   */
  readonly trouble?: string;
  /** Whether its trouble does not count yet: the cluster that has it keeps it for now. */
  readonly isForgiven?: boolean;
  /** Whether its labels may not be changed, so that the cluster that has it keeps it as it is: paused, or in doubt. */
  readonly isUntouchable?: boolean;
  /**
   * Whether it may be of others, although a cluster records it: it has no labels of the cluster, and something uses it
   * that this process never saw with them. No other host is given back or taken because of it.
   */
  readonly isDoubtful?: boolean;
  /** Whether it has a consumer, or is or was provisioned: then a cluster does not give it back. */
  readonly isInUse: boolean;
  /** Why it is taken after other hosts, one of {@linkcode LATE}: the higher, the later. Absent: for no reason. */
  readonly late?: number;
  /** State in which Cluster API can never use it, unless a Vino made it so. */
  readonly outside?: string;
}

/** What a decision needs. */
export interface ScheduleInput {
  readonly cluster: Key;
  readonly nodes: Readonly<Partial<Record<Role, NodeSet>>>;
  readonly scheduling?: Scheduling;
  /** All hosts of the cluster and all without a cluster. Hosts of other clusters are ignored. */
  readonly hosts: Iterable<HostFacts>;
}

/** A host and what it is for. */
export interface Assignment {
  readonly host: Key;
  readonly role: Role;
  readonly standby: boolean;
}

/** A host of the cluster that no role wants, and why. */
export interface Surplus {
  readonly host: Key;
  readonly role: Role;
  readonly standby: boolean;
  readonly why: string;
}

/** What a role has, and why it does not get what it wants. */
export interface RoleReport {
  readonly wanted: number;
  /** Hosts of the role that count: the cluster keeps them, and needs no replacement for them. */
  readonly have: number;
  /** Hosts that could not be found, the replacements of broken ones included. 0: the role has, or gets, all. */
  readonly missing: number;
  /** Hosts that could be taken, before anti-affinity. 0 if none was needed. */
  readonly eligible: number;
  /** How many hosts were refused, by the reason, the most frequent first. Empty if nothing is missing. */
  readonly rejected: ReadonlyMap<string, number>;
  /**
   * The reason by host, in the order of keys: of some hundreds at most, and of none that the selector does not match.
   */
  readonly refused: ReadonlyMap<Key, string>;
}

/** Hosts of the cluster with the same value of a topology key, by key. */
export interface Breach {
  readonly topologyKey: string;
  readonly value: string;
  readonly hosts: readonly Key[];
}

/** A decision. Lists are in the order of the keys of hosts. */
export interface Schedule {
  /**
   * Hosts that the cluster has and keeps, with what they are for from now on. `standby` may change; `role` may change
   * for a host that is not in use and that its role no longer needs.
   */
  readonly keep: readonly Assignment[];
  /** Empty if not every role gets all that it wants. */
  readonly add: readonly Assignment[];
  readonly giveBack: readonly Surplus[];
  /** Hosts too many that must stay: in use, or untouchable. They are in `keep`, too. */
  readonly blocked: readonly Surplus[];
  readonly reports: ReadonlyMap<Role, RoleReport>;
  /** Why the API server does not show the Secret of a host that the cluster could use. Absent: it lacks none. */
  readonly unreadable?: string;
  /** Whether every role has, or gets, all that it wants. */
  readonly isSatisfied: boolean;
  /** False if the search for hosts ended at its limit: then hosts are missing that another choice might have found. */
  readonly isProven: boolean;
  /** What to know about hosts that stay, in sentences without a full stop. Each names them. */
  readonly notes: readonly string[];
  /** They are reported, and the hosts are kept. */
  readonly breaches: readonly Breach[];
}
