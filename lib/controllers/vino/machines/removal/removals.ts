/**
 * The removal of machines of one Vino that are too many: which may go, and when nothing of them is left.
 * @module
 */
import { parseMachineName, toOwnerPrefix } from "../../../../cloud/capabilities/machines.ts";
import type { KnownMachine } from "../../placement/known.ts";
import type { Snapshot } from "../../placement/snapshot.ts";
import type { VinoRemoval } from "../../resource/vino.ts";
import {
  isDecisionNeeded,
  type Progress,
  type ProgressTracker,
} from "../steps/progress_tracker.ts";
import { type Assignment, type MachineTask, listForgotten, toRemovalTask } from "../steps/tasks.ts";
import type { ReconcileInput } from "../assignment.ts";
import type { MachineReconcilerOptions } from "../types.ts";
import { NeverComplete, describeLimit, isConfirmed, type Moment, RemovalLimit } from "./limit.ts";
import { GONE_POOLS } from "../../words.ts";
import { isGoneWithPool, readGonePools } from "./gone_pools.ts";

/** What {@linkcode Removals} need. */
interface RemovalsOptions extends Pick<
  MachineReconcilerOptions,
  "addresses" | "clock" | "findLimit" | "isNamespaceEnding" | "machineEvents" | "machines"
> {
  readonly tracker: Pick<ProgressTracker, "find" | "isWorking" | "sightings">;
}

/** What becomes of machines that are too many. */
interface RemovalDecision {
  /** Machines that are too many, and those of which only addresses are known. */
  readonly assignments: readonly Assignment[];
  /** Those of them that may be removed now, or that may be gone. */
  readonly tasks: readonly MachineTask[];
  /** Whether nothing is left to do but {@linkcode tasks}. */
  readonly isDrained: boolean;
}

/**
 * How far the end of a Vino is. `open`: something is left that must go, or machines are wanted. `unlisted`: a look
 * showed a machine that was made a moment ago, and that the next inventory brings. `unclear`: the machines stay, and
 * the cloud does not say which there are.
 */
type RemovalEnd = "open" | "unlisted" | "unclear" | "over";

/** Removes the machines of one Vino. */
export class Removals {
  readonly #options: RemovalsOptions;
  readonly #limit = new RemovalLimit();
  /** For the limit: to remove them is no harm. */
  readonly neverComplete: NeverComplete = new NeverComplete();

  constructor(options: RemovalsOptions) {
    this.#options = options;
  }

  /**
   * Why no more machines may go, by the limit of removals; no full stop. `undefined`: all may.
   *
   * @throws {KubeError} if the namespace of a Vino that is deleted cannot be read
   */
  async findLimit(
    input: ReconcileInput,
    snapshot: Snapshot,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { findLimit } = this.#options;
    this.#limit.load(input.vino.status?.removals ?? [], this.#now, findLimit());
    return await this.#findLimit(input, snapshot, signal);
  }

  /**
   * Decides about machines that are too many, and about what has only addresses.
   *
   * @param isHostGone Whether the host of a machine is proven gone
   * @throws {KubeError} if the owners of addresses cannot be read
   */
  async decide(
    { vino, deletes }: ReconcileInput,
    { owner, known, placement }: Snapshot,
    {
      limit,
      isHostGone,
    }: {
      readonly limit: string | undefined;
      readonly isHostGone: (machine: KnownMachine) => boolean;
    },
    signal: AbortSignal,
  ): Promise<RemovalDecision> {
    const question = { surplus: placement.surplus, deletes, limit, isHostGone };
    const gonePools = vino.metadata.annotations?.[GONE_POOLS];
    const toTask = (one: Assignment): MachineTask => toRemovalTask(owner, one, gonePools);
    const { assignments, tasks, isDrained } = decideRemovals(question, toTask);
    const holders = await this.#options.addresses.listHolders(vino, signal);
    const forgotten = listForgotten(owner, holders, { known, placement })
      .filter(({ name }) => !this.#options.tracker.sightings.isGone(name))
      .map((one) => ({ ...one, task: toTask(one) }));
    return {
      assignments: [...assignments, ...forgotten],
      tasks: [...tasks, ...forgotten.map(({ task }) => task)],
      isDrained,
    };
  }

  /**
   * Takes back the addresses of machines of which nothing is left, or whose pool is gone for good.
   *
   * @returns Whether there were any
   */
  async noteGone(
    { vino, deletes }: ReconcileInput,
    tasks: readonly MachineTask[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const { addresses, machineEvents, tracker } = this.#options;
    const pools = readGonePools(vino.metadata);
    const gone = tasks.flatMap((task) => {
      const progress = tracker.find(task.name);
      const isOpen = tracker.isWorking(task) || tracker.sightings.isGone(task.name);
      if (progress === undefined || isOpen) return [];
      const isForgotten = isGoneWithPool(progress.plan, pools);
      return isForgotten || isProvenGone(progress) ? [{ task, progress, isForgotten }] : [];
    });
    if (gone.length === 0) return false;
    await addresses.release(vino, new Set(gone.map(({ task }) => task.name)), signal);
    for (const { task, progress, isForgotten } of gone) {
      tracker.sightings.noteGone(task.name, progress.observedAtMs);
      if (!this.neverComplete.has(task.name)) this.#limit.noteRemoval(task.name, this.#now);
      const machine = { name: task.name, ...task.identity };
      if (isForgotten) machineEvents.recordForgotten(vino, machine);
      else if (deletes && task.known !== undefined) machineEvents.recordRemoved(vino, machine);
    }
    return true;
  }

  /** Machines that were removed within the window of the limit. */
  listRecent(): readonly VinoRemoval[] {
    const { clock, findLimit } = this.#options;
    return this.#limit.list(clock.monotonic(), findLimit());
  }

  /**
   * How far the end of a Vino is that wants no machines any more.
   *
   * @throws {CloudError} if the cloud cannot answer
   */
  async findEnd(
    { desired, deletes }: ReconcileInput,
    { owner }: Pick<Snapshot, "owner">,
    { tasks, isDrained }: RemovalDecision,
    signal: AbortSignal,
  ): Promise<RemovalEnd> {
    if (desired !== undefined) return "open";
    const open = tasks.filter((task) => !this.#isSettled(task, deletes));
    const isUnclear = open.length > 0 && open.every((task) => this.#isUnclear(task));
    if (isUnclear && !deletes) return "unclear";
    if (open.length > 0 || !isDrained) return "open";
    if (!deletes) return "over";
    const { machines } = await this.#options.machines.observe({ isForChange: true }, signal);
    const prefix = toOwnerPrefix(owner);
    const isShown = [...machines.keys()].some(
      (name) => parseMachineName(name)?.ownerPrefix === prefix,
    );
    return isShown ? "unlisted" : "over";
  }

  /** Whether nothing of a machine is left, or what is left stays. */
  #isSettled({ name }: MachineTask, deletes: boolean): boolean {
    const { tracker } = this.#options;
    const progress = tracker.find(name);
    return tracker.sightings.isGone(name) || (!deletes && isDecisionNeeded(progress));
  }

  /** Whether the cloud cannot say what there is of a machine. */
  #isUnclear({ name }: MachineTask): boolean {
    const { failure, plan } = this.#options.tracker.find(name) ?? {};
    return plan?.state === "Unknown" || failure?.kind === "retry";
  }

  get #now(): Moment {
    const { clock } = this.#options;
    return { monotonicMs: clock.monotonic(), wallMs: clock.now() };
  }

  /** Why machines that are too many must stay, although the Vino deletes them. */
  async #findLimit(
    { vino: { metadata }, desired, deletes }: ReconcileInput,
    { known, placement: { surplus } }: Snapshot,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (!deletes) return undefined;
    const listCounted = (machines: readonly KnownMachine[]): string[] =>
      machines.map(({ name }) => name).filter((name) => !this.neverComplete.has(name));
    const question = {
      known: listCounted(known),
      surplus: listCounted(surplus),
      nowMs: this.#options.clock.monotonic(),
    };
    const { findLimit, isNamespaceEnding } = this.#options;
    const reading = this.#limit.read(question, findLimit());
    if (surplus.length === 0 || !reading.isExceeded || isConfirmed(metadata)) return undefined;
    const isEnd = desired === undefined;
    // Who deletes the namespace has decided about all that is in it.
    if (isEnd && (await isNamespaceEnding(metadata.namespace ?? "", signal))) return undefined;
    return describeLimit(reading, metadata, isEnd);
  }
}

/** Whether a look proved that nothing of a machine is left. @param progress Of its removal */
export function isProvenGone(progress: Progress | undefined): progress is Progress {
  if (progress === undefined) return false;
  const { state, steps, problems, needsLook = false } = progress.plan;
  return state === "Absent" && steps.length === 0 && problems.length === 0 && !needsLook;
}

/** What the status says about a machine that stays, because the Vino deletes none. */
export const KEPT_MESSAGE =
  "The spec does not want it any more. It stays in the cloud, because deletionPolicy is Retain";
/** What the status says about a machine of which nothing more is known when its Vino ends. */
const UNSEEN_MESSAGE =
  "The cloud does not show it now. If it exists, it stays there with its addresses, because deletionPolicy is Retain";
const LIMITED_MESSAGE = "It is not wanted any more. A person must confirm its removal";

/** What is known about the machines that are too many. */
export interface RemovalInput {
  readonly surplus: readonly KnownMachine[];
  /** Whether the host of a machine is proven gone. */
  readonly isHostGone: (machine: KnownMachine) => boolean;
  readonly deletes: boolean;
  /** Why none of them may go; no full stop. */
  readonly limit: string | undefined;
  /** Whether the Vino goes on without the cloud: then all machines stay. @default {false} */
  readonly isWithoutCloud?: boolean;
}

/** Decides about machines that are too many. @param toTask Makes the task to remove one */
export function decideRemovals(
  { surplus, isHostGone, deletes, limit, isWithoutCloud = false }: RemovalInput,
  toTask: (assignment: Assignment) => MachineTask,
): RemovalDecision {
  const assignments = surplus.map((known): Assignment => {
    const { name, role, index, hostId } = known;
    const place = { name, role, index, ...(hostId !== undefined && { hostId }) };
    const base: Assignment = { ...place, known, isWanted: false };
    if (limit !== undefined && !known.isRemoving) return { ...base, heldBy: LIMITED_MESSAGE };
    if (isWithoutCloud) return { ...base, keptBecause: UNSEEN_MESSAGE };
    // What the cloud does not show has addresses, which are free when nothing is there.
    if (deletes || known.machine === undefined) return { ...base, task: toTask(base) };
    return { ...base, keptBecause: KEPT_MESSAGE };
  });
  const free = assignments.filter(
    ({ known, heldBy }) => heldBy === undefined && known !== undefined && isHostGone(known),
  );
  return {
    assignments,
    tasks: free.flatMap(({ task }) => task ?? []),
    isDrained: free.length === assignments.length,
  };
}
