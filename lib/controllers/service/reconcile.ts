/**
 * Reconciles the load balancer of one Service: looks, plans, makes the first step, and again until nothing is left to
 * do.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type {
  LoadBalancerBackend,
  LoadBalancerPlan,
  LoadBalancers,
  LoadBalancerStep,
} from "../../cloud/capabilities/load_balancers.ts";
import { RefusedStepError } from "../../cloud/capabilities/refused_errors.ts";
import { type Clock, startDeadline } from "../../core/clock.ts";
import { describeError } from "../../core/errors.ts";
import { LeadershipLostError } from "../../core/fence.ts";
import type { DetachedRun } from "../../engine/detached_work.ts";
import type { ReconcileResult } from "../../engine/workers.ts";
import { isKubeError } from "../../kube/api/errors.ts";
import { type Key, type StoreReader, toKey } from "../../kube/cache/store.ts";
import type { Service } from "../../kube/kinds/service.ts";
import { Attempt } from "./attempt.ts";
import { toPauseMs } from "./passes/look_age.ts";
import type { Looks } from "./passes/looks.ts";
import type { ManagedServices } from "./state/managed.ts";
import type { ServiceMetrics } from "./metrics.ts";
import type { Purpose, ServiceEvents } from "./events.ts";
import { createRecord } from "./state/record.ts";
import type { ServiceWriter } from "./state/service_writer.ts";
import { ShownWriter } from "./state/shown_writer.ts";
import { toClaim, toSpec } from "./spec/spec.ts";
import type { ServiceTasks, Task } from "./state/tasks.ts";
import type { Turns } from "./turns.ts";

/** What a {@linkcode ServiceReconciler} needs. */
interface ServiceReconcilerOptions {
  readonly clock: Clock;
  readonly loadBalancers: LoadBalancers;
  readonly services: StoreReader<Service>;
  readonly managed: ManagedServices;
  readonly tasks: ServiceTasks;
  readonly looks: Looks;
  readonly writer: ServiceWriter;
  readonly turns: Turns;
  readonly serviceEvents: ServiceEvents;
  readonly metrics: Pick<ServiceMetrics, "countSync">;
  /** The Nodes that may get traffic now. The same array as long as they are the same. */
  readonly findBackends: () => readonly LoadBalancerBackend[];
  /** The IDs of the instances of Nodes that must get no traffic. */
  readonly findExcluded: () => ReadonlySet<string>;
  /** The fields of a Service that decide about its load balancer. */
  readonly inputs: (service: Service) => readonly unknown[];
  /** Has a Service reconciled. */
  readonly enqueue: (key: Key) => void;
}

/** A step has a deadline of its own; this one only ends what ignores it. */
const STEP_TIMEOUT_MS = 1_800_000;

/** A task with its plan. */
interface Planned {
  readonly task: Task;
  readonly purpose: Purpose;
  readonly plan: LoadBalancerPlan;
}

/** Reconciles load balancers. */
export class ServiceReconciler {
  readonly #options: ServiceReconcilerOptions;
  readonly #shown: ShownWriter;

  constructor(options: ServiceReconcilerOptions) {
    this.#options = options;
    this.#shown = new ShownWriter(options);
  }

  /**
   * Does all that one key needs. Never waits for the turn of others with a worker.
   *
   * @throws {CloudError} of the cloud, and {@linkcode KubeError} of Kubernetes
   */
  async reconcile(key: Key, run: DetachedRun): Promise<ReconcileResult> {
    using attempt = new Attempt(this.#options.turns, run);
    try {
      for (;;) {
        const result = await this.#advance(key, attempt);
        if (result !== undefined) return result;
      }
    } catch (error) {
      // The next leader goes on.
      const isOver = run.signal.aborted || error instanceof LeadershipLostError;
      if (!isOver) this.#fail(key, attempt, error);
      throw error;
    }
  }

  /** The plan of a Service from the last look; `undefined` if there is none. Reads only memory. */
  preview(service: Service): LoadBalancerPlan | undefined {
    const { loadBalancers, looks, tasks, findBackends, findExcluded } = this.#options;
    const need = tasks.findNeed(service);
    if (looks.last === undefined || need === "nothing") return undefined;
    if (need !== "ensure") return loadBalancers.planRelease(looks.last, toClaim(service));
    const reading = toSpec(service, findBackends(), findExcluded());
    return "spec" in reading ? loadBalancers.plan(looks.last, reading.spec) : undefined;
  }

  /** Makes one change. @returns The result, if there is nothing more to do */
  async #advance(key: Key, attempt: Attempt): Promise<ReconcileResult | undefined> {
    const { tasks, looks, writer, serviceEvents, loadBalancers } = this.#options;
    const { signal } = attempt.run;
    signal.throwIfAborted();
    const first = tasks.find(key);
    attempt.task = first;
    if (first === undefined) return {};
    if (first.kind === "conflict") {
      serviceEvents.reportClass(first.service);
      return {};
    }
    if (first.kind === "ensure" && tasks.lacksFinalizer(first.service)) {
      await writer.addFinalizer(first.service, signal);
      return undefined;
    }
    const view = await looks.look(attempt.takeLookAge(), signal);
    // While it looked, the Service may have changed.
    const task = tasks.find(key);
    if (task?.kind !== first.kind) return undefined;
    if (task.kind === "ensure" && tasks.lacksFinalizer(task.service)) return undefined;
    attempt.task = task;
    const planned = this.#plan(task, view);
    if (planned === undefined) {
      const held = loadBalancers.planHeld?.(view, toClaim(task.service)) ?? {};
      await this.#shown.hold(task.service, held, attempt);
      return {};
    }
    attempt.purpose ??= planned.purpose;
    return await this.#follow(key, planned, attempt);
  }

  /** @returns `undefined` if a field of the Service cannot be used */
  #plan(task: Task, view: object): Planned | undefined {
    const { loadBalancers, managed, serviceEvents, findBackends, findExcluded } = this.#options;
    const { service } = task;
    if (task.kind === "release") {
      const plan = loadBalancers.planRelease(view, toClaim(service));
      return { task, plan, purpose: task.isGone ? "purge" : "release" };
    }
    const backends = findBackends();
    const reading = toSpec(service, backends, findExcluded());
    if ("problem" in reading) {
      serviceEvents.reportUnreadable(service, reading.problem);
      managed.setState(toKey(service), "waiting", { failure: reading.problem });
      return undefined;
    }
    if (backends.length === 0) serviceEvents.reportNoNodes(service);
    const plan = loadBalancers.plan(view, reading.spec);
    return { task, plan, purpose: this.#isUpdate(service, backends) ? "update" : "ensure" };
  }

  /** Whether only the Nodes differ from what the load balancer had when it was last ready. */
  #isUpdate(service: Service, backends: readonly LoadBalancerBackend[]): boolean {
    const { managed, inputs } = this.#options;
    const ensured = managed.get(toKey(service))?.ensured;
    if (ensured === undefined || ensured.backends === backends) return false;
    return isDeepStrictEqual(ensured.inputs, inputs(service));
  }

  async #follow(
    key: Key,
    planned: Planned,
    attempt: Attempt,
  ): Promise<ReconcileResult | undefined> {
    const { managed } = this.#options;
    const { task, plan } = planned;
    // A plan may depend on what the status shows: the old address goes when the new one is there.
    if (task.kind === "ensure" && (await this.#shown.show(task.service, plan, attempt))) {
      return undefined;
    }
    const step = attempt.pick(plan.steps);
    if (step === undefined) return await this.#finish(key, planned, attempt);
    if (step.turn !== undefined && !attempt.hasTurn(step.turn)) {
      managed.setState(key, "working", { waitsFor: `turn ${step.turn}` });
      await attempt.takeTurn(step.turn);
      return undefined;
    }
    managed.setState(key, "working", { waitsFor: step.summary });
    // What a step takes over or replaces may not show any more when the last one is done.
    const notices = plan.problems.filter(({ isWaiting }) => isWaiting === false);
    this.#options.serviceEvents.reportProblems(task.service, notices);
    await this.#apply(key, { task, step }, attempt);
    return undefined;
  }

  async #apply(
    key: Key,
    { task, step }: { readonly task: Task; readonly step: LoadBalancerStep },
    attempt: Attempt,
  ): Promise<void> {
    const { loadBalancers, clock, serviceEvents, metrics, managed } = this.#options;
    attempt.progress.check(step);
    if (!attempt.isStarted) {
      managed.noteStart(key);
      if (!loadBalancers.leavesNothingBehind) {
        serviceEvents.reportStart(task.service, attempt.purpose ?? "ensure");
      }
      metrics.countSync();
    }
    attempt.isStarted = true;
    const record = createRecord(key, task.service.metadata.uid, this.#options);
    using deadline = startDeadline(attempt.run.signal, STEP_TIMEOUT_MS, clock);
    try {
      await loadBalancers.apply(step, record, deadline.signal);
    } catch (error) {
      if (loadBalancers.mayGoOn?.(error) !== true) throw error;
      attempt.leaveOut(step, error);
    }
    attempt.noteStep();
  }

  async #finish(
    key: Key,
    { task, plan }: Planned,
    attempt: Attempt,
  ): Promise<ReconcileResult | undefined> {
    const { serviceEvents, managed, writer, inputs, findBackends, loadBalancers } = this.#options;
    const { service } = task;
    const waiting = plan.problems.find(({ isWaiting = true }) => isWaiting);
    if ((waiting !== undefined || task.kind === "release") && !attempt.isConfirmed) {
      this.#confirm(key, attempt, waiting ? "waiting" : "release");
      return undefined;
    }
    serviceEvents.reportProblems(service, plan.problems);
    this.#tellOthers(key, plan.problems);
    if (waiting !== undefined) {
      if (await this.#shown.hold(service, plan, attempt)) return undefined;
      managed.setState(key, "waiting", { failure: waiting.message });
      return { requeueAfterMs: toPauseMs(managed.findWaitedMs(key)) };
    }
    if (task.kind === "release") {
      const { isStarted = false, ensured } = managed.get(key) ?? {};
      const hadNone = !isStarted && ensured === undefined;
      const isUnremarkable = task.isGone && (hadNone || loadBalancers.leavesNothingBehind === true);
      if (!task.isGone) await writer.release(service, plan.annotations, attempt.run.signal);
      managed.forget(key);
      loadBalancers.forget?.(service.metadata.uid ?? "");
      // What it had may be what others wait for.
      for (const other of managed.listWaiting()) this.#options.enqueue(other);
      if (!isUnremarkable) serviceEvents.reportEnd(service, "release");
      serviceEvents.forget(service);
      // A new Service may have the name of one that is gone.
      return task.isGone ? undefined : {};
    }
    const backends = findBackends();
    managed.note(service).ensured = { inputs: inputs(service), backends };
    managed.setState(key, "ready");
    if (attempt.progress.steps > 0) serviceEvents.reportEnd(service, attempt.purpose ?? "ensure");
    if (plan.problems.length === 0 && backends.length > 0) serviceEvents.forget(service);
    return {};
  }

  /** Has the Services planned again that a problem is a problem of, too: once when it comes, and once when it ends. */
  #tellOthers(key: Key, problems: LoadBalancerPlan["problems"]): void {
    const { managed, enqueue } = this.#options;
    for (const other of managed.setOthers(key, problems)) enqueue(other);
  }

  /** Plans once more, by a look that is new enough to conclude from. */
  #confirm(key: Key, attempt: Attempt, kind: "release" | "waiting"): void {
    const { looks, managed } = this.#options;
    attempt.confirm(looks.toConclusionAgeMs(kind, managed.findWaitedMs(key)));
  }

  /** Whether a write came too late: another program or a user changed what the plan depends on. */
  #isOutdated({ service }: Task, error: unknown): boolean {
    if (!isKubeError(error, "conflict")) return false;
    const { services, inputs } = this.#options;
    const newest = services.get(toKey(service));
    return newest === undefined || !isDeepStrictEqual(inputs(newest), inputs(service));
  }

  #fail(key: Key, { task, purpose }: Attempt, error: unknown): void {
    const { managed, serviceEvents, findBackends } = this.#options;
    // The Service is gone or changed, and the watch shows it soon: then what was made for it goes or changes, too.
    if (isKubeError(error, "notFound") || (task && this.#isOutdated(task, error))) return;
    const failure = error instanceof RefusedStepError ? error.message : describeError(error);
    managed.setState(key, "failing", { failure });
    if (task === undefined) return;
    const gone = task.kind === "release" && task.isGone;
    const own = task.kind === "ensure" ? "ensure" : gone ? "purge" : "release";
    const hosts = findBackends().map(({ nodeName }) => nodeName);
    serviceEvents.reportFailure(task.service, { purpose: purpose ?? own, error, hosts });
  }
}
