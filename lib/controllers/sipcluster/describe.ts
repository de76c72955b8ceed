/**
 * Describes SIPClusters and BareMetalHosts for the debug pages. Pure.
 * @module
 */
import { describeConsumer } from "../kinds/problems.ts";
import {
  type LastReconcile,
  type ReconcileOutcome,
  toLastReconcile,
} from "../../engine/workers.ts";
import { type Key, toKey } from "../../kube/cache/store.ts";
import type { HostReport } from "../definition.ts";
import type { Condition } from "../kinds/conditions.ts";
import type { BareMetalHost } from "../../kube/kinds/bare_metal_host.ts";
import { findLabelled, toHostFacts } from "./hosts/facts.ts";
import { CONDITION_WORDS } from "./resource/words.ts";
import { type Endpoint, ROLES, type SipCluster } from "./resource/sip_cluster.ts";
import { listTopologyKeys } from "./schedule/domains.ts";
import type { Assigned, HostFacts, Schedule } from "./schedule/types.ts";

/** What the debug pages show about a SIPCluster. Times are ISO 8601. */
export interface SipClusterReport {
  readonly state: "ready" | "working" | "waiting" | "failing";
  readonly isLeaving?: true;
  readonly roles: readonly {
    readonly role: string;
    readonly wanted: number;
    readonly have: number;
    readonly eligible?: number;
    readonly rejected: readonly { readonly reason: string; readonly hosts: number }[];
    readonly refused: readonly { readonly host: Key; readonly reason: string }[];
  }[];
  readonly conditions: readonly Pick<Condition, "type" | "status" | "reason" | "message">[];
  /** What people should know of it also if it is ready: hosts too many, or too close to each other. */
  readonly notes: readonly string[];
  readonly breaches: Schedule["breaches"];
  readonly endpoints: readonly Endpoint[];
  readonly topologyKeys: readonly string[];
  readonly lastReconcile: LastReconcile | null;
}

/** What is known about a SIPCluster besides itself. */
interface SipClusterFacts {
  /** The hosts that it has. */
  readonly hosts: Iterable<HostFacts>;
  /** The last decision. Absent: none, or not with this spec. */
  readonly schedule: Schedule | undefined;
  readonly outcome: ReconcileOutcome | undefined;
}

/** Describes a SIPCluster. */
export function describeCluster(
  cluster: SipCluster,
  { hosts, schedule, outcome }: SipClusterFacts,
): SipClusterReport {
  const { conditions = [], endpoints = [] } = cluster.status ?? {};
  const byRole = Map.groupBy(hosts, ({ assigned }) => assigned?.role);
  return {
    state: judge(cluster, outcome),
    ...(cluster.metadata.deletionTimestamp !== undefined && { isLeaving: true }),
    roles: ROLES.flatMap((role) => {
      const { count } = cluster.spec?.nodes?.[role] ?? {};
      const wanted = (count?.active ?? 0) + (count?.standby ?? 0);
      const have = byRole.get(role)?.length ?? 0;
      if (wanted === 0 && have === 0) return [];
      const report = schedule?.reports.get(role);
      const rejected = [...(report?.rejected ?? [])].map(([reason, of]) => ({ reason, hosts: of }));
      const refused = [...(report?.refused ?? [])].map(([host, reason]) => ({ host, reason }));
      // Nothing is missing: then no host was looked for.
      const eligible = report && report.missing > 0 && { eligible: report.eligible };
      return [{ role, wanted, have, ...eligible, rejected, refused }];
    }),
    conditions: conditions.map(({ type, status, reason, message }) => ({
      type,
      status,
      reason,
      message,
    })),
    notes: listNotes(conditions, schedule),
    breaches: schedule?.breaches ?? [],
    endpoints,
    topologyKeys: listKeys([cluster]),
    lastReconcile: toLastReconcile(outcome),
  };
}

/** What conditions say that do not make a cluster less ready. */
function listNotes(conditions: readonly Condition[], schedule: Schedule | undefined): string[] {
  const { Scheduled, ServicesReady, ContractionBlocked, UnknownClaims } = CONDITION_WORDS;
  const { inUse } = ContractionBlocked;
  const { lastKnownAddresses, addressConflict } = ServicesReady;
  const ofHosts = [Scheduled.tooClose, inUse, UnknownClaims.labels];
  const words = [...ofHosts, lastKnownAddresses, addressConflict];
  const isNoted = (schedule?.notes.length ?? 0) > 0;
  return conditions
    .filter(
      ({ type, reason, status }) =>
        words.some((word) => word.reason === reason && word.status === status) ||
        (type === "Scheduled" && isNoted),
    )
    .map(({ message }) => message);
}

/** The labels by which clusters spread their hosts, in the order of their names. */
export function listKeys(clusters: Iterable<SipCluster>): readonly string[] {
  const keys = new Set<string>();
  for (const { spec } of clusters) {
    for (const role of ROLES)
      for (const key of listTopologyKeys(spec?.nodes?.[role])) keys.add(key);
  }
  return [...keys].toSorted();
}

/** What is known beside a host. */
export interface HostSurroundings {
  /** Labels by which clusters spread their hosts. */
  readonly keys: readonly string[];
  /** What a host is for. */
  findAssigned(key: Key): Assigned | undefined;
  /** Whether a SIPCluster exists. */
  hasCluster(key: Key): boolean;
}

/** Describes a host. */
export function describeHost(
  host: BareMetalHost,
  { keys, findAssigned, hasCluster }: HostSurroundings,
): HostReport {
  const { labels = {} } = host.metadata;
  const assigned = findAssigned(toKey(host));
  const facts = toHostFacts(host, assigned);
  const labelled = findLabelled(labels);
  const isOrphan = assigned === undefined && labelled !== undefined && !hasCluster(labelled);
  const trouble = isOrphan ? "no such SIPCluster: remove its labels" : facts.trouble;
  const { consumerRef } = host.spec ?? {};
  const places = keys.flatMap((key) => {
    const value = labels[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  return {
    key: toKey(host),
    places: Object.fromEntries(places),
    state: host.status?.provisioning?.state ?? "",
    ...(trouble !== undefined && { trouble }),
    ...(isOrphan && { cluster: labelled }),
    ...assigned,
    ...(consumerRef && { consumer: describeConsumer(consumerRef) }),
  };
}

function judge(
  { metadata, status }: SipCluster,
  outcome: ReconcileOutcome | undefined,
): SipClusterReport["state"] {
  if (outcome?.error !== undefined) return "failing";
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const isOld = ready === undefined || status?.observedGeneration !== metadata.generation;
  if (isOld || (ready.status !== "True" && ready.reason === "Progressing")) return "working";
  if (ready.status === "True") return "ready";
  return WAITING.has(ready.reason) ? "waiting" : "failing";
}

/** Reasons that end without a change of the cluster: when there are more hosts, or theirs are not used any more. */
const WAITING: ReadonlySet<string | undefined> = new Set([
  CONDITION_WORDS.Ready.unschedulable.reason,
  CONDITION_WORDS.Ready.inUse.reason,
]);
