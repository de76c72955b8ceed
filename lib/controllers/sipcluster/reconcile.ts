/**
 * Reconciles one SIPCluster: chooses hosts, labels them, makes the services for what the labels say, writes the status.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import type { ReconcileResult } from "../../engine/workers.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { type Key, toKey } from "../../kube/cache/store.ts";
import type { EventRecorder } from "../../kube/events/events.ts";
import { toEvent } from "../../kube/events/words.ts";
import { type Choice, HostChooser, toWants } from "./choose.ts";
import { ClusterWriter } from "./cluster_writer.ts";
import type { AddressReader } from "./hosts/address_reader.ts";
import { Departures } from "./hosts/departures.ts";
import { HostClaims } from "./hosts/claims.ts";
import type { HostIndex } from "./hosts/host_index.ts";
import { applySchedule, type MembershipOptions, OvertakenError } from "./membership.ts";
import type { SipClusterMetrics, SipClusterState } from "./metrics.ts";
import { listHostsOf, release, type ReleaseOptions, toDeleting } from "./release.ts";
import { checkCluster } from "./resource/check_spec.ts";
import { describeShortfall, type RefusedStep } from "./resource/conditions.ts";
import { isKubeError } from "../../kube/api/errors.ts";
import { describeProblems, nameSome } from "../kinds/problems.ts";
import type { SipCluster, SipClusterSpec } from "./resource/sip_cluster.ts";
import type { Outcome } from "./resource/status.ts";
import type { Schedule } from "./schedule/types.ts";
import type { ClusterServices } from "./services/cluster_services.ts";
import { judgeState, listWarnings } from "./state.ts";
import { EVENT_WORDS, FINALIZER } from "./words.ts";

/** What a {@linkcode SipClusterReconciler} needs. */
interface ReconcilerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly metrics: SipClusterMetrics;
  readonly index: HostIndex;
  readonly addresses: AddressReader;
  readonly services: Pick<
    ClusterServices,
    "listMachines" | "serve" | "answerRequests" | "remove" | "forget"
  >;
}

/** What the last reconcile of a cluster came to, for the debug pages. */
interface LastDecision {
  readonly state: SipClusterState;
  /** Absent if the spec is invalid or the cluster is being deleted. */
  readonly schedule?: Schedule;
}

/** How often a decision is made again at once, because another program was quicker with a host. */
const DECISIONS_MAX = 5;

/** Reconciles SIPClusters. */
export class SipClusterReconciler {
  readonly #options: ReconcilerOptions;
  readonly #chooser: HostChooser;
  readonly #departures: Departures;
  readonly #writer: ClusterWriter;
  readonly #last = new Map<Key, LastDecision>();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#chooser = new HostChooser(options);
    this.#writer = new ClusterWriter(options);
    this.#departures = new Departures(options);
  }

  /** What the last reconcile of each cluster came to. */
  get last(): ReadonlyMap<Key, LastDecision> {
    return this.#last;
  }

  /** Forgets a cluster that is gone. */
  forget(key: Key): void {
    const { index, services } = this.#options;
    index.stopWaiting(key);
    services.forget(key);
    this.#writer.forget(key);
    this.#departures.forget(key);
    this.#last.delete(key);
  }

  /**
   * Brings a cluster to what its spec says.
   *
   * @throws {KubeError} that is worth another try
   */
  async reconcile(cluster: SipCluster, signal: AbortSignal): Promise<ReconcileResult> {
    const key = toKey(cluster);
    if (cluster.metadata.deletionTimestamp !== undefined) {
      const toOutcome = (obstacle: string): Outcome =>
        toDeleting(cluster, this.#options.index, { obstacle });
      return await this.#try(cluster, toOutcome, signal, () => this.#release(cluster, signal));
    }
    const checked = checkCluster(cluster);
    if (!checked.isValid) {
      this.#last.set(key, { state: "failing" });
      this.#writer.warn(cluster, EVENT_WORDS.invalidSpec, describeProblems(checked.problems));
      await this.#writer.writeStatus(
        cluster,
        { kind: "invalid", problems: checked.problems },
        signal,
      );
      return {};
    }
    const { finalizers = [] } = cluster.metadata;
    if (!finalizers.includes(FINALIZER)) {
      // Before the first label: without it, a deletion would leave labels. The watch brings the cluster again.
      await this.#writer.setFinalizers(cluster, [...finalizers, FINALIZER], signal);
      return {};
    }
    return await this.#serve(cluster, checked.spec, signal);
  }

  async #serve(
    cluster: SipCluster,
    spec: SipClusterSpec,
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    const { index, services } = this.#options;
    const key = toKey(cluster);
    this.#departures.tell(cluster);
    const { schedule, missed } = await this.#takeHosts(cluster, spec, signal);
    if (schedule.isSatisfied) index.stopWaiting(key);
    else index.wait(key, toWants(spec, schedule));
    this.#recordEvents(cluster, schedule);
    const hosts = await this.#try(cluster, refusedAt("networkData"), signal, () =>
      services.listMachines(cluster, spec, signal),
    );
    const served = await this.#try(cluster, refusedAt("services"), signal, () =>
      services.serve(cluster, spec, hosts, signal),
    );
    const outcome: Outcome = { kind: "served", schedule, ...served };
    this.#last.set(key, { state: judgeState(schedule, served.services), schedule });
    for (const { word, message } of listWarnings(served.services))
      this.#writer.warn(cluster, word, message);
    await this.#writer.writeStatus(cluster, outcome, signal);
    const recheckMs = await this.#answerRequests(cluster, signal);
    const { addresses } = this.#options;
    const pauseMs = addresses.toPauseMs([...missed, ...served.troubled]);
    return { requeueAfterMs: Math.min(served.againMs, recheckMs, pauseMs) };
  }

  /** Does what users of jump hosts ask for. @returns When to look again, in milliseconds */
  async #answerRequests(cluster: SipCluster, signal: AbortSignal): Promise<number> {
    const { services, events } = this.#options;
    const { outcomes, recheckMs } = await services.answerRequests(cluster, signal);
    for (const { host, isDone, message } of outcomes) {
      const word = isDone ? EVENT_WORDS.rebootRequested : EVENT_WORDS.rebootRefused;
      events.record(cluster, toEvent(word, `BareMetalHost ${host}: ${message}`));
    }
    return recheckMs ?? Infinity;
  }

  /** Decides and labels until no other program is quicker. */
  async #takeHosts(
    cluster: SipCluster,
    spec: SipClusterSpec,
    signal: AbortSignal,
  ): Promise<Choice> {
    const membership = this.#toMembership(toKey(cluster));
    for (let decisions = 1; ; decisions += 1) {
      const choice = await this.#try(cluster, refusedAt("networkData"), signal, () =>
        this.#chooser.choose(cluster, spec, signal),
      );
      const isOvertaken = await this.#try(cluster, refusedAt("labels"), signal, () =>
        applySchedule(cluster, choice.schedule, membership, signal),
      );
      if (!isOvertaken) return choice;
      // The watch brings what the others did.
      if (decisions === DECISIONS_MAX) throw new OvertakenError();
    }
  }

  /** Says in the status what Kubernetes refuses, before the back-off. Other errors end by themselves. */
  async #try<T>(
    cluster: SipCluster,
    toOutcome: (message: string) => Outcome,
    signal: AbortSignal,
    act: () => Promise<T>,
  ): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (isKubeError(error, "forbidden") || isKubeError(error, "invalid")) {
        this.#last.set(toKey(cluster), { state: "failing" });
        await this.#writer.writeStatus(cluster, toOutcome(error.message), signal);
      }
      throw error;
    }
  }

  async #release(cluster: SipCluster, signal: AbortSignal): Promise<ReconcileResult> {
    if (!cluster.metadata.finalizers?.includes(FINALIZER)) return {};
    const key = toKey(cluster);
    const { addresses, client, clock, index, services } = this.#options;
    index.stopWaiting(key);
    this.#last.set(key, { state: "deleting" });
    const membership = this.#toMembership(key);
    const serve: ReleaseOptions["serve"] = async (spec, signal) => {
      const hosts = await services.listMachines(cluster, spec, signal);
      const served = await services.serve(cluster, spec, hosts, signal);
      const recheckMs = await this.#answerRequests(cluster, signal);
      const pauseMs = addresses.toPauseMs(served.troubled);
      return { served, againMs: Math.min(served.againMs, recheckMs, pauseMs) };
    };
    const listHosts: ReleaseOptions["listHosts"] = (signal) => listHostsOf(key, client, signal);
    const options = { clock, writer: this.#writer, services, membership, serve, listHosts };
    return await release(cluster, options, signal);
  }

  #toMembership(cluster: Key): MembershipOptions & { readonly index: HostIndex } {
    const { client, index, events, log, metrics } = this.#options;
    const claims = new HostClaims(cluster, { client });
    return { index, claims, events, log, metrics, departures: this.#departures };
  }

  #recordEvents(cluster: SipCluster, { reports, isSatisfied, blocked }: Schedule): void {
    if (!isSatisfied) {
      const short = [...reports].filter(([, { missing }]) => missing > 0);
      const message = short.map(([role, report]) => describeShortfall(role, report)).join(". ");
      this.#writer.warn(cluster, EVENT_WORDS.unschedulable, message);
    }
    if (blocked.length > 0) {
      const hosts = nameSome(blocked.map(({ host, why }) => `${host} (${why})`));
      const message = `Not wanted any more, but cannot be given back: ${hosts}`;
      this.#writer.warn(cluster, EVENT_WORDS.contractionBlocked, message);
    }
  }
}

function refusedAt(step: RefusedStep): (message: string) => Outcome {
  return (message) => ({ kind: "refused", step, message });
}
