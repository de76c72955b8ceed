/**
 * Reconciles one machine: observes it, and makes the next steps of its plan.
 *
 * What it is to become, its Vino decides, which hands it over when it is due, together with others: so one observation
 * serves many.
 * @module
 */
import {
  listNextSteps,
  type MachinePlan,
  type MachineSeed,
  type MachineStep,
} from "../../../cloud/capabilities/machines.ts";
import { RefusedMachineError } from "../../../cloud/capabilities/refused_errors.ts";
import { startDeadline } from "../../../core/clock.ts";
import { LeadershipLostError } from "../../../core/fence.ts";
import type { ReconcileResult } from "../../../engine/workers.ts";
import { type StoreReader, toKey } from "../../../kube/cache/store.ts";
import { describeCause } from "../../kinds/problems.ts";
import { describeForeign } from "../hosts/plan.ts";
import { toHostName } from "../hosts/names.ts";
import type { Vino } from "../resource/vino.ts";
import { findForeignHost, findHostUse } from "./publish_hosts.ts";
import type { Progress, StepFailure } from "./steps/progress_tracker.ts";
import type { MachineReconcilerOptions } from "./types.ts";
import { describeForeign as describeForeignObject, isReleased } from "./vino_machines.ts";
import type { MachineWork, WorkKey, WorkList } from "./work_list.ts";

/** What a {@linkcode MachineReconciler} needs. */
interface ReconcilerOptions extends Pick<
  MachineReconcilerOptions,
  "clock" | "fence" | "hosts" | "machineEvents" | "machines" | "objects" | "readSeed"
> {
  readonly vinoes: Pick<StoreReader<Vino>, "get">;
  readonly work: WorkList;
}

/** A step has a deadline of its own; this one only ends what ignores it. */
const STEP_TIMEOUT_MS = 1_800_000;

/** Reconciles machines that are handed over. */
export class MachineReconciler {
  readonly #options: ReconcilerOptions;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  /** Does what can be done now for a machine. @throws {LeadershipLostError} if this process does not lead */
  async reconcile(key: WorkKey, signal: AbortSignal): Promise<ReconcileResult> {
    const { work } = this.#options;
    const found = work.find(key);
    if (found === undefined) return {};
    try {
      await new MachinePass(key, found, this.#options).run(signal);
    } finally {
      work.end(key, found);
    }
    return {};
  }
}

/** What there is to do for a machine. */
interface Observation {
  readonly plan: MachinePlan;
  /** A complete machine that does not exist any more, and that Landfall did not remove. */
  readonly vanished?: { readonly id: string; readonly use: string | undefined };
  /** Why nothing may be done now; a sentence without a full stop. */
  readonly obstacle?: string;
}

/** The work on one machine: an observation, and the steps that are made without another one between them. */
class MachinePass {
  readonly #key: WorkKey;
  readonly #work: MachineWork;
  readonly #options: ReconcilerOptions;
  /** The step that is being made. */
  #step: MachineStep | undefined;

  constructor(key: WorkKey, work: MachineWork, options: ReconcilerOptions) {
    this.#key = key;
    this.#work = work;
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      if (this.#isOver) return;
      await this.#announce(signal);
      const observation = await this.#observe(signal);
      if (!this.#isOver) await this.#follow(observation, signal);
    } catch (error) {
      if (signal.aborted || error instanceof LeadershipLostError) throw error;
      this.#fail(error);
    }
  }

  /** Nothing is done any more once the Vino is not as the decision knew it, or if others cannot go on either. */
  get #isOver(): boolean {
    const { input, group } = this.#work;
    const { uid, generation } = input.vino.metadata;
    const now = this.#options.vinoes.get(toKey(input.vino))?.metadata;
    return now?.uid !== uid || now?.generation !== generation || group.hasFailed;
  }

  /** A machine that goes is soon not whole any more, which another process must know. A Vino that ends stays so. */
  async #announce(signal: AbortSignal): Promise<void> {
    const { input, task } = this.#work;
    if (task.goal.kind === "exist" || input.desired === undefined || !task.known) return;
    await this.#options.objects.noteRemoving(input.vino, task, signal);
  }

  async #observe(signal: AbortSignal): Promise<Observation> {
    const { task, group, input } = this.#work;
    const { objects, work } = this.#options;
    const view = await work.observation.observe(this.#key, task.identity, signal);
    const { text } = objects.record(input.vino, task);
    const { plan } = group.tracker.look(task, view, text);
    if (plan.steps.length === 0) return { plan };
    // Only a machine that is not complete reads a seed.
    const needsSeed = task.goal.kind === "exist" && plan.machine?.isComplete !== true;
    const seed = needsSeed ? await this.#readSeed(signal) : undefined;
    if (seed === FAILED) return { plan: { ...plan, steps: [] } };
    const next = seed === undefined ? plan : group.tracker.look(task, view, text, seed).plan;
    return { plan: next, ...this.#judge(next) };
  }

  async #follow(observation: Observation, signal: AbortSignal): Promise<void> {
    const { plan, obstacle: message } = observation;
    this.#noteVanished(observation);
    if (message !== undefined) this.#noteFailure({ kind: "decision", message });
    else if (plan.steps.length > 0) await this.#makeSteps(plan, signal);
    this.#recordFailure();
    this.#work.group.noteAnswer();
  }

  async #makeSteps(plan: MachinePlan, signal: AbortSignal): Promise<void> {
    const { clock, machines, objects, fence } = this.#options;
    const { task, group, input } = this.#work;
    fence.check();
    group.noteSteps(task, plan);
    using deadline = startDeadline(signal, STEP_TIMEOUT_MS, clock);
    for (const step of listNextSteps(plan)) {
      this.#step = step;
      const record = objects.record(input.vino, task);
      await machines.apply(step, { record, fence }, deadline.signal);
      this.#record(step, plan);
    }
    this.#step = undefined;
    group.tracker.noteStep(task.name);
  }

  /**
   * A machine whose step failed waits by itself; others go on, unless they cannot either. What failed for another spec
   * says nothing: it is tried again for this one.
   */
  #fail(error: unknown): void {
    const { group } = this.#work;
    if (this.#step !== undefined && this.#options.machines.mayGoOn(error)) {
      this.#noteFailure(toFailure(this.#step, error));
      this.#recordFailure();
      group.noteAnswer();
    } else if (!this.#isOver) group.fail(error);
  }

  get #progress(): Progress | undefined {
    const { task, group } = this.#work;
    return group.tracker.find(task.name);
  }

  async #readSeed(signal: AbortSignal): Promise<MachineSeed | undefined | typeof FAILED> {
    const { input, task } = this.#work;
    try {
      return await this.#options.readSeed(input.vino, task, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#noteFailure({ kind: "retry", message: describeCause(error) });
      return FAILED;
    }
  }

  /** What stands in the way of the next steps. */
  #judge(plan: MachinePlan): Pick<Observation, "obstacle" | "vanished"> {
    const { task } = this.#work;
    const stop = this.#findPlaceTaken();
    if (stop !== undefined) return { obstacle: stop };
    if (task.goal.kind === "remove") return this.#judgeRemoval(plan);
    return plan.state === "Absent" ? this.#judgeCreation(plan) : {};
  }

  /** Why the record of the machine has no place. */
  #findPlaceTaken(): string | undefined {
    const { input, task } = this.#work;
    const other = this.#options.objects.findForeign(input.vino, task.identity);
    if (other === undefined) return undefined;
    const isLeft = isReleased(other);
    // Of a Vino that ends, what a machine needs is kept in memory.
    const isEnd =
      task.goal.kind === "remove" && input.vino.metadata.deletionTimestamp !== undefined;
    if (isLeft && isEnd) return undefined;
    const why = "Landfall keeps there what it must know about the machine after a restart";
    const advice = isLeft
      ? "Landfall goes on with the machine when that object is gone"
      : "Delete that object if nothing needs it, or give this Vino another name";
    return `${describeForeignObject(other)}. ${why}. ${advice}`;
  }

  #judgeRemoval(plan: MachinePlan): Pick<Observation, "obstacle"> {
    const takesData = listNextSteps(plan).some(
      ({ isQuestion, isCleanup }) => isQuestion !== true && isCleanup !== true,
    );
    return takesData && !this.#work.input.deletes ? { obstacle: LEFT_MESSAGE } : {};
  }

  #judgeCreation({ vanishedId }: MachinePlan): Pick<Observation, "obstacle" | "vanished"> {
    const { hosts } = this.#options;
    const { input, task } = this.#work;
    const { vino } = input;
    const taken = findForeignHost(hosts, vino, task.identity);
    if (taken !== undefined && !taken.isDeleting) {
      const advice = "delete that BareMetalHost if nothing uses it, or give this Vino another name";
      const what = `${describeForeign(taken)}. Landfall makes no machine that it cannot publish`;
      return { obstacle: `${what}: ${advice}` };
    }
    const found = findHostUse(hosts, vino, task.identity);
    const host = toHostName({ vino: vino.metadata.name, ...task.identity });
    const use = found === undefined ? undefined : `BareMetalHost ${host} ${found}`;
    const { state, machineId = "" } = task.known?.entry ?? {};
    // Its object may have lost what it said of the machine, if others had to be made before it.
    const id = vanishedId ?? (state === "Ready" ? machineId : undefined);
    const vanished = id === undefined ? {} : { vanished: { id, use } };
    if (use === undefined) return vanished;
    const advice = "Delete what uses the host. Then Landfall makes the machine again";
    return { ...vanished, obstacle: `The machine does not exist any more. ${use}. ${advice}` };
  }

  #noteVanished({ vanished }: Observation): void {
    const { input, task, group } = this.#work;
    if (vanished === undefined || !group.tracker.noteVanished(task.name, vanished.id)) return;
    const machine = { name: task.name, ...task.identity };
    this.#options.machineEvents.recordVanished(input.vino, machine, vanished.use);
  }

  #noteFailure(failure: StepFailure): void {
    const { task, group } = this.#work;
    group.tracker.noteFailure(task.name, failure);
  }

  /** An Event for what was made. */
  #record({ summary, isNews }: MachineStep, { state }: MachinePlan): void {
    if (isNews !== true) return;
    const { machineEvents } = this.#options;
    const { input, task } = this.#work;
    const machine = { name: task.name, ...task.identity };
    const isNew = task.goal.kind === "exist" && state === "Absent";
    if (isNew) machineEvents.recordCreated(input.vino, machine);
    else machineEvents.recordChanged(input.vino, machine, summary);
  }

  /** An Event for what makes the machine wait for another try. */
  #recordFailure(): void {
    const failure = findFailure(this.#progress);
    if (failure === undefined) return;
    const { clock, machineEvents } = this.#options;
    const { input, task } = this.#work;
    const { message, retryMs } = failure;
    const machine = { name: task.name, ...task.identity };
    const retryInMs = retryMs - clock.monotonic();
    machineEvents.recordFailed(input.vino, machine, { message, retryInMs });
  }
}

/** Why a removal that only frees addresses does not go on. */
const LEFT_MESSAGE =
  "The cloud still has something of the machine. Landfall keeps it, because deletionPolicy is Retain. " +
  "Delete it in the cloud if you do not need its data, or set deletionPolicy to Delete";

const FAILED = Symbol("failed");

/** Landfall tries again in any case; but some refusals only a person can end. */
function toFailure({ summary }: MachineStep, error: unknown): StepFailure {
  // A refusal says by itself what was asked for.
  const refusal = error instanceof RefusedMachineError ? error.problem : undefined;
  return {
    kind: refusal?.kind === "decision" ? "decision" : "retry",
    message: refusal?.message ?? `Cannot ${summary}: ${describeCause(error)}`,
  };
}

/** Why a machine that was observed must wait for another try. A lost pool is no failure of a machine. */
function findFailure(
  progress: Progress | undefined,
): { readonly message: string; readonly retryMs: number } | undefined {
  if (progress === undefined) return undefined;
  const { failure, plan, retryMs } = progress;
  if (failure !== undefined) {
    return failure.kind === "retry" ? { message: failure.message, retryMs } : undefined;
  }
  if (plan.steps.length > 0 || plan.state === "Unknown") return undefined;
  const problem = plan.problems.find(({ kind }) => kind === "retry");
  return problem && { message: problem.message, retryMs };
}
