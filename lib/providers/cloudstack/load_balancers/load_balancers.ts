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
import { ApiError } from "../session/errors.ts";
import type { CloudStackSession } from "../session/session.ts";
import { LoadBalancingApi } from "../wire/load_balancing_api.ts";
import { Applier } from "./apply.ts";
import { findDoubt, Observer, type ObserverSource } from "./observer.ts";
import { plan } from "./plan.ts";
import { listLeftovers, planRelease } from "./release.ts";
import { readTakers } from "./takers.ts";
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

/** See {@linkcode LoadBalancers}. */
export class CloudStackLoadBalancers implements LoadBalancers<Observation, Step> {
  readonly #options: LoadBalancersOptions;
  readonly #api: LoadBalancingApi;
  readonly #applier: Applier;
  readonly #look: Observer;

  constructor(options: LoadBalancersOptions) {
    const { session, clock, source, store, random = Math.random } = options;
    this.#options = options;
    this.#api = new LoadBalancingApi(session);
    this.#applier = new Applier({ session, clock, random, source });
    this.#look = new Observer({
      api: this.#api,
      source,
      readTakers: (asked, projectId, signal) => readTakers({ session, asked, projectId }, signal),
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
    return this.#look.observe(question, signal);
  }

  listLeftovers(view: Observation, services: LiveServices): readonly LoadBalancerLeftover[] {
    return listLeftovers(view, services);
  }

  async listKept(signal: AbortSignal): Promise<readonly KeptAddress[]> {
    const { source, store } = this.#options;
    const { readKept } = await import("./inspection.ts");
    return readKept({ api: this.#api, source, clusterIds: store.clusterIds }, signal);
  }

  plan(view: Observation, spec: LoadBalancerSpec): LoadBalancerPlan<Step> {
    return findDoubted(view, spec) ?? plan(view, spec);
  }

  planRelease(view: Observation, claim: LoadBalancerClaim): LoadBalancerPlan<Step> {
    return findDoubted(view, claim) ?? planRelease(view, claim);
  }

  mayGoOn(error: unknown): boolean {
    const isRefusal = error instanceof ApiError || error instanceof RefusedStepError;
    return isRefusal && error.kind !== "throttled";
  }

  async apply(step: Step, record: LoadBalancerRecord, signal: AbortSignal): Promise<void> {
    const { source, store } = this.#options;
    const apply = (projectId: string | undefined): Promise<void> =>
      this.#applier.apply(step, { store, projectId, record }, signal);
    await source.facts.inProject(apply, signal);
  }
}

/** Plans nothing while there is doubt. */
function findDoubted(
  view: Observation,
  claim: LoadBalancerClaim,
): LoadBalancerPlan<Step> | undefined {
  const doubt = findDoubt(view, claim);
  return doubt && { steps: [], problems: [doubt], parts: [] };
}
