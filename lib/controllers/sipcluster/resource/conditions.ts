/**
 * The conditions of a SIPCluster, from what was decided and done.
 * @module
 */
import {
  type Finding as AnyFinding,
  findUnsupported as findUnsupportedFields,
  toFinding,
} from "../../kinds/conditions.ts";
import { type SpecProblem, describeProblems, nameSome } from "../../kinds/problems.ts";
import { ROLES, type Role, type SipServices } from "./sip_cluster.ts";
import { CONDITION_WORDS, type ConditionType } from "./words.ts";
import type { RoleReport, Schedule, Surplus } from "../schedule/types.ts";

/** What a service is like. */
export interface ServiceState {
  /** `loadBalancerControlPlane`, `jumpHost[1]`. */
  readonly service: string;
  /** Whether it serves, as the spec asks. */
  readonly isReady: boolean;
  /** One word. Absent or `Progressing`: it will be ready by itself. If it is ready: what to know besides. */
  readonly reason?: string;
  /** A sentence without a full stop. Also of a service that is ready, but not with all Pods. */
  readonly message?: string;
}

/** A condition without its time. */
export type Finding = AnyFinding<ConditionType>;

/** What conditions of a cluster are built from that is not being deleted, and has a right spec. */
export interface ServedCluster {
  readonly schedule: Schedule;
  /** How many hosts the cluster has, by role. */
  readonly have: ReadonlyMap<Role, number>;
  readonly services: readonly ServiceState[];
  /** Hosts with the labels of the cluster that it did not take, each with why they stay. */
  readonly unknownClaims: readonly string[];
}

const { Ready, Scheduled, ServicesReady, ContractionBlocked, UnknownClaims } = CONDITION_WORDS;
/** Of a search that was not finished. */
const NOT_PROVEN = "The search for hosts ended at its limit: another choice might be possible";

/** The conditions of a cluster that is served. */
export function listFindings(cluster: ServedCluster): readonly Finding[] {
  const scheduled = findScheduled(cluster);
  const services = findServicesReady(cluster.services);
  const blocked = findContractionBlocked(cluster.schedule.blocked);
  const claims = findUnknownClaims(cluster.unknownClaims);
  return [findReady(scheduled, services), scheduled, services, blocked, claims];
}

/** What is worth knowing about the services of a right spec. */
export function findUnsupported(services: SipServices): Finding {
  return findUnsupportedFields(CONDITION_WORDS.UnsupportedFields, listUnsupportedFields(services));
}

/** The conditions that change if the spec cannot be used: what is there stays, and is not looked after. */
export function listInvalidFindings(problems: readonly SpecProblem[]): readonly Finding[] {
  const message = describeProblems(problems);
  return [
    toFinding("Ready", Ready.invalid, message),
    toFinding("Scheduled", Scheduled.invalid, message),
    toFinding("ServicesReady", ServicesReady.invalid, `Services stay as they are. ${message}`),
    toFinding("ContractionBlocked", ContractionBlocked.free, "Hosts stay as they are"),
  ];
}

/**
 * What was refused: by Kubernetes, to write labels of hosts, to read their network data, or to read what services need,
 * and the last because a right is missing (`rights`); by the operator, hosts of some namespaces.
 */
export type RefusedStep = "hostNamespaces" | "labels" | "networkData" | "rights" | "services";

/** The conditions that change if Kubernetes refuses what hosts or services need; the others stay. */
export function listRefusedFindings(step: RefusedStep, message: string): readonly Finding[] {
  if (step === "services" || step === "rights") {
    return [
      toFinding("Ready", Ready.services, message),
      toFinding(
        "ServicesReady",
        ServicesReady[step === "rights" ? "forbidden" : "refused"],
        message,
      ),
    ];
  }
  return [
    toFinding("Ready", Ready[step], message),
    toFinding("Scheduled", Scheduled[step], message),
  ];
}

/** What is known of a cluster that is being deleted. */
interface DeletingCluster {
  /** Why it cannot go on by itself, in a sentence without a full stop. Absent: it goes on. */
  readonly obstacle?: string;
  /** How many hosts the cluster still has, by role. */
  readonly have: ReadonlyMap<Role, number>;
  /** The services, which stay as long as hosts are in use. Absent: they are removed, or gone. */
  readonly services?: readonly ServiceState[];
}

/** The conditions of a cluster that is being deleted. */
export function listDeletingFindings(cluster: DeletingCluster): readonly Finding[] {
  const { obstacle, have, services } = cluster;
  const ends = "The cluster is being deleted";
  const counts = [...have].map(([role, count]) => `${role}: have ${count}`).join(". ");
  return [
    toFinding("Ready", obstacle === undefined ? Ready.waiting : Ready.inUse, obstacle ?? ends),
    toFinding("Scheduled", Scheduled.waiting, `${ends}, and takes no hosts. ${counts}`),
    services === undefined
      ? toFinding("ServicesReady", ServicesReady.waiting, `${ends}: its services go`)
      : findServicesReady(services),
    toFinding("ContractionBlocked", ContractionBlocked.free, ends),
  ];
}

/**
 * What a role lacks, such as `Worker: want 3, have 1, eligible 1; rejected: 4 same vino.airshipit.org/rack, 1 no static
 * address on network oam-ipv4`.
 */
export function describeShortfall(role: Role, report: RoleReport): string {
  const { wanted, have, eligible, rejected } = report;
  const reasons = [...rejected].map(([reason, count]) => `${count} ${reason}`).join(", ");
  const refused = reasons === "" ? "" : `; rejected: ${reasons}`;
  return `${role}: want ${wanted}, have ${have}, eligible ${eligible}${refused}`;
}

function findScheduled({ schedule, have }: ServedCluster): Finding {
  const reports = ROLES.flatMap((role) => {
    const report = schedule.reports.get(role);
    return report === undefined ? [] : [{ role, report }];
  });
  if (!schedule.isSatisfied) {
    const short = reports.filter(({ report }) => report.missing > 0);
    const lacks = short.map(({ role, report }) => describeShortfall(role, report));
    const { isProven, unreadable, notes } = schedule;
    const why = [...(isProven ? [] : [NOT_PROVEN]), ...(unreadable ? [unreadable] : [])];
    const word = unreadable ? Scheduled.networkData : Scheduled.unschedulable;
    return toFinding("Scheduled", word, [...lacks, ...why, ...notes].join(". "));
  }
  const counts = reports.map(({ role, report }) => {
    return { role, wanted: report.wanted, have: have.get(role) ?? 0 };
  });
  const message = [
    ...counts.map(({ role, wanted, have }) => `${role}: want ${wanted}, have ${have}`),
    ...schedule.notes,
  ].join(". ");
  if (counts.some(({ wanted, have }) => have < wanted))
    return toFinding("Scheduled", Scheduled.waiting, message);
  const close = schedule.breaches.map(
    ({ topologyKey, value, hosts }) => `${topologyKey}=${value} have ${nameSome(hosts)}`,
  );
  return close.length === 0
    ? toFinding("Scheduled", Scheduled.done, message || "The spec wants no hosts")
    : toFinding("Scheduled", Scheduled.tooClose, `${message}. The same ${nameSome(close)}`);
}

function findServicesReady(services: readonly ServiceState[]): Finding {
  const isWaiting = ({ reason = ServicesReady.waiting.reason }: ServiceState): boolean =>
    reason === ServicesReady.waiting.reason;
  const late = services.filter(({ isReady }) => !isReady);
  const message = services
    .filter(({ message }) => message !== undefined)
    .map(({ service, message }) => `${service}: ${message}`)
    .join(". ");
  if (late.length === 0) {
    const fallback = services.length === 0 ? "The spec has no services" : "All are available";
    const { reason } = services.find(({ reason }) => reason !== undefined) ?? ServicesReady.done;
    return {
      ...toFinding("ServicesReady", ServicesReady.done, message || fallback),
      ...(reason !== undefined && { reason }),
    };
  }
  const failed = late.find((one) => !isWaiting(one));
  return {
    ...toFinding("ServicesReady", ServicesReady.waiting, message || "Pods start"),
    ...(failed?.reason !== undefined && { reason: failed.reason }),
  };
}

function findContractionBlocked(blocked: readonly Surplus[]): Finding {
  if (blocked.length === 0) {
    return toFinding(
      "ContractionBlocked",
      ContractionBlocked.free,
      "No host waits to be given back",
    );
  }
  const hosts = nameSome(blocked.map(({ host, role, why }) => `${host} (${role}, ${why})`));
  const message = `Not wanted any more, but cannot be given back: ${hosts}`;
  return toFinding("ContractionBlocked", ContractionBlocked.inUse, message);
}

function findUnknownClaims(claims: readonly string[]): Finding {
  if (claims.length === 0) {
    const message = "No other host has the labels of the cluster";
    return toFinding("UnknownClaims", UnknownClaims.none, message);
  }
  const what = "have the labels of the cluster, and are not in status.hosts";
  const advice =
    "Landfall does not count them. If nothing of the cluster uses them, remove the labels";
  const message = `BareMetalHosts ${nameSome(claims)} ${what}. ${advice}`;
  return toFinding("UnknownClaims", UnknownClaims.labels, message);
}

function findReady(scheduled: Finding, services: Finding): Finding {
  if (scheduled.status !== "True") {
    const word = Object.values(Ready).find(({ reason }) => reason === scheduled.reason);
    return toFinding("Ready", word ?? Ready.waiting, scheduled.message);
  }
  if (services.status === "True")
    return toFinding("Ready", Ready.done, "All hosts and services are there");
  const isWaiting = services.reason === ServicesReady.waiting.reason;
  return toFinding("Ready", isWaiting ? Ready.waiting : Ready.services, services.message);
}

/**
 * Lists the fields of services that have no effect, in the order of the spec: `spec.services.auth[0].nodeInterfaceId`.
 *
 * @param services Right ones
 */
function listUnsupportedFields({ loadBalancerWorker = [], auth = [] }: SipServices): string[] {
  return [
    ...loadBalancerWorker.flatMap(({ nodePort, nodePortRange: { start, end } }, at) =>
      nodePort === undefined || (start <= nodePort && nodePort <= end)
        ? []
        : [`spec.services.loadBalancerWorker[${at}].nodePort`],
    ),
    ...auth.flatMap(({ nodeInterfaceId }, at) =>
      nodeInterfaceId === undefined ? [] : [`spec.services.auth[${at}].nodeInterfaceId`],
    ),
  ];
}
