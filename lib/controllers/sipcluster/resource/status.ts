/**
 * The next status of a SIPCluster.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { toKey } from "../../../kube/cache/store.ts";
import { toConditions } from "../../kinds/conditions.ts";
import type { ErrorTimes } from "../hosts/errors.ts";
import type { Assignment, Schedule } from "../schedule/types.ts";
import type { Machine } from "../services/types.ts";
import {
  type Finding,
  findUnsupported,
  listDeletingFindings,
  listFindings,
  listInvalidFindings,
  listRefusedFindings,
  type RefusedStep,
  type ServiceState,
} from "./conditions.ts";
import type { SpecProblem } from "../../kinds/problems.ts";
import {
  ADDRESSES_LISTED_MAX,
  type Endpoint,
  type HostStatus,
  type Role,
  type RoleCounts,
  ROLES,
  type SipCluster,
  type SipClusterStatus,
} from "./sip_cluster.ts";
import { CONDITION_WORDS } from "./words.ts";

/** What a reconcile came to. */
export type Outcome =
  | { readonly kind: "invalid"; readonly problems: readonly SpecProblem[] }
  | {
      readonly kind: "deleting";
      /** Why it cannot go on by itself, in a sentence without a full stop: hosts in use. */
      readonly obstacle?: string;
      /** Absent: it is not known, and the status keeps what it says. */
      readonly hosts?: readonly Assignment[];
      /** The services, which stay as long as hosts are in use. Absent: they are removed, or gone. */
      readonly served?: Pick<ServedOutcome, "machines" | "services" | "endpoints">;
    }
  | {
      readonly kind: "refused";
      readonly step: RefusedStep;
      /** Why, in a sentence without a full stop. */
      readonly message: string;
    }
  | ServedOutcome;

/** The outcome for a cluster with a right spec. */
export interface ServedOutcome {
  readonly kind: "served";
  readonly schedule: Schedule;
  /** Since when hosts are in error. */
  readonly errors: ErrorTimes;
  /** The hosts of the cluster, in the order of their keys. */
  readonly machines: readonly Machine[];
  readonly services: readonly ServiceState[];
  /** Hosts with the labels of the cluster that it did not take, each with why they stay. */
  readonly unknownClaims: readonly string[];
  /** With the ports that Kubernetes chose. A port that is 0 is not known yet, and left out. */
  readonly endpoints: readonly Endpoint[];
}

/** The parts of a status beside its conditions. */
type Facts = Pick<SipClusterStatus, "counts" | "endpoints" | "hosts">;

/**
 * Builds the next status.
 *
 * @param nowMs Wall-clock time. It counts only for conditions whose status changes
 * @returns All of it, for a merge patch; `undefined` if it would be the same as now, so that nothing is to be written
 */
export function planStatus(
  { metadata: { generation }, spec, status = {} }: SipCluster,
  outcome: Outcome,
  nowMs: number,
): SipClusterStatus | undefined {
  const findings: Finding[] = [...toFindings(outcome)];
  if (outcome.kind === "served" && spec) findings.push(findUnsupported(spec.services));
  const conditions = toConditions(findings, status.conditions ?? [], {
    nowMs,
    generation,
    order: Object.keys(CONDITION_WORDS),
  });
  const next: SipClusterStatus = {
    ...status,
    ...(generation !== undefined && { observedGeneration: generation }),
    conditions,
    ...(outcome.kind === "served" && toFacts(outcome, status)),
    ...(outcome.kind === "deleting" &&
      outcome.hosts &&
      toLastFacts(outcome.hosts, outcome.served, status)),
  };
  return isDeepStrictEqual(next, status) ? undefined : next;
}

function toFindings(outcome: Outcome): ReturnType<typeof listFindings> {
  switch (outcome.kind) {
    case "invalid":
      return listInvalidFindings(outcome.problems);
    case "deleting":
      return listDeletingFindings({
        have: countHosts(outcome.hosts ?? []),
        ...(outcome.obstacle !== undefined && { obstacle: outcome.obstacle }),
        ...(outcome.served && { services: outcome.served.services }),
      });
    case "refused":
      return listRefusedFindings(outcome.step, outcome.message);
    case "served":
      return listFindings({ ...outcome, have: countHosts(outcome.machines) });
  }
}

function countHosts(machines: readonly Pick<Assignment, "role">[]): ReadonlyMap<Role, number> {
  return new Map(ROLES.map((role) => [role, machines.filter((one) => one.role === role).length]));
}

function toFacts(
  { schedule, errors, machines, endpoints }: ServedOutcome,
  before: SipClusterStatus,
): Facts {
  const hosts = machines.map(toHost).map((host) => {
    const errorSince = errors.get(toKey({ metadata: host }));
    return errorSince === undefined ? host : { ...host, errorSince };
  });
  return {
    // Always both, because a merge patch without a key does not remove it.
    counts: {
      ControlPlane: toCounts("ControlPlane", machines, schedule),
      Worker: toCounts("Worker", machines, schedule),
    },
    ...toRecord(hosts, before),
    endpoints: endpoints.filter(({ nodePort }) => nodePort !== 0),
  };
}

/** What a cluster that is being deleted still has. It wants none. */
function toLastFacts(
  hosts: readonly Assignment[],
  served: Extract<Outcome, { kind: "deleting" }>["served"],
  before: SipClusterStatus,
): Facts {
  const keys = new Set(hosts.map(({ host }) => host));
  const toLastCounts = (role: Role): RoleCounts => {
    const ours = hosts.filter((one) => one.role === role);
    const standby = ours.filter((one) => one.standby).length;
    const summary = `${ours.length}/0`;
    return { wanted: 0, active: ours.length - standby, standby, summary };
  };
  const left =
    served?.machines.map(toHost) ??
    (before.hosts ?? []).filter((host) => keys.has(toKey({ metadata: host })));
  return {
    counts: { ControlPlane: toLastCounts("ControlPlane"), Worker: toLastCounts("Worker") },
    ...toRecord(left, before),
    endpoints: served?.endpoints.filter(({ nodePort }) => nodePort !== 0) ?? [],
  };
}

/** A cluster that never had a host has no record, and may still adopt hosts: after a restore, they may come later. */
function toRecord(
  hosts: readonly HostStatus[],
  before: SipClusterStatus,
): Pick<SipClusterStatus, "hosts"> {
  return hosts.length > 0 || before.hosts !== undefined ? { hosts } : {};
}

function toCounts(
  role: Role,
  machines: readonly Machine[],
  { reports, add }: Schedule,
): RoleCounts {
  const ours = machines.filter((one) => one.role === role);
  const standby = ours.filter((one) => one.standby).length;
  const active = ours.length - standby;
  const { wanted = 0, have = 0 } = reports.get(role) ?? {};
  // A broken host that keeps its labels until there is another one does not count.
  const usable = Math.min(ours.length, have + add.filter((one) => one.role === role).length);
  return { wanted, active, standby, summary: `${usable}/${wanted}` };
}

/** Addresses in the order of their networks, each once. */
function toHost(
  { uid, namespace, name, role, standby, addresses: all }: Machine,
  at: number,
): HostStatus {
  const addresses = at < ADDRESSES_LISTED_MAX ? all : [];
  const sorted = [...addresses].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const distinct = new Set(sorted.map(([, address]) => address));
  return {
    uid,
    namespace,
    name,
    role,
    standby,
    addresses: [...distinct],
    ...(sorted.length > 0 && { networks: Object.fromEntries(sorted) }),
  };
}
