/**
 * Brings the labels of hosts to what a decision says.
 * @module
 */
import { nameSome } from "../kinds/problems.ts";
import { type ClaimResult, type HostClaims, findKeeper } from "./hosts/claims.ts";
import { isLabelledAs } from "./hosts/facts.ts";
import type { HostIndex } from "./hosts/host_index.ts";
import type { SipCluster } from "./resource/sip_cluster.ts";
import type { Assignment, Schedule } from "./schedule/types.ts";
import type { SipClusterMetrics } from "./state.ts";
import { EVENT_WORDS, FORCE_RELEASE } from "./words.ts";
import type { Logger } from "../../core/log.ts";
import { type Key, toKey } from "../../kube/cache/store.ts";
import type { EventRecorder } from "../../kube/events/events.ts";
import { toEvent } from "../../kube/events/words.ts";
import { isRefusal } from "../../kube/api/errors.ts";
import { type BareMetalHost, PAUSED } from "../../kube/kinds/bare_metal_host.ts";

/** What {@linkcode applySchedule} needs. */
export interface MembershipOptions {
  readonly index: Pick<HostIndex, "find" | "findFacts">;
  readonly claims: Pick<HostClaims, "assign" | "giveBack" | "take">;
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly metrics: SipClusterMetrics;
}

/** Other programs change hosts faster than Landfall can decide. The next try is later. */
export class OvertakenError extends Error {
  override readonly name = "OvertakenError";
  constructor() {
    super("Other programs take or change BareMetalHosts at the same time");
  }
}

/** Whether hosts do not have the labels of a decision. Pure. */
export function changesLabels(
  { keep, add, giveBack }: Schedule,
  index: MembershipOptions["index"],
): boolean {
  const isOutdated = (one: Assignment): boolean => !isAsWanted(one, index);
  return add.length > 0 || giveBack.length > 0 || keep.some(isOutdated);
}

/**
 * Writes the labels of a decision, which the status of the cluster records already: first those of hosts that stay,
 * then those of new hosts, then those that the cluster gives back. A satisfied cluster writes nothing.
 *
 * @param cluster As it was before the decision was recorded
 * @returns Whether another program was quicker with a host: then decide again. And hosts that had to stay as they were
 * @throws {KubeError} if Kubernetes refuses; what was written stays, and the next decision goes on from there
 */
export async function applySchedule(
  cluster: SipCluster,
  choice: Pick<Schedule, "add" | "giveBack" | "keep">,
  options: MembershipOptions,
  signal: AbortSignal,
): Promise<{ readonly isOvertaken: boolean; readonly unmoved: ReadonlySet<Key> }> {
  const { claims, index, metrics, events } = options;
  const mayBeInUse = cluster.spec?.scheduling?.releaseConsumedHosts === true;
  const before = new Map(
    cluster.status?.hosts?.map((metadata) => [toKey({ metadata }), metadata.role]),
  );
  let isOvertaken = false;
  const unmoved = new Set<Key>();
  for (const assignment of choice.keep) {
    const host = index.find(assignment.host);
    if (host === undefined || isAsWanted(assignment, index)) continue;
    const isMoved = before.get(assignment.host) !== assignment.role;
    const result = await claims.assign(host, { ...assignment, isMoved }, signal);
    if (result.kind === "lost") isOvertaken = true;
    if (result.kind === "kept") unmoved.add(assignment.host);
    if (result.kind === "done") noteTaken(cluster, assignment, options);
  }
  for (const assignment of choice.add) {
    const host = index.find(assignment.host);
    const result: ClaimResult = host
      ? await claims.take(host, assignment, signal)
      : { kind: "gone" };
    if (result.kind === "done") {
      metrics.countHost("taken");
      noteTaken(cluster, assignment, options);
      continue;
    }
    isOvertaken = true;
    metrics.countHost("lost");
    const why = "why" in result ? result.why : "deleted";
    const message = `BareMetalHost ${assignment.host} cannot be taken any more: ${why}`;
    events.record(cluster, toEvent(EVENT_WORDS.hostLost, message));
  }
  // A broken host is given back for its replacement: not before all replacements are there.
  if (isOvertaken) return { isOvertaken, unmoved };
  for (const { host: key, why } of choice.giveBack) {
    const host = index.find(key);
    if (host === undefined) continue;
    const result = await claims.giveBack(host, mayBeInUse ? "paused" : "inUse", signal);
    if (result.kind !== "done") {
      isOvertaken = true;
      continue;
    }
    noteReleased(cluster, { key, why }, options);
  }
  return { isOvertaken, unmoved };
}

/** The hosts that have the labels of a cluster that is being deleted. */
export interface Leaving {
  /** Those that its status records or names. */
  readonly own: readonly BareMetalHost[];
  /** The others. They never stop the deletion because Kubernetes refuses to change them. */
  readonly claimants: readonly BareMetalHost[];
  /** Whether hosts in use lose the labels, too. */
  readonly isForced: boolean;
}

/**
 * Removes the labels of a cluster that is being deleted from hosts.
 *
 * @returns The hosts that keep them, with the reasons, and whether another program was quicker with a host: then try
 * again, because no change of that host may follow
 * @throws {KubeError} if Kubernetes refuses
 */
export async function releaseAll(
  cluster: SipCluster,
  { own, claimants, isForced }: Leaving,
  options: MembershipOptions,
  signal: AbortSignal,
): Promise<{ readonly kept: readonly string[]; readonly isOvertaken: boolean }> {
  const { claims } = options;
  const kept: string[] = [];
  let isOvertaken = false;
  for (const host of [...own, ...claimants]) {
    const key = toKey(host);
    let result: ClaimResult;
    try {
      result = await claims.giveBack(host, isForced ? "none" : "occupied", signal);
    } catch (error) {
      if (own.includes(host) || !isRefusal(error)) throw error;
      options.log.warn("Host keeps labels", { sipcluster: toKey(cluster), host: key, error });
      continue;
    }
    if (result.kind === "kept") kept.push(`${key} (${result.why})`);
    if (result.kind === "lost") isOvertaken = true;
    if (result.kind === "done") {
      noteReleased(cluster, { key, why: "the cluster is being deleted" }, options);
    }
  }
  return { kept, isOvertaken };
}

/** The hosts of a cluster that stop its deletion, with the reasons, in the order of their keys. */
export function listHolds(hosts: Iterable<BareMetalHost>): readonly string[] {
  const holds = Array.from(hosts, (host) => ({
    key: toKey(host),
    why: findKeeper(host, "occupied"),
  }));
  return holds
    .filter(({ why }) => why !== undefined)
    .map(({ key, why }) => `${key} (${why})`)
    .toSorted();
}

/**
 * Says which hosts of a cluster that is being deleted keep their labels, and what to do.
 *
 * @param kept What {@linkcode releaseAll} says
 * @param force The value of the annotation that releases hosts in use
 * @returns Sentences, without the last full stop
 */
export function describeKept(kept: readonly string[], force: string | undefined): string {
  const hosts = `The cluster cannot release hosts yet: ${nameSome(kept)}`;
  const unpause = `Remove the annotation ${PAUSED} from hosts that are paused`;
  if (force === "true") return `${hosts}. ${unpause}`;
  const advice =
    `${hosts}. Delete what uses hosts in use, or set the annotation ${FORCE_RELEASE}=true on this SIPCluster ` +
    `to release them anyway. ${unpause}`;
  if (force === undefined) return advice;
  return `${advice}. The annotation ${FORCE_RELEASE} has another value than "true", so it has no effect`;
}

/** Whether a host has the labels of an assignment, is gone, or must stay as it is. */
function isAsWanted(
  { host, role, standby }: Assignment,
  index: MembershipOptions["index"],
): boolean {
  const facts = index.findFacts(host);
  if (facts === undefined || facts.isUntouchable === true) return true;
  const { assigned, labels } = facts;
  return assigned !== undefined && isLabelledAs(labels, { ...assigned, role, standby });
}

function noteTaken(
  cluster: SipCluster,
  { host, role, standby }: Assignment,
  { events, log }: Pick<MembershipOptions, "events" | "log">,
): void {
  const message = `BareMetalHost ${host} is ${standby ? "a standby " : ""}${role} of the cluster`;
  events.record(cluster, toEvent(EVENT_WORDS.hostTaken, message));
  log.info("Host taken", { sipcluster: toKey(cluster), host, role, standby });
}

function noteReleased(
  cluster: SipCluster,
  { key: host, why }: { readonly key: Key; readonly why: string },
  { events, log, metrics }: MembershipOptions,
): void {
  metrics.countHost("released");
  const message = `BareMetalHost ${host} does not belong to the cluster any more: ${why}`;
  events.record(cluster, toEvent(EVENT_WORDS.hostReleased, message));
  log.info("Host released", { sipcluster: toKey(cluster), host, why });
}
