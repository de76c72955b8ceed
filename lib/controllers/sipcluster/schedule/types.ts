/**
 * What the scheduler reads, and what it decides.
 * @module
 */

import type { Key } from "../../../kube/cache/store.ts";
import type { NodeSet, Role, Scheduling } from "../resource/sip_cluster.ts";

/** A host, as the scheduler sees it. */
export interface HostFacts {
  /** `namespace/name`. */
  readonly key: Key;
  readonly labels: Readonly<Record<string, string>>;
  /** By its labels: the cluster that has it. */
  readonly claim?: { readonly cluster: Key; readonly role: Role; readonly standby: boolean };
  /**
   * Why it may not be taken, and if it has no consumer, not be kept: short, the same for all hosts with it (`paused`).
   */
  readonly trouble?: string;
  /** Whether trouble may end by itself, so that a host that has it is kept: paused. */
  readonly isUntouchable?: boolean;
  /** Whether it has a consumer or is being provisioned: then it is not given back. */
  readonly isInUse: boolean;
}

/** What a decision needs. */
export interface ScheduleInput {
  readonly cluster: Key;
  readonly nodes: Readonly<Partial<Record<Role, NodeSet>>>;
  readonly scheduling?: Scheduling;
  /** All hosts of the cluster and all without a cluster. */
  readonly hosts: Iterable<HostFacts>;
}

/** A host and what it is for. */
export interface Assignment {
  readonly host: Key;
  readonly role: Role;
  readonly standby: boolean;
}

/** Why a role does not get what it wants. */
export interface RoleReport {
  readonly wanted: number;
  readonly have: number;
  /** Hosts that could be taken, before anti-affinity. */
  readonly eligible: number;
  /** How many hosts were refused, by the reason, the most frequent first. */
  readonly rejected: ReadonlyMap<string, number>;
}

/** A decision. Empty `add` and `giveBack`: nothing is to be written. */
export interface Schedule {
  /** Hosts that the cluster has and keeps, with what they are for from now on: `standby` may change. */
  readonly keep: readonly Assignment[];
  /** Empty if not every role gets all that it wants. */
  readonly add: readonly Assignment[];
  readonly giveBack: readonly (Assignment & { readonly why: string })[];
  /** Hosts too many that are in use. */
  readonly blocked: readonly Assignment[];
  readonly reports: ReadonlyMap<Role, RoleReport>;
  /** Whether every role has, or gets, all that it wants. */
  readonly isSatisfied: boolean;
  /** Hosts of the cluster with the same value of a topology key. They are kept. */
  readonly breaches: readonly {
    readonly topologyKey: string;
    readonly value: string;
    readonly hosts: readonly Key[];
  }[];
}
