/**
 * Load balancers of CloudStack, with settings that may change while Landfall works.
 * @module
 */
import type {
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
import { CloudError } from "../../../cloud/errors.ts";
import { Generations } from "../../../cloud_http/generations.ts";
import type { Clock } from "../../../core/clock.ts";
import { ApiError } from "../session/errors.ts";
import type { CloudStackSession } from "../session/session.ts";
import type { CloudStackSettings } from "../settings/config.ts";
import { LoadBalancingApi } from "../wire/load_balancing_api.ts";
import { Applier } from "./apply/apply.ts";
import { findDoubt } from "./doubts.ts";
import { inspectLoadBalancing } from "./inspection.ts";
import { Look, type LookSource } from "./look.ts";
import { plan } from "./plan/plan.ts";
import { planRelease } from "./plan/release.ts";
import { listLeftovers } from "./reading/leftovers.ts";
import { readTakers } from "./reading/takers.ts";
import { SIGNING_PURPOSE } from "./record_signer.ts";
import type { Step } from "./steps.ts";
import { LookStore } from "./store.ts";
import type { View } from "./view.ts";

/** What {@linkcode CloudStackLoadBalancers} need. */
export interface LoadBalancersOptions {
  readonly session: Pick<
    CloudStackSession,
    "awaitJob" | "call" | "deriveKey" | "isOwnKey" | "list" | "read"
  >;
  readonly clock: Clock;
  /** Source of randomness in [0, 1). @default {Math.random} */
  readonly random?: () => number;
}

/** What the rest of the provider knows with one set of settings. */
interface LoadBalancerSource extends LookSource {
  readonly settings: Pick<CloudStackSettings, "url" | "project">;
}

/** Everything that belongs to one set of settings. */
interface Place {
  readonly source: LoadBalancerSource;
  readonly store: LookStore;
  readonly look: Look;
}

/**
 * See {@linkcode LoadBalancers}.
 *
 * Guarantees: a look is always one with the settings in use. With another connection to the same project nothing that
 * was seen before counts, but the changes that still run do. With another cloud or project, steps of plans from before
 * are refused.
 */
export class CloudStackLoadBalancers implements LoadBalancers<View, Step> {
  readonly #options: LoadBalancersOptions;
  readonly #api: LoadBalancingApi;
  readonly #applier: Applier;
  readonly #places: Generations<Place>;
  /** Where a view and a step come from. */
  readonly #origins = new WeakMap<View | Step, LookStore>();
  #clusterIds: View["clusterIds"] | undefined;

  constructor(options: LoadBalancersOptions, source: LoadBalancerSource) {
    const { session, clock, random = Math.random } = options;
    this.#options = options;
    this.#api = new LoadBalancingApi(session);
    this.#applier = new Applier({ session, clock, random });
    this.#places = new Generations((abandoned) => this.#open(source, new LookStore(), abandoned));
  }

  /**
   * Uses other settings from now on.
   *
   * @param isAbandoned Whether they may show other things: those of another cloud, project or user
   */
  replace(source: LoadBalancerSource, isAbandoned: boolean): void {
    const { store, source: before } = this.#places.now;
    const isSame = isSameProject(before.settings, source.settings);
    if (isAbandoned && isSame) store.forget();
    const next = isSame ? store : new LookStore();
    this.#places.replace((abandoned) => this.#open(source, next, abandoned), isAbandoned);
  }

  setClusterIds(ids: View["clusterIds"]): void {
    this.#clusterIds = ids;
    this.#places.now.store.setClusterIds(ids);
  }

  inspect(known: LoadBalancerInspection, signal: AbortSignal): Promise<readonly Finding[]> {
    const { session } = this.#options;
    const { source } = this.#places.now;
    return inspectLoadBalancing({ ...known, session, api: this.#api, source }, signal);
  }

  async observe(question: LoadBalancerQuestion, signal: AbortSignal): Promise<View> {
    const { answer, by } = await this.#places.ask(
      ({ look }, both) => look.observe(question, both),
      signal,
    );
    this.#origins.set(answer, by.store);
    return answer;
  }

  listLeftovers(view: View, services: LiveServices): readonly LoadBalancerLeftover[] {
    return listLeftovers(view, services);
  }

  plan(view: View, spec: LoadBalancerSpec): LoadBalancerPlan<Step> {
    return this.#planKnown(view, spec, () => plan(view, spec));
  }

  planRelease(view: View, claim: LoadBalancerClaim): LoadBalancerPlan<Step> {
    return this.#planKnown(view, claim, () => planRelease(view, claim));
  }

  mayGoOn(error: unknown): boolean {
    const isRefusal = error instanceof ApiError || error instanceof RefusedStepError;
    return isRefusal && error.kind !== "throttled";
  }

  async apply(step: Step, record: LoadBalancerRecord, signal: AbortSignal): Promise<void> {
    const { source, store } = this.#places.now;
    const origin = this.#origins.get(step);
    if (origin !== undefined && origin !== store) {
      throw new CloudError("unreachable", "the settings changed since this was planned");
    }
    const apply = (projectId: string | undefined): Promise<void> =>
      this.#applier.apply(step, { store, projectId, record }, signal);
    await source.facts.inProject(apply, signal);
  }

  /** Plans nothing while there is doubt. The steps of a plan belong where its view does. */
  #planKnown(
    view: View,
    claim: LoadBalancerClaim,
    make: () => LoadBalancerPlan<Step>,
  ): LoadBalancerPlan<Step> {
    const doubt = findDoubt(view, claim);
    if (doubt !== undefined) return { steps: [], problems: [doubt], parts: [] };
    const planned = make();
    const store = this.#origins.get(view);
    if (store !== undefined) for (const step of planned.steps) this.#origins.set(step, store);
    return planned;
  }

  #open(source: LoadBalancerSource, store: LookStore, abandoned: AbortSignal): Place {
    const { session, clock } = this.#options;
    if (this.#clusterIds !== undefined) store.setClusterIds(this.#clusterIds);
    const look = new Look({
      api: this.#api,
      source,
      readTakers: (asked, signal) => readTakers({ session, asked }, signal),
      readSigningKey: () => session.deriveKey(SIGNING_PURPOSE),
      store,
      clock,
      signal: abandoned,
    });
    return { source, store, look };
  }
}

function isSameProject(
  one: LoadBalancerSource["settings"],
  other: LoadBalancerSource["settings"],
): boolean {
  return one.url === other.url && one.project === other.project;
}
