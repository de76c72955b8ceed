/**
 * Reconciles one machine: observes it, makes the next steps of its plan, publishes it, and says in its object and in
 * Events how it is.
 *
 * What it is to become, its Vino decides, which hands it over when something is due, together with others: so one
 * observation serves many.
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
import type { HostRequest, Published } from "../hosts/publish/host_publisher.ts";
import { reportMachine } from "../status/machine_status.ts";
import type { Assignment, MachineTask } from "./steps/tasks.ts";
import {
  findForeignHost,
  findHostUse,
  findOwnHost,
  findWantedHost,
  toHostRequest,
} from "./publish_hosts.ts";
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

  /**
   * Does what can be done now for a machine.
   *
   * @param detach Gives the worker back before steps, which may take long
   * @throws {LeadershipLostError} if this process does not lead
   */
  async reconcile(
    key: WorkKey,
    signal: AbortSignal,
    detach: () => void = () => undefined,
  ): Promise<ReconcileResult> {
    const { work } = this.#options;
    const found = work.find(key);
    if (found === undefined) return {};
    if (found.mayStep) detach();
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

/** The work on one machine: an observation, its host and its object, and the steps that need no other one. */
class MachinePass {
  readonly #key: WorkKey;
  readonly #work: MachineWork;
  readonly #options: ReconcilerOptions;
  readonly #machine: Assignment;
  /** The step that is being made. */
  #step: MachineStep | undefined;

  constructor(key: WorkKey, work: MachineWork, options: ReconcilerOptions) {
    this.#key = key;
    this.#work = work;
    this.#options = options;
    this.#machine = work.assignment;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { mayStep, group, assignment } = this.#work;
    try {
      if (this.#isOver) return;
      const isDue = mayStep && !group.hasFailed;
      const task = isDue ? assignment.task : undefined;
      const plan = task && (await this.#look(task, signal));
      if (this.#isOver) return;
      const isFree = this.#isBegunBy(plan) || (await this.#settle(signal));
      if (task === undefined || plan === undefined) return;
      if (isFree && plan.steps.length > 0 && !this.#isOver && !group.hasFailed) {
        if (!(await this.#makeSteps(task, plan, signal))) await this.#settle(signal);
      }
      group.noteAnswer();
    } catch (error) {
      if (signal.aborted || error instanceof LeadershipLostError) throw error;
      const isOfMachine = this.#options.objects.isHeld(this.#work.input.vino, assignment);
      if (!isOfMachine && !this.#isOver) group.fail(error);
    }
  }

  /** Whether the record of the first step says all that is new: the object says nothing else of the machine. */
  #isBegunBy(plan: MachinePlan | undefined): boolean {
    const { assignment, input } = this.#work;
    const { state = "Absent" } = this.#options.objects.find(input.vino, assignment)?.status ?? {};
    const isNew = plan?.state === "Absent" && plan.steps.length > 0;
    return isNew && assignment.isWanted && state === "Absent";
  }

  /** Nothing is done any more once the Vino is not as the decision knew it. */
  get #isOver(): boolean {
    const { input } = this.#work;
    const { uid, generation } = input.vino.metadata;
    const now = this.#options.vinoes.get(toKey(input.vino))?.metadata;
    return now?.uid !== uid || now?.generation !== generation;
  }

  /** @returns The plan, without steps if something stands in their way */
  async #look(task: MachineTask, signal: AbortSignal): Promise<MachinePlan> {
    const observation = await this.#observe(task, signal);
    const { plan, obstacle: message } = observation;
    this.#noteVanished(observation);
    if (message === undefined) {
      if (plan.steps.length === 0) this.#recordFailure();
      return plan;
    }
    this.#noteFailure({ kind: "decision", message });
    return { ...plan, steps: [] };
  }

  /**
   * Brings the host and the object to what is known of the machine, and records what is new.
   *
   * @returns Whether no host is in the way of steps
   */
  async #settle(signal: AbortSignal): Promise<boolean> {
    const { assignment, input, basis, group } = this.#work;
    const { clock, hosts, objects, machineEvents } = this.#options;
    const { vino } = input;
    const published = await this.#handleHost(signal);
    const { outcome, againMs = Infinity } = published ?? {};
    const report = reportMachine({
      work: this.#work,
      progress: this.#progress,
      outcome,
      host: findOwnHost(hosts, vino, this.#machine),
      now: { monotonicMs: clock.monotonic(), wallMs: clock.now() },
    });
    if (report !== undefined) {
      const before = await objects.report(vino, report, signal);
      machineEvents.recordChange(vino, report, before);
    }
    group.noteDone(this.#machine.name, basis, againMs);
    return assignment.isWanted || assignment.known === undefined || outcome?.state === "Gone";
  }

  /** Publishes a complete machine, or takes the host back of one that goes. */
  async #handleHost(signal: AbortSignal): Promise<Published | undefined> {
    const { hosts } = this.#options;
    const { assignment } = this.#work;
    const { vino } = this.#work.input;
    const { isWanted, known, task, heldBy } = assignment;
    if (heldBy !== undefined) return undefined;
    if (!isWanted && known !== undefined) return await hosts.remove(this.#toHostRequest(), signal);
    const plan = this.#progress?.plan;
    if (!isWanted || task === undefined || plan === undefined) return undefined;
    const isNew = findOwnHost(hosts, vino, this.#machine) === undefined;
    const wanted = findWantedHost(task, plan, this.#work, isNew);
    return wanted && (await hosts.publish(this.#toHostRequest(), wanted, signal));
  }

  #toHostRequest(): HostRequest {
    const { input, snapshot } = this.#work;
    const object = this.#options.objects.find(input.vino, this.#machine);
    const said = object?.status?.bareMetalHost;
    const request = toHostRequest(input.vino, snapshot.owner, this.#machine, said);
    return { ...request, isWithoutCloud: input.isWithoutCloud === true };
  }

  async #observe(task: MachineTask, signal: AbortSignal): Promise<Observation> {
    const { group, input } = this.#work;
    const { objects, work } = this.#options;
    const view = await work.observation.observe(this.#key, task.identity, signal);
    const text = objects.readText(input.vino, { name: task.name, ...task.identity });
    const { plan } = group.tracker.look(task, view, text);
    if (plan.steps.length === 0) return { plan };
    // Only a machine that is not complete reads a seed.
    const needsSeed = task.goal.kind === "exist" && plan.machine?.isComplete !== true;
    const seed = needsSeed ? await this.#readSeed(task, signal) : undefined;
    if (seed === FAILED) return { plan: { ...plan, steps: [] } };
    const next = seed === undefined ? plan : group.tracker.look(task, view, text, seed).plan;
    return { plan: next, ...this.#judge(task, next) };
  }

  /**
   * A machine whose step failed waits by itself; others go on, unless they cannot either. What failed for another spec
   * says nothing: it is tried again for this one.
   *
   * @returns Whether no step failed
   */
  async #makeSteps(task: MachineTask, plan: MachinePlan, signal: AbortSignal): Promise<boolean> {
    const { clock, machines, objects, fence } = this.#options;
    const { group, input, snapshot } = this.#work;
    const host = snapshot.view.hosts.find(({ id }) => id === task.hostId);
    fence.check();
    group.noteSteps(task, plan);
    using deadline = startDeadline(signal, STEP_TIMEOUT_MS, clock);
    try {
      for (const step of listNextSteps(plan)) {
        this.#step = step;
        const record = objects.record(input.vino, task, host?.name);
        await machines.apply(step, { record, fence }, deadline.signal);
        this.#record(task, step, plan);
      }
      this.#step = undefined;
      group.tracker.noteStep(task.name);
    } catch (error) {
      const step = this.#step;
      const isLost = signal.aborted || error instanceof LeadershipLostError;
      if (isLost || step === undefined || !machines.mayGoOn(error)) throw error;
      this.#noteFailure(toFailure(step, error));
    }
    this.#recordFailure();
    return this.#progress?.failure === undefined;
  }

  get #progress(): Progress | undefined {
    return this.#work.group.tracker.find(this.#machine.name);
  }

  async #readSeed(
    task: MachineTask,
    signal: AbortSignal,
  ): Promise<MachineSeed | undefined | typeof FAILED> {
    try {
      return await this.#options.readSeed(this.#work.input.vino, task, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#noteFailure({ kind: "retry", message: describeCause(error) });
      return FAILED;
    }
  }

  /** What stands in the way of the next steps. */
  #judge(task: MachineTask, plan: MachinePlan): Pick<Observation, "obstacle" | "vanished"> {
    const stop = this.#findPlaceTaken(task);
    if (stop !== undefined) return { obstacle: stop };
    if (task.goal.kind === "remove") return this.#judgeRemoval(plan);
    return plan.state === "Absent" ? this.#judgeCreation(task, plan) : {};
  }

  /** Why the record of the machine has no place. */
  #findPlaceTaken(task: MachineTask): string | undefined {
    const { input } = this.#work;
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

  #judgeCreation(
    task: MachineTask,
    { vanishedId }: MachinePlan,
  ): Pick<Observation, "obstacle" | "vanished"> {
    const { hosts } = this.#options;
    const { vino } = this.#work.input;
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
    const { input, group } = this.#work;
    if (vanished === undefined || !group.tracker.noteVanished(this.#machine.name, vanished.id))
      return;
    this.#options.machineEvents.recordVanished(input.vino, this.#machine, vanished.use);
  }

  #noteFailure(failure: StepFailure): void {
    this.#work.group.tracker.noteFailure(this.#machine.name, failure);
  }

  /** An Event for what was made. */
  #record(task: MachineTask, { summary, isNews }: MachineStep, { state }: MachinePlan): void {
    if (isNews !== true) return;
    const { machineEvents } = this.#options;
    const { vino } = this.#work.input;
    const isNew = task.goal.kind === "exist" && state === "Absent";
    if (isNew) machineEvents.recordCreated(vino, this.#machine);
    else machineEvents.recordChanged(vino, this.#machine, summary);
  }

  /** An Event for what makes the machine wait for another try. */
  #recordFailure(): void {
    const failure = findFailure(this.#progress);
    if (failure === undefined) return;
    const { clock, machineEvents } = this.#options;
    const { message, retryMs } = failure;
    const retryInMs = retryMs - clock.monotonic();
    machineEvents.recordFailed(this.#work.input.vino, this.#machine, { message, retryInMs });
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
