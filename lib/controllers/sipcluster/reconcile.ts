/**
 * Reconciles SIPClusters: chooses hosts, records them in the status, labels them, and makes the services for them.
 * @module
 */
import type { ObjectWriter } from "../kinds/object_writer.ts";
import { type SpecProblem, describeCause, describeProblems, nameSome } from "../kinds/problems.ts";
import { type Choice, HostChooser, toWants } from "./choose.ts";
import type { AddressReader } from "./hosts/address_reader.ts";
import { HostClaims } from "./hosts/claims.ts";
import { findNextErrorMs, listErrorTimes } from "./hosts/errors.ts";
import type { HostIndex } from "./hosts/host_index.ts";
import type { MissedHosts } from "./hosts/missed_hosts.ts";
import {
  type AllowsHost,
  type Loss,
  allowNamed,
  listLost,
  planAdoption,
  planRecord,
  settleRecord,
} from "./hosts/record.ts";
import {
  type Leaving,
  type MembershipOptions,
  OvertakenError,
  applySchedule,
  changesLabels,
  describeKept,
  listHolds,
  releaseAll,
} from "./membership.ts";
import { checkCluster } from "./resource/check_spec.ts";
import { type RefusedStep, describeShortfall } from "./resource/conditions.ts";
import type { HostStatus, SipCluster, SipClusterSpec } from "./resource/sip_cluster.ts";
import { type Outcome, planStatus } from "./resource/status.ts";
import { byKey } from "./schedule/own_hosts.ts";
import { IN_DOUBT } from "./schedule/schedule.ts";
import type { Assignment, HostFacts, Schedule } from "./schedule/types.ts";
import type { ClusterServices, Served } from "./services/cluster_services.ts";
import { type SipClusterMetrics, type SipClusterState, judgeState, listWarnings } from "./state.ts";
import { CLUSTER_NAME, CLUSTER_NAMESPACE, EVENT_WORDS, FINALIZER, FORCE_RELEASE } from "./words.ts";
import { type Clock, formatTime } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import type { Convergence, PassResult, Plan, Planned, Step } from "../../engine/converge.ts";
import type { ReconcileResult } from "../../engine/workers.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { KubeError, isKubeError, isRefusal } from "../../kube/api/errors.ts";
import { type Key, type StoreReader, toKey } from "../../kube/cache/store.ts";
import { listAll } from "../../kube/cache/watcher.ts";
import type { EventRecorder } from "../../kube/events/events.ts";
import { toEvent } from "../../kube/events/words.ts";
import { BARE_METAL_HOSTS, type BareMetalHost } from "../../kube/kinds/bare_metal_host.ts";
import { findDamage, trimObject } from "../../kube/kinds/resource.ts";

/** What a {@linkcode ClusterConvergence} needs. */
interface ClusterConvergenceOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly metrics: SipClusterMetrics;
  readonly clusters: Pick<StoreReader<SipCluster>, "get">;
  readonly index: HostIndex;
  readonly addresses: AddressReader;
  readonly missedHosts: Pick<MissedHosts, "note">;
  readonly services: Pick<ClusterServices, "listMachines" | "serve" | "answerRequests" | "remove">;
  readonly writer: ObjectWriter<SipCluster>;
  readonly allows: AllowsHost;
  /** Hosts with the labels of a cluster that it did not take, and that an Event reported. */
  readonly claimed: Map<Key, ReadonlySet<Key>>;
  /** Clusters that never had a host when this process saw them first, and have not got all since: they adopt more. */
  readonly adopting: Set<Key>;
  /** How often in a row a cluster could not be reconciled. */
  readonly failures: Map<Key, number>;
  /** How long an error of a host must last, in milliseconds. */
  readonly errorGraceMs: number;
  /** Of each cluster. */
  readonly last: Map<Key, LastDecision>;
}

/** What the last reconcile of a cluster came to, for the debug pages. */
export interface LastDecision {
  readonly state: SipClusterState;
  /** Absent if the spec is invalid or the cluster is being deleted. */
  readonly schedule?: Schedule;
}

const NOT_ALLOWED = "its namespace is not allowed";
/** A tenant may label thousands. */
const CLAIM_EVENTS_MAX = 20;
const OLD_CRD =
  "The CustomResourceDefinition of SIPClusters is older than Landfall, and the API server drops the record of hosts. " +
  "Apply deploy/manifests/sipcluster/crd.yaml of this version";
const UNLABELLED =
  "does not have the labels of the cluster any more: a person or another program removed or changed them";
const LOSSES: Readonly<Record<Loss["kind"], string>> = {
  doubtful: `does not have the labels of the cluster, and is in use. ${IN_DOUBT}`,
  gone: "was deleted. The cluster does not have it any more",
  paused: `${UNLABELLED}. Landfall writes them again when the host is not paused any more`,
  unlabelled: `${UNLABELLED}. Landfall writes them again`,
};
/** Failures in a row after which the status says why: others end by themselves. */
const FAILURES_TOLD = 3;
const ADVICE =
  "Landfall tries again. If this lasts, look at the API server, and at the webhook that the message names";
/** How often a decision is made again at once, because another program was quicker with a host. */
const DECISIONS_MAX = 5;
/** Finalizer of `kubectl delete --cascade=foreground`: Kubernetes deletes the services itself. */
const FOREGROUND = "foregroundDeletion";
/** How often Landfall asks whether services are gone that are not watched. */
const REMOVAL_CHECK_MS = 2_000;
/** Services that are gone only after this are named in the status: something may hold them. */
const REMOVAL_MS_MAX = 60_000;

/** What to do for a cluster. `adopt`: it must get the finalizer before anything has its labels. */
type Task =
  | { readonly kind: "adopt" | "release"; readonly cluster: SipCluster }
  | {
      readonly kind: "invalid";
      readonly cluster: SipCluster;
      readonly problems: readonly SpecProblem[];
    }
  | ServeTask;

/** A cluster that must have hosts and services. */
interface ServeTask {
  readonly kind: "serve";
  readonly cluster: SipCluster;
  readonly spec: SipClusterSpec;
}

/** A decision about hosts; absent for a cluster that is being deleted. */
type Decision = Choice | undefined;

/** The work on one SIPCluster. */
export class ClusterConvergence implements Convergence<Task, Decision> {
  readonly #key: Key;
  readonly #options: ClusterConvergenceOptions;
  /** What Kubernetes may refuse now. */
  #stage: RefusedStep = "labels";
  /** Whether lost hosts were reported. */
  #isTold = false;
  #overtaken = 0;
  /** The decision whose labels were written, and for which cluster. */
  #labelled: { readonly task: Task; readonly decision: Decision } | undefined;

  constructor(key: Key, options: ClusterConvergenceOptions) {
    this.#key = key;
    this.#options = options;
  }

  find(): Task | undefined {
    const cluster = this.#options.clusters.get(this.#key);
    return cluster && toTask(cluster);
  }

  async prepare(task: Task, signal: AbortSignal): Promise<PassResult | undefined> {
    const { writer, last } = this.#options;
    const { cluster } = task;
    if (task.kind === "adopt") {
      // Before the first label: without it, a deletion would leave labels.
      const finalizers = [...(cluster.metadata.finalizers ?? []), FINALIZER];
      await writer.setFinalizers(cluster, finalizers, signal);
      return "again";
    }
    const ended = await this.#adoptHosts(task, signal);
    if (ended !== undefined || task.kind !== "invalid") return ended;
    const { problems } = task;
    last.set(this.#key, { state: "failing" });
    writer.warn(cluster, EVENT_WORDS.invalidSpec, describeProblems(problems));
    await this.#write(cluster, { kind: "invalid", problems }, signal);
    return {};
  }

  async observe(task: Task, signal: AbortSignal): Promise<Decision> {
    if (task.kind !== "serve") return undefined;
    if (this.#labelled && this.isSame(this.#labelled.task, task)) return this.#labelled.decision;
    this.#tellLost(task.cluster);
    this.#stage = "networkData";
    return await new HostChooser(this.#options).choose(task.cluster, task.spec, signal);
  }

  isSame(before: Task, after: Task): boolean {
    const { generation } = before.cluster.metadata;
    return before.kind === after.kind && generation === after.cluster.metadata.generation;
  }

  /** A decision is all or nothing, so its labels are one step. */
  plan(_task: Task, decision: Decision): Plan<Step> {
    const isLabelled =
      decision === undefined ||
      decision === this.#labelled?.decision ||
      !changesLabels(decision.schedule, this.#options.index);
    const summary = `label hosts by decision ${this.#overtaken + 1}`;
    return { steps: isLabelled ? [] : [{ summary }] };
  }

  async apply(
    _step: Step,
    { task, observation: decision }: Planned<Task, Decision, Plan<Step>>,
    signal: AbortSignal,
  ): Promise<void> {
    if (decision === undefined) return;
    const { cluster } = task;
    const { schedule } = decision;
    this.#stage = "labels";
    await this.#record(cluster, schedule, signal);
    const membership = this.#toMembership();
    const { isOvertaken, unmoved } = await applySchedule(cluster, schedule, membership, signal);
    await this.#keepRoles(cluster, unmoved, signal);
    if (!isOvertaken) {
      this.#labelled = { task, decision };
      return;
    }
    this.#overtaken += 1;
    // The watch brings what the others did.
    if (this.#overtaken === DECISIONS_MAX) throw new OvertakenError();
  }

  async report(
    { task, observation }: Planned<Task, Decision, Plan<Step>>,
    signal: AbortSignal,
  ): Promise<PassResult> {
    const isServed = task.kind === "serve" && observation !== undefined;
    const result = isServed
      ? await this.#serve(task, observation, signal)
      : await this.#release(task.cluster, signal);
    this.#options.failures.delete(this.#key);
    return result;
  }

  /**
   * Says in the status what fails, before the back-off: a refusal at once, other errors if they last. Some of these
   * have another text each time, so not each is written.
   */
  async fail(error: unknown, task: Task | undefined, signal: AbortSignal): Promise<undefined> {
    const { failures, last } = this.#options;
    const count = (failures.get(this.#key) ?? 0) + 1;
    failures.set(this.#key, count);
    const isRefused = isRefusal(error);
    if (task === undefined || !(isRefused || count % FAILURES_TOLD === 0)) return undefined;
    const message = isRefused ? describeCause(error) : `${describeCause(error)}. ${ADVICE}`;
    last.set(this.#key, { state: "failing" });
    const cluster = this.#findNewest(task.cluster);
    const isForbidden = this.#stage === "services" && isKubeError(error, "forbidden");
    const step = isForbidden ? "rights" : this.#stage;
    try {
      if (task.kind === "release")
        await this.#writeDeleting(cluster, { obstacle: message }, signal);
      else await this.#write(cluster, { kind: "refused", step, message }, signal);
    } catch (second) {
      // An API server that serves nothing takes no status. The first error counts.
      if (!(second instanceof KubeError)) throw second;
    }
    return undefined;
  }

  async #serve(
    { cluster, spec }: ServeTask,
    { schedule, missed }: Choice,
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    const { adopting, clock, errorGraceMs: graceMs, index, writer, last } = this.#options;
    const wants = toWants(spec, schedule);
    if (schedule.isSatisfied) {
      index.stopWaiting(this.#key);
      adopting.delete(this.#key);
    } else index.wait(this.#key, wants);
    this.#recordEvents(cluster, schedule);
    const served = await this.#makeServices(cluster, spec, signal);
    last.set(this.#key, { state: judgeState(schedule, served.services), schedule });
    for (const { word, message } of listWarnings(served.services))
      writer.warn(cluster, word, message);
    const unknownClaims = await this.#refuseClaims(signal);
    const nowMs = clock.now();
    const errors = listErrorTimes(index.listOf(this.#key), cluster.status?.hosts, nowMs);
    const outcome = { kind: "served", schedule, unknownClaims, errors, ...served } as const;
    await this.#write(cluster, outcome, signal);
    const wanted = missed.filter((key) => {
      const facts = schedule.isSatisfied ? undefined : index.findFacts(key);
      return facts && wants(facts);
    });
    const againMs = Math.min(served.againMs, findNextErrorMs(errors, { nowMs, graceMs }));
    return await this.#answerRequests(cluster, { ...served, againMs }, wanted, signal);
  }

  async #makeServices(
    cluster: SipCluster,
    spec: SipClusterSpec,
    signal: AbortSignal,
  ): Promise<Served> {
    const { services } = this.#options;
    this.#stage = "networkData";
    const hosts = await services.listMachines(cluster, spec, signal);
    this.#stage = "services";
    return await services.serve(cluster, spec, hosts, signal);
  }

  /** Does what users of jump hosts ask for. @param missed Hosts that it needs, and whose network data refuses them */
  async #answerRequests(
    cluster: SipCluster,
    { troubled, againMs }: Served,
    missed: readonly Key[],
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    const { addresses, missedHosts, services, events } = this.#options;
    const { outcomes, recheckMs = Infinity } = await services.answerRequests(cluster, signal);
    for (const { host, isDone, message } of outcomes) {
      const word = isDone ? EVENT_WORDS.rebootRequested : EVENT_WORDS.rebootRefused;
      events.record(cluster, toEvent(word, `BareMetalHost ${host}: ${message}`));
    }
    missedHosts.note(this.#key, [...missed, ...troubled]);
    return { requeueAfterMs: Math.min(againMs, recheckMs, addresses.toPauseMs()) };
  }

  /**
   * Removes services, then labels, then the finalizer. While hosts are in use it takes nothing down, because a tenant
   * works with them: the deletion may be a mistake.
   */
  async #release(cluster: SipCluster, signal: AbortSignal): Promise<ReconcileResult> {
    const { index, last, services, writer } = this.#options;
    index.stopWaiting(this.#key);
    last.set(this.#key, { state: "deleting" });
    const force = cluster.metadata.annotations?.[FORCE_RELEASE];
    const isForced = force === "true";
    const { own, claimants } = this.#listLeaving();
    const holds = isForced ? [] : await this.#findHolds([...own, ...claimants], signal);
    if (holds.length > 0) return await this.#keep(cluster, describeKept(holds, force), signal);
    const left = await services.remove(cluster, signal);
    if (left.length > 0) return await this.#waitForServices(cluster, left, signal);
    await this.#record(cluster, "release", signal);
    const membership = this.#toMembership();
    const { kept, isOvertaken } = await releaseAll(
      cluster,
      { own, claimants, isForced },
      membership,
      signal,
    );
    if (isOvertaken) throw new OvertakenError();
    if (kept.length > 0) {
      // They are in use since a moment ago. The next reconcile makes their services again.
      const obstacle = describeKept(kept, force);
      writer.warn(cluster, EVENT_WORDS.releaseBlocked, obstacle);
      await this.#writeDeleting(this.#findNewest(cluster), { obstacle }, signal);
      return {};
    }
    const newest = this.#findNewest(cluster);
    const others = newest.metadata.finalizers?.filter((one) => one !== FINALIZER) ?? [];
    await writer.setFinalizers(newest, others, signal);
    return {};
  }

  /**
   * The hosts of the cluster, and those of allowed namespaces with its labels: what uses one of these may be its work,
   * too.
   */
  #listLeaving(): Pick<Leaving, "own" | "claimants"> {
    const { allows, index } = this.#options;
    const find = (hosts: Iterable<HostFacts>): readonly BareMetalHost[] =>
      [...hosts].toSorted(byKey).flatMap(({ key }) => index.find(key) ?? []);
    const labelled = find(index.listClaimants(this.#key));
    return {
      own: find(index.listOf(this.#key)),
      claimants: labelled.filter((host) => allows(this.#key, toKey(host))),
    };
  }

  /** Which of these hosts stop the deletion. Only if the watch shows none, the API server is asked, too. */
  async #findHolds(
    hosts: readonly BareMetalHost[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const holds = listHolds(hosts);
    if (holds.length > 0) return holds;
    const known = new Set(hosts.map(({ metadata }) => metadata.uid));
    const labelled = await listHostsOf(this.#key, this.#options.client, signal);
    return listHolds(labelled.filter(({ metadata }) => known.has(metadata.uid)));
  }

  /** Keeps what hosts in use need, and says which they are. */
  async #keep(
    cluster: SipCluster,
    obstacle: string,
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    this.#options.writer.warn(cluster, EVENT_WORDS.releaseBlocked, obstacle);
    const checked = checkCluster(cluster);
    if (!checked.isValid || cluster.metadata.finalizers?.includes(FOREGROUND)) {
      await this.#writeDeleting(cluster, { obstacle }, signal);
      return {};
    }
    const stays = { keep: this.#listAssignments(), add: [], giveBack: [] };
    await applySchedule(cluster, stays, this.#toMembership(), signal);
    const served = await this.#makeServices(cluster, checked.spec, signal);
    const result = await this.#answerRequests(cluster, served, [], signal);
    await this.#writeDeleting(cluster, { obstacle, served }, signal);
    return result;
  }

  async #waitForServices(
    cluster: SipCluster,
    left: readonly string[],
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    const { deletionTimestamp = "" } = cluster.metadata;
    const sinceMs = this.#options.clock.now() - Date.parse(deletionTimestamp);
    const obstacle = `Landfall waits until these are gone: ${left.join(", ")}`;
    await this.#writeDeleting(cluster, sinceMs > REMOVAL_MS_MAX ? { obstacle } : {}, signal);
    return { requeueAfterMs: REMOVAL_CHECK_MS };
  }

  /** Says what a cluster still has that is being deleted. */
  async #writeDeleting(
    cluster: SipCluster,
    more: Pick<Extract<Outcome, { kind: "deleting" }>, "obstacle" | "served">,
    signal: AbortSignal,
  ): Promise<void> {
    const hosts = this.#listAssignments();
    await this.#write(cluster, { kind: "deleting", hosts, ...more }, signal);
  }

  /** The hosts of the cluster, and what they are for. */
  #listAssignments(): readonly Assignment[] {
    return [...this.#options.index.listOf(this.#key)].flatMap(({ key: host, assigned }) =>
      assigned ? { host, role: assigned.role, standby: assigned.standby } : [],
    );
  }

  async #write(cluster: SipCluster, outcome: Outcome, signal: AbortSignal): Promise<void> {
    const { clock, writer } = this.#options;
    const status = planStatus(cluster, outcome, clock.now());
    await writer.writeStatus(cluster, status, EVENT_WORDS.ready, signal);
  }

  /**
   * Adopts hosts of a cluster whose status has no record of them, so that they count.
   *
   * @returns What ends this pass
   */
  async #adoptHosts({ kind, cluster }: Task, signal: AbortSignal): Promise<PassResult | undefined> {
    const { adopting, events, index, last, writer } = this.#options;
    const settled = this.#isTold ? undefined : settleRecord(cluster, index);
    if (settled !== undefined) {
      await this.#writeRecord(cluster, settled, signal);
      return "again";
    }
    if (cluster.status?.hosts === undefined) adopting.add(this.#key);
    const isForced = kind === "release" && cluster.metadata.annotations?.[FORCE_RELEASE] === "true";
    const allows = isForced ? allowNamed(cluster, this.#options.allows) : this.#options.allows;
    const plan = planAdoption(cluster, { index, allows, isOpen: adopting.has(this.#key) });
    if (plan.kind === "none") return undefined;
    if (plan.kind === "adopt") {
      await this.#writeRecord(cluster, plan.record, signal);
      const message = `Landfall recorded BareMetalHosts with the labels of this SIPCluster: ${nameSome(plan.adopted)}`;
      if (plan.adopted.length > 0)
        events.record(cluster, toEvent(EVENT_WORDS.hostsAdopted, message));
      return "again";
    }
    const { message, isNamed } = plan;
    // Only hosts that the status names hold a deletion.
    if (kind === "release" && !isNamed) return undefined;
    last.set(this.#key, { state: "failing" });
    writer.warn(cluster, EVENT_WORDS.unknownClaim, message);
    if (kind === "release")
      await this.#write(cluster, { kind: "deleting", obstacle: message }, signal);
    else await this.#write(cluster, { kind: "refused", step: "hostNamespaces", message }, signal);
    return {};
  }

  /** Writes down which hosts the cluster is to have, before their labels. */
  async #record(
    cluster: SipCluster,
    decision: Schedule | "release",
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, index } = this.#options;
    const hosts = planRecord(cluster, decision, index, formatTime(clock.now()));
    if (hosts !== undefined) await this.#writeRecord(cluster, hosts, signal);
  }

  /** @throws {KubeError} also if the API server drops what it does not know: then nothing may follow */
  async #writeRecord(
    cluster: SipCluster,
    hosts: readonly HostStatus[],
    signal: AbortSignal,
  ): Promise<void> {
    this.#stage = "labels";
    const { status } = await this.#options.writer.patchStatus(cluster, { hosts }, signal);
    if (status?.hosts?.every(({ uid }) => uid !== undefined)) return;
    throw new KubeError("invalid", OLD_CRD);
  }

  /** Hosts that something uses since a moment ago keep their roles. */
  async #keepRoles(
    cluster: SipCluster,
    unmoved: ReadonlySet<Key>,
    signal: AbortSignal,
  ): Promise<void> {
    if (unmoved.size === 0) return;
    const newest = this.#findNewest(cluster);
    const hosts = newest.status?.hosts ?? [];
    const kept = hosts.map((host) => {
      const isUnmoved = unmoved.has(toKey({ metadata: host }));
      const old = isUnmoved && cluster.status?.hosts?.find(({ uid }) => uid === host.uid);
      return old ? { ...host, role: old.role, standby: old.standby } : host;
    });
    await this.#writeRecord(newest, kept, signal);
  }

  /** A cluster as it is after our last write. */
  #findNewest(cluster: SipCluster): SipCluster {
    return this.#options.clusters.get(this.#key) ?? cluster;
  }

  /** Reports hosts that the cluster lost, and not because Landfall gave them back. */
  #tellLost(cluster: SipCluster): void {
    if (this.#isTold) return;
    this.#isTold = true;
    const byKind = Map.groupBy(listLost(cluster, this.#options.index), ({ kind }) => kind);
    for (const [kind, losses] of byKind) {
      const word = kind === "gone" ? EVENT_WORDS.hostGone : EVENT_WORDS.hostUnlabelled;
      const hosts = nameSome(losses.map(({ host }) => host));
      this.#options.writer.warn(cluster, word, `BareMetalHost ${hosts} ${LOSSES[kind]}`);
    }
  }

  /**
   * Removes the labels of the cluster from hosts that it did not take.
   *
   * @returns The hosts that keep them, with the reasons
   */
  async #refuseClaims(signal: AbortSignal): Promise<readonly string[]> {
    const { allows, claimed, events, index } = this.#options;
    const told = claimed.get(this.#key);
    const kept = new Map<Key, string>();
    let eventsLeft = CLAIM_EVENTS_MAX;
    let outage: string | undefined;
    const claimants = [...index.listClaimants(this.#key)].toSorted(byKey);
    // A message names only the first: those of namespaces that the operator allows.
    const groups = Map.groupBy(claimants, ({ key }) => allows(this.#key, key));
    for (const { key } of [...(groups.get(true) ?? []), ...(groups.get(false) ?? [])]) {
      const host = index.find(key);
      if (host === undefined) continue;
      const refusal = allows(this.#key, key) ? outage : NOT_ALLOWED;
      const { why, isOutage = false } = refusal
        ? { why: refusal }
        : await this.#unlabel(host, signal);
      if (isOutage) outage = why;
      if (why !== undefined) kept.set(key, `${key} (${why})`);
      if (told?.has(key) || eventsLeft === 0) continue;
      eventsLeft -= 1;
      const what = `BareMetalHost ${key} has the labels of the SIPCluster ${this.#key}`;
      const then = why === undefined ? "Landfall removed them" : "Landfall does not count them";
      const message = `${what}, and is not in its status.hosts. ${then}`;
      events.record(host, toEvent(EVENT_WORDS.unknownClaim, message));
    }
    if (kept.size === 0) claimed.delete(this.#key);
    else claimed.set(this.#key, new Set(kept.keys()));
    return [...kept.values()];
  }

  /** @returns Why a host keeps the labels of the cluster, and whether others need not be tried now */
  async #unlabel(
    host: BareMetalHost,
    signal: AbortSignal,
  ): Promise<{ readonly why?: string; readonly isOutage?: boolean }> {
    const claims = new HostClaims(this.#key, this.#options);
    try {
      const result = await claims.giveBack(host, "inUse", signal);
      return result.kind === "lost" || result.kind === "kept" ? { why: result.why } : {};
    } catch (error) {
      // Who labels a host must not stop the work for the cluster.
      if (!(error instanceof KubeError) || signal.aborted) throw error;
      return { why: error.message, isOutage: !isRefusal(error) };
    }
  }

  #toMembership(): MembershipOptions & { readonly index: HostIndex } {
    const claims = new HostClaims(this.#key, this.#options);
    return { ...this.#options, claims };
  }

  #recordEvents(cluster: SipCluster, { reports, isSatisfied, blocked }: Schedule): void {
    const { writer } = this.#options;
    if (!isSatisfied) {
      const short = [...reports].filter(([, { missing }]) => missing > 0);
      const message = short.map(([role, report]) => describeShortfall(role, report)).join(". ");
      writer.warn(cluster, EVENT_WORDS.unschedulable, message);
    }
    if (blocked.length > 0) {
      const hosts = nameSome(blocked.map(({ host, why }) => `${host} (${why})`));
      const message = `Not wanted any more, but cannot be given back: ${hosts}`;
      writer.warn(cluster, EVENT_WORDS.contractionBlocked, message);
    }
  }
}

function toTask(cluster: SipCluster): Task | undefined {
  const { deletionTimestamp, finalizers = [] } = cluster.metadata;
  const isOurs = finalizers.includes(FINALIZER);
  if (deletionTimestamp !== undefined) return isOurs ? { kind: "release", cluster } : undefined;
  const checked = checkCluster(cluster);
  if (!checked.isValid) return { kind: "invalid", cluster, problems: checked.problems };
  return isOurs ? { kind: "serve", cluster, spec: checked.spec } : { kind: "adopt", cluster };
}

/** Hosts in one page of a list. */
const PAGE_LENGTH = 500;

/**
 * The hosts with the labels of a cluster, as the API server has them now: the watch may be late.
 *
 * @throws {KubeError} if the API server does not say
 */
async function listHostsOf(
  cluster: Key,
  client: Pick<KubeClient, "list">,
  signal: AbortSignal,
): Promise<readonly BareMetalHost[]> {
  const [namespace = "", name = ""] = cluster.split("/");
  const labelSelector = `${CLUSTER_NAMESPACE}=${namespace},${CLUSTER_NAME}=${name}`;
  const query = { labelSelector, limit: PAGE_LENGTH };
  const { items } = await listAll(client, BARE_METAL_HOSTS, query, signal);
  return items
    .filter((host) => findDamage(BARE_METAL_HOSTS, host) === undefined)
    .map((host) => trimObject(BARE_METAL_HOSTS, host));
}
