/**
 * Load balancers of CloudStack.
 * @module
 */
import type {
  KeptAddress,
  LiveServices,
  LoadBalancerClaim,
  LoadBalancerInspection,
  LoadBalancerLeftover,
  LoadBalancerPlan,
  LoadBalancerQuestion,
  LoadBalancerRecord,
  LoadBalancers,
  LoadBalancerSpec,
} from "../../../cloud/capabilities/load_balancers.ts";
import { RefusedStepError } from "../../../cloud/capabilities/refused_errors.ts";
import type { Finding } from "../../../cloud/inspection.ts";
import type { Clock } from "../../../core/clock.ts";
import { remember } from "../../../core/maps.ts";
import { ApiError } from "../session/errors.ts";
import type { CloudStackSession } from "../session/session.ts";
import { LoadBalancingApi } from "../wire/load_balancing_api.ts";
import { type Acting, RecordWriter } from "./acting.ts";
import { carryOut, isOutdated, isWithoutEffect } from "./apply.ts";
import { findIdentityProblem, Observer, type ObserverSource } from "./observer.ts";
import { plan } from "./plan.ts";
import { listLeftovers, planRelease } from "./release.ts";
import { readAllocatedBy } from "./allocated_by.ts";
import { SIGNING_PURPOSE } from "./record.ts";
import type { Step } from "./steps.ts";
import type { ObservationStore } from "./store.ts";
import type { Observation } from "./observation.ts";

/** What {@linkcode CloudStackLoadBalancers} need. */
interface LoadBalancersOptions {
  readonly session: Pick<
    CloudStackSession,
    "awaitJob" | "call" | "deriveKey" | "isOwnKey" | "list" | "read"
  >;
  readonly clock: Clock;
  /** What the rest of the provider knows. */
  readonly source: ObserverSource;
  readonly store: ObservationStore;
  /** Source of randomness in [0, 1). @default {Math.random} */
  readonly random?: () => number;
}

/** More than Services that are changed at the same time. */
const REFUSED_MAX = 1_000;

/** See {@linkcode LoadBalancers}. */
export class CloudStackLoadBalancers implements LoadBalancers<Observation, Step> {
  readonly #options: LoadBalancersOptions;
  readonly #api: LoadBalancingApi;
  readonly #observer: Observer;
  /** Steps that CloudStack refused, and whose Service was looked at again. */
  readonly #refused = new Map<string, true>();

  constructor(options: LoadBalancersOptions) {
    const { session, clock, source, store } = options;
    this.#options = options;
    this.#api = new LoadBalancingApi(session);
    this.#observer = new Observer({
      api: this.#api,
      source,
      readAllocatedBy: (asked, projectId, signal) =>
        readAllocatedBy({ session, asked, projectId }, signal),
      readSigningKey: () => session.deriveKey(SIGNING_PURPOSE),
      store,
      clock,
    });
  }

  setClusterIds(ids: Observation["clusterIds"]): void {
    this.#options.store.setClusterIds(ids);
  }

  async inspect(known: LoadBalancerInspection, signal: AbortSignal): Promise<readonly Finding[]> {
    const { session, source, clock } = this.#options;
    // Only `check` needs it.
    const { inspectLoadBalancing } = await import("./inspection.ts");
    return inspectLoadBalancing({ ...known, session, api: this.#api, source, clock }, signal);
  }

  observe(question: LoadBalancerQuestion, signal: AbortSignal): Promise<Observation> {
    return this.#observer.observe(question, signal);
  }

  listLeftovers(cloud: Observation, services: LiveServices): readonly LoadBalancerLeftover[] {
    return listLeftovers(cloud, services);
  }

  async listKept(signal: AbortSignal): Promise<readonly KeptAddress[]> {
    const { source, store } = this.#options;
    const { readKept } = await import("./inspection.ts");
    return readKept({ api: this.#api, source, clusterIds: store.clusterIds }, signal);
  }

  plan(cloud: Observation, spec: LoadBalancerSpec): LoadBalancerPlan<Step> {
    return planNothing(cloud, spec) ?? plan(cloud, spec);
  }

  planRelease(cloud: Observation, claim: LoadBalancerClaim): LoadBalancerPlan<Step> {
    return planNothing(cloud, claim) ?? planRelease(cloud, claim);
  }

  mayGoOn(error: unknown): boolean {
    const isRefusal = error instanceof ApiError || error instanceof RefusedStepError;
    return isRefusal && error.kind !== "throttled";
  }

  /**
   * Applies a step. One that CloudStack refuses because the observation is out of date ends without an error, once: the
   * next observation says what is to do.
   *
   * @throws {KubeError} also when the record cannot be kept
   */
  async apply(step: Step, record: LoadBalancerRecord, signal: AbortSignal): Promise<void> {
    const { source, store, clock, random = Math.random, ...options } = this.#options;
    const { owner, change } = step;
    const startedAtMs = clock.monotonic();
    const key = `${owner.uid} ${step.summary}`;
    const writer = new RecordWriter(record, step, store.recordSigner, signal);
    const acting = { ...options, store, clock, random, record: writer, owner, signal };
    try {
      const act = (projectId: string | undefined): Promise<void> =>
        carryOut(change, { ...acting, projectId });
      await source.facts.inProject(act, signal);
    } catch (error) {
      if (!isWithoutEffect(error)) store.invalidate();
      if (error instanceof ApiError) endJob(acting);
      if (!isOutdated(change, error) || this.#refused.delete(key)) throw error;
      remember(this.#refused, key, true, REFUSED_MAX);
      // One VM that is gone fails the whole step, and the list of VMs may be older than the observation.
      if (change.kind === "addBackends") await source.readBackends(startedAtMs, signal);
      return;
    }
    this.#refused.delete(key);
    endJob(acting);
  }
}

/**
 * Notes that the job of the step is over. The record may go on to name it until it is written again: this process knows
 * better, and another one asks CloudStack once.
 */
function endJob({ record, store }: Pick<Acting, "record" | "store">): void {
  const { job } = record.kept;
  if (job !== undefined) store.endJob(job.id);
}

/** Plans nothing while there is doubt. */
function planNothing(
  cloud: Observation,
  claim: LoadBalancerClaim,
): LoadBalancerPlan<Step> | undefined {
  const doubt = findIdentityProblem(cloud, claim);
  return doubt && { steps: [], problems: [doubt], parts: [] };
}
