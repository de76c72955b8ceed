/**
 * Reconciles the load balancers of Services.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type {
  LoadBalancerObservation,
  LoadBalancerPlan,
  LoadBalancerProblem,
  LoadBalancers,
  LoadBalancerSpec,
  LoadBalancerStep,
} from "../../cloud/capabilities/load_balancers.ts";
import { RefusedStepError } from "../../cloud/capabilities/refused_errors.ts";
import type { Clock } from "../../core/clock.ts";
import { describeError } from "../../core/errors.ts";
import {
  type Convergence,
  type PassResult,
  type Plan,
  type Planned,
  type Step,
} from "../../engine/converge.ts";
import { isKubeError } from "../../kube/api/errors.ts";
import { type Key, type StoreReader, toKey } from "../../kube/cache/store.ts";
import type { Service } from "../../kube/kinds/service.ts";
import type { Observations } from "./passes.ts";
import { createRecord, type ManagedServices, type ServiceTasks, type Task } from "./managed.ts";
import type { ServiceMetrics } from "./metrics.ts";
import type { Purpose, ServiceEvents } from "./events.ts";
import type { Backends } from "./backends.ts";
import type { ServiceWriter, ShownState } from "./service_writer.ts";
import { checkNodes, needsUpdate, type NodeSet } from "./node_set.ts";
import { showsAnnotations, showsIngress, toClaim, toSpec } from "./spec.ts";
import { RECORD } from "./words.ts";

/** What a {@linkcode ServiceConvergence} needs. */
export interface ServiceConvergenceOptions {
  readonly clock: Clock;
  readonly loadBalancers: LoadBalancers;
  readonly services: StoreReader<Service>;
  readonly managed: ManagedServices;
  readonly tasks: ServiceTasks;
  readonly observations: Observations;
  readonly writer: ServiceWriter;
  readonly serviceEvents: ServiceEvents;
  readonly metrics: Pick<ServiceMetrics, "countSync">;
  readonly backends: Pick<Backends, "find">;
  /** Whether load balancers send traffic to Nodes. With address pools, another program does. */
  readonly usesNodes: boolean;
  /** The fields of a Service that decide about its load balancer. */
  readonly inputs: (service: Service) => readonly unknown[];
  /** Has a Service reconciled. */
  readonly enqueue: (key: Key) => void;
}

/** One change of what the Service shows. */
interface ShowStep {
  readonly summary: string;
  readonly shown: ShownState;
}

/** Observes the cloud again: something may have changed there that the plan must not miss. */
interface ObserveStep {
  readonly summary: string;
  /** That of the step for which it is: what others observe until it is taken serves, too. */
  readonly lock?: string;
  readonly lockName?: string;
  /** In monotonic milliseconds. */
  readonly sinceMs: number;
}

/** One change of the cloud, or of what the Service shows; or a new observation before it. */
type ServiceStep = LoadBalancerStep | ObserveStep | ShowStep;

/** What the cloud must do for a Service. */
interface ServedPlan extends Plan<ServiceStep> {
  readonly kind: "served";
  readonly purpose: Purpose;
  readonly plan: LoadBalancerPlan;
  /** Absent: the load balancer goes. */
  readonly nodes?: NodeSet;
  /** What the status must show, and another program overwrote so often that it stays as it is. */
  readonly withheld?: LoadBalancerPlan["ingress"];
}

/** A field of a Service cannot be used. */
interface UnreadablePlan extends Plan<ServiceStep> {
  readonly kind: "unreadable";
  /** Which, and why. */
  readonly problem: string;
  readonly held: Pick<LoadBalancerPlan, "annotations" | "record">;
}

/** What is to do for a Service. */
type ServicePlan = ServedPlan | UnreadablePlan;

/** What an observation is for. */
type Use = Parameters<Observations["toSinceMs"]>[0];

type PlannedService = Planned<Task, LoadBalancerObservation, ServicePlan>;

/** The plan of a Service from the last observation; `undefined` if there is none. Reads only memory. */
export function previewPlan(
  service: Service,
  options: ServiceConvergenceOptions,
): LoadBalancerPlan | undefined {
  const { loadBalancers, observations, tasks, backends } = options;
  const need = tasks.findNeed(service);
  if (observations.last === undefined || need === "nothing") return undefined;
  if (need !== "ensure") return loadBalancers.planRelease(observations.last, toClaim(service));
  const nodes = backends.find(service);
  if ("problem" in nodes) return undefined;
  const reading = toSpec(service, nodes);
  if ("problem" in reading) return undefined;
  return planSpec(observations.last, { spec: reading.spec, nodes }, options);
}

/** The work on the load balancer of one Service. */
export class ServiceConvergence implements Convergence<
  Task,
  LoadBalancerObservation,
  ServiceStep,
  ServicePlan
> {
  readonly name: string;
  readonly #key: Key;
  readonly #options: ServiceConvergenceOptions;
  /** Since when observations must be, by what they are for. One that was never ready needs those since its change. */
  readonly #sinceMs: Partial<Record<Use, number>>;
  /** Of the first plan that was followed. */
  #purpose: Purpose | undefined;
  /** Whether a step changed the cloud. */
  #isStarted = false;
  /** Whether a step was applied. */
  #isChanged = false;

  constructor(key: Key, options: ServiceConvergenceOptions) {
    this.name = `Service ${key}`;
    this.#key = key;
    this.#options = options;
    const isServed = options.managed.get(key)?.ensured !== undefined;
    this.#sinceMs = { step: isServed ? options.observations.toSinceMs("step") : -Infinity };
  }

  find(): Task | undefined {
    return this.#options.tasks.find(this.#key);
  }

  async prepare({ kind, service }: Task, signal: AbortSignal): Promise<PassResult | undefined> {
    const { serviceEvents, writer } = this.#options;
    if (kind === "adopt") {
      await writer.addFinalizer(service, signal);
      return "again";
    }
    if (kind !== "conflict") return undefined;
    serviceEvents.reportClass(service);
    return {};
  }

  observe(_task: Task, signal: AbortSignal): Promise<LoadBalancerObservation> {
    return this.#options.observations.observe(signal);
  }

  plan(task: Task, observation: LoadBalancerObservation): ServicePlan {
    const plan = this.#plan(task, observation);
    if (plan.kind === "unreadable") return plan;
    const [next] = plan.steps;
    const sinceMs = Math.max(
      this.#options.tasks.findChangedMs(task.service),
      this.#needSince(next === undefined ? toUse(task, plan.plan) : "step"),
    );
    if (observation.takenAtMs >= sinceMs) return plan;
    const { lock, lockName }: Step = next ?? { summary: "" };
    const locked = {
      ...(lock !== undefined && { lock }),
      ...(lockName !== undefined && { lockName }),
    };
    return { ...plan, steps: [{ summary: "observe the cloud", sinceMs, ...locked }] };
  }

  #plan(task: Task, observation: LoadBalancerObservation): ServicePlan {
    const { loadBalancers, backends } = this.#options;
    const { service } = task;
    if (task.kind === "release") {
      const plan = loadBalancers.planRelease(observation, toClaim(service));
      return this.#toPlan(task, plan, task.isGone ? "purge" : "release");
    }
    const nodes = backends.find(service);
    if ("problem" in nodes) return this.#toUnreadable(service, observation, nodes.problem);
    const reading = toSpec(service, nodes);
    if ("problem" in reading) return this.#toUnreadable(service, observation, reading.problem);
    const plan = planSpec(observation, { spec: reading.spec, nodes }, this.#options);
    const purpose = this.#isUpdate(service, nodes) ? "update" : "ensure";
    return { ...this.#toPlan(task, plan, purpose), nodes };
  }

  noteWait({ lock, lockName }: Step, findHolder: () => string | undefined): void {
    const waitsFor = (): string => {
      const holder = findHolder();
      const who = holder === undefined ? "" : `: ${holder} has it now`;
      return `its turn in ${lockName ?? `network ${lock}`}${who}`;
    };
    this.#options.managed.setState(this.#key, "working", { waitsFor });
  }

  async apply(
    step: ServiceStep,
    { task, plan }: PlannedService,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, loadBalancers, observations, writer } = this.#options;
    const { service } = task;
    if ("sinceMs" in step) {
      await observations.observe(signal, clock.monotonic() - step.sinceMs);
      return;
    }
    this.#note(task, plan);
    this.#isChanged = true;
    if ("shown" in step) return await writer.show(service, step.shown, signal);
    this.#noteChange(service, plan, step);
    const record = createRecord(this.#key, service.metadata.uid, this.#options);
    await loadBalancers.apply(step, record, signal);
  }

  mayGoOn(error: unknown): boolean {
    return this.#options.loadBalancers.mayGoOn?.(error) === true;
  }

  async report({ task, plan }: PlannedService, signal: AbortSignal): Promise<PassResult> {
    const { serviceEvents, managed, observations } = this.#options;
    const { service } = task;
    this.#note(task, plan);
    if (plan.kind === "unreadable") {
      serviceEvents.reportUnreadable(service, plan.problem);
      managed.setState(this.#key, "waiting", { failure: plan.problem });
      await this.#hold(service, plan.held, signal);
      return {};
    }
    const { problems } = plan.plan;
    serviceEvents.reportProblems(service, problems);
    this.#reportElsewhere(problems);
    for (const other of managed.setOthers(this.#key, problems)) this.#options.enqueue(other);
    const waiting = findWaiting(plan.plan);
    if (waiting !== undefined) {
      if (await this.#hold(service, plan.plan, signal)) return "again";
      managed.setState(this.#key, "waiting", { failure: waiting.message });
      return { requeueAfterMs: observations.toPauseMs(managed.findWaitedMs(this.#key)) };
    }
    if (task.kind === "release") return await this.#endRelease(task, plan.plan, signal);
    if (plan.withheld !== undefined) {
      const failure = serviceEvents.reportOverwritten(service, plan.withheld);
      managed.setState(this.#key, "waiting", { failure });
      return {};
    }
    this.#endEnsure(service, plan);
    return {};
  }

  async fail(error: unknown, task: Task | undefined): Promise<undefined> {
    const { managed, serviceEvents, backends } = this.#options;
    // The Service is gone or changed, and the watch shows it soon: then what was made for it goes or changes, too.
    if (isKubeError(error, "notFound") || (task && this.#isOutdated(task, error))) return undefined;
    const failure = error instanceof RefusedStepError ? error.message : describeError(error);
    managed.setState(this.#key, "failing", { failure });
    if (task === undefined) return undefined;
    const release = task.kind === "release" && task.isGone ? "purge" : "release";
    const purpose = this.#purpose ?? (task.kind === "release" ? release : "ensure");
    const nodes = backends.find(task.service);
    const hosts = "problem" in nodes ? [] : nodes.backends.map(({ nodeName }) => nodeName);
    serviceEvents.reportFailure(task.service, { purpose, error, hosts });
    return undefined;
  }

  #toUnreadable(
    service: Service,
    observation: LoadBalancerObservation,
    problem: string,
  ): ServicePlan {
    const held = this.#options.loadBalancers.planHeld?.(observation, toClaim(service)) ?? {};
    return { kind: "unreadable", steps: [], problem, held };
  }

  #toPlan({ kind, service }: Task, plan: LoadBalancerPlan, purpose: Purpose): ServedPlan {
    const { managed, writer } = this.#options;
    const { ingress } = plan;
    const steps: ServiceStep[] = [...plan.steps];
    const annotations = toAnnotations(plan);
    const hasIngress = showsIngress(service, ingress ?? [], writer);
    const isShown = hasIngress && showsAnnotations(service, annotations);
    const isYielded = ingress !== undefined && !hasIngress && managed.isYielded(service);
    if (kind === "ensure" && ingress !== undefined && !isShown && !isYielded) {
      // The next plan may depend on what the status shows: the old address goes when the new one is there.
      const summary = `show ${JSON.stringify(ingress)} in the status`;
      steps.unshift({ summary, shown: { ingress, annotations } });
    }
    return { kind: "served", purpose, plan, steps, ...(isYielded && { withheld: ingress }) };
  }

  /** Since when an observation must be for a use: the same each time, because a slow cloud takes long for each. */
  #needSince(use: Use): number {
    return (this.#sinceMs[use] ??= this.#options.observations.toSinceMs(use));
  }

  /** Whether only the Nodes differ from what the load balancer had when it was last ready. */
  #isUpdate(service: Service, nodes: NodeSet): boolean {
    const { managed, inputs } = this.#options;
    const ensured = managed.get(this.#key)?.ensured;
    if (ensured === undefined || !needsUpdate(ensured.nodes, nodes)) return false;
    return isDeepStrictEqual(ensured.inputs, inputs(service));
  }

  /** Notes a plan that is followed. */
  #note({ service }: Task, plan: ServicePlan): void {
    const { managed } = this.#options;
    if (plan.kind === "unreadable") return;
    this.#purpose ??= plan.purpose;
    if (plan.nodes === undefined) return;
    const { ingress } = plan.plan;
    if (ingress !== undefined) managed.note(service).ingress = ingress;
  }

  /** Notes a change of the cloud that is about to be made. */
  #noteChange(service: Service, plan: ServicePlan, { summary }: ServiceStep): void {
    const { loadBalancers, managed, metrics, serviceEvents, enqueue } = this.#options;
    managed.setState(this.#key, "working", { waitsFor: () => summary });
    // What a step takes over or replaces may not show any more when the last one is done.
    const problems = plan.kind === "served" ? plan.plan.problems : [];
    const notices = problems.filter(({ isWaiting }) => isWaiting === false);
    serviceEvents.reportProblems(service, notices);
    for (const other of managed.setOthers(this.#key, notices)) enqueue(other);
    if (this.#isStarted) return;
    this.#isStarted = true;
    const started = managed.get(this.#key);
    if (started !== undefined) started.isStarted = true;
    metrics.countSync();
    if (loadBalancers.leavesNothingBehind) return;
    serviceEvents.reportStart(service, this.#purpose ?? "ensure");
  }

  /**
   * Writes the annotations of a Service that waits, and leaves its status. Another program that writes them, too, is
   * corrected as often as one that writes the status.
   *
   * @returns Whether it wrote
   */
  async #hold(
    service: Service,
    plan: Pick<LoadBalancerPlan, "annotations" | "record">,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { writer, managed } = this.#options;
    const annotations = toAnnotations(plan);
    if (showsAnnotations(service, annotations)) return false;
    if (managed.noteDrift(this.#key) !== "restore") return false;
    await writer.show(service, { annotations }, signal);
    return true;
  }

  /** Says on other Services what they have to do with a problem. */
  #reportElsewhere(problems: readonly LoadBalancerProblem[]): void {
    const { services, serviceEvents } = this.#options;
    for (const { reason, elsewhere = [] } of problems) {
      for (const { owner, message } of elsewhere) {
        const other = services.get(`${owner.namespace}/${owner.name}`);
        if (other?.metadata.uid !== owner.uid) continue;
        serviceEvents.reportProblem(other, { reason, message });
      }
    }
  }

  /** Nothing is left of a load balancer. */
  async #endRelease(
    { service, isGone }: Extract<Task, { kind: "release" }>,
    { annotations }: LoadBalancerPlan,
    signal: AbortSignal,
  ): Promise<PassResult> {
    const { serviceEvents, managed, writer, loadBalancers, enqueue } = this.#options;
    const { isStarted = false, ensured } = managed.get(this.#key) ?? {};
    const hadNone = !isStarted && ensured === undefined;
    const isUnremarkable = isGone && (hadNone || loadBalancers.leavesNothingBehind === true);
    if (!isGone) await writer.release(service, annotations, signal);
    managed.forget(this.#key);
    loadBalancers.forget?.(service.metadata.uid ?? "");
    // What it had may be what others wait for.
    for (const other of managed.listWaiting()) enqueue(other);
    if (!isUnremarkable) serviceEvents.reportEnd(service, "release");
    serviceEvents.forget(service);
    // A new Service may have the name of one that is gone.
    return isGone ? "again" : {};
  }

  /** A load balancer is as the Service asks. */
  #endEnsure(service: Service, { plan, nodes }: ServedPlan): void {
    const { serviceEvents, managed, inputs, usesNodes } = this.#options;
    if (nodes !== undefined) managed.note(service).ensured = { inputs: inputs(service), nodes };
    managed.setState(this.#key, "ready");
    const excluded = usesNodes ? nodes?.exclusion : undefined;
    if (this.#isChanged) serviceEvents.reportEnd(service, this.#purpose ?? "ensure", excluded);
    if (plan.problems.length === 0) serviceEvents.forget(service);
  }

  /** Whether a write came too late: another program or a user changed what the plan depends on. */
  #isOutdated({ service }: Task, error: unknown): boolean {
    if (!isKubeError(error, "conflict")) return false;
    const { services, inputs } = this.#options;
    const newest = services.get(toKey(service));
    return newest === undefined || !isDeepStrictEqual(inputs(newest), inputs(service));
  }
}

/** Plans a load balancer, and says which Nodes it cannot use. */
function planSpec(
  observation: LoadBalancerObservation,
  { spec, nodes }: { readonly spec: LoadBalancerSpec; readonly nodes: NodeSet },
  { loadBalancers, usesNodes }: Pick<ServiceConvergenceOptions, "loadBalancers" | "usesNodes">,
): LoadBalancerPlan {
  const plan = loadBalancers.plan(observation, spec);
  const problems = usesNodes ? checkNodes(nodes) : [];
  return problems.length === 0 ? plan : { ...plan, problems: [...plan.problems, ...problems] };
}

/** What a plan without steps is for. */
function toUse({ kind }: Task, plan: LoadBalancerPlan): Use {
  if (findWaiting(plan) !== undefined) return "waiting";
  return kind === "release" ? kind : "step";
}

/** What prevents a load balancer. */
function findWaiting({ problems }: LoadBalancerPlan): LoadBalancerProblem | undefined {
  return problems.find(({ isWaiting = true }) => isWaiting);
}

function toAnnotations({
  annotations,
  record,
}: Pick<LoadBalancerPlan, "annotations" | "record">): NonNullable<ShownState["annotations"]> {
  return { ...annotations, ...(record !== undefined && { [RECORD]: record }) };
}
