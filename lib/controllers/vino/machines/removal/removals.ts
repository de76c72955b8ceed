/**
 * The removal of machines of one Vino that are too many: which may go, and when nothing of them is left.
 * @module
 */
import { parseMachineName, toOwnerPrefix } from "../../../../cloud/capabilities/machines.ts";
import type { KnownMachine } from "../../placement/known.ts";
import type { Snapshot } from "../../placement/snapshot.ts";
import type { VinoRemoval } from "../../resource/vino.ts";
import type { HostsPass } from "../publish_hosts.ts";
import type { Progress, ProgressTracker } from "../steps/progress_tracker.ts";
import type { MachineTask } from "../steps/tasks.ts";
import { listForgotten, toRemovalTask } from "../steps/tasks.ts";
import type { MachineReconcilerOptions, ReconcileInput } from "../types.ts";
import { decideRemovals, type RemovalDecision } from "./decision.ts";
import { NeverComplete } from "./never_complete.ts";
import { GONE_POOLS } from "../../words.ts";
import { isGoneWithPool, readGonePools } from "./lost_pool.ts";
import { describeLimit, isConfirmed, type Moment, RemovalLimit } from "./limit.ts";

/** What {@linkcode Removals} need. */
interface RemovalsOptions extends Pick<
  MachineReconcilerOptions,
  "addresses" | "clock" | "findLimit" | "isNamespaceEnding" | "machineEvents" | "machines"
> {
  readonly tracker: Pick<ProgressTracker, "find" | "isWorking" | "sightings">;
}

/** Machines that are too many and whose BareMetalHosts must go. */
interface Leaving {
  readonly machines: readonly KnownMachine[];
  /** Why none of the others may go; no full stop. Absent: they are all of them. */
  readonly limit: string | undefined;
}

/** What is to be removed from the cloud. */
export interface RemovalTasks {
  readonly decision: RemovalDecision;
  /** Machines that are too many, without a BareMetalHost. */
  readonly surplus: readonly MachineTask[];
  /** These, and machines that have addresses and of which nothing else is known. */
  readonly all: readonly MachineTask[];
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
   * Which of the machines that are too many must go, by the limit of removals.
   *
   * @throws {KubeError} if the namespace of a Vino that is deleted cannot be read
   */
  async findLeaving(
    input: ReconcileInput,
    snapshot: Snapshot,
    signal: AbortSignal,
  ): Promise<Leaving> {
    const { surplus } = snapshot.placement;
    const { findLimit } = this.#options;
    this.#limit.load(input.vino.status?.removals ?? [], this.#now, findLimit());
    const limit = await this.#findLimit(input, snapshot, signal);
    if (limit === undefined) return { machines: surplus, limit };
    return { machines: surplus.filter((one) => one.isRemoving), limit };
  }

  /**
   * The tasks to remove machines whose hosts are gone, and what has only addresses.
   *
   * @throws {KubeError} if the owners of addresses cannot be read
   */
  async listTasks(
    { vino, deletes }: ReconcileInput,
    { owner, known, placement }: Snapshot,
    { limit, hosts }: Pick<Leaving, "limit"> & { readonly hosts: HostsPass },
    signal: AbortSignal,
  ): Promise<RemovalTasks> {
    const question = { surplus: placement.surplus, outcomes: hosts.unwanted, deletes, limit };
    const decision = decideRemovals(question);
    const surplus = decision.removable.map((one) => toRemovalTask(owner, one));
    const holders = await this.#options.addresses.listHolders(vino, signal);
    const { sightings } = this.#options.tracker;
    const gonePools = vino.metadata.annotations?.[GONE_POOLS];
    const toTask = (task: MachineTask): MachineTask =>
      gonePools === undefined ? task : { ...task, goal: { kind: "remove", gonePools } };
    const forgotten = listForgotten(owner, holders, { known, placement }).filter(
      ({ name }) => !sightings.isGone(name),
    );
    return {
      decision,
      surplus: surplus.map(toTask),
      all: [...surplus, ...forgotten].map(toTask),
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
    { decision, all }: RemovalTasks,
    signal: AbortSignal,
  ): Promise<RemovalEnd> {
    if (desired !== undefined) return "open";
    const open = all.filter((task) => !this.isSettled(task, deletes));
    const isUnclear = open.length > 0 && open.every((task) => this.#isUnclear(task));
    if (isUnclear && !deletes) return "unclear";
    if (open.length > 0 || !decision.isDrained) return "open";
    if (!deletes) return "over";
    const { machines } = await this.#options.machines.observe({ isForChange: true }, signal);
    const prefix = toOwnerPrefix(owner);
    const isShown = [...machines.keys()].some(
      (name) => parseMachineName(name)?.ownerPrefix === prefix,
    );
    return isShown ? "unlisted" : "over";
  }

  /** Whether nothing of a machine is left, or what is left stays. */
  isSettled({ name }: MachineTask, deletes: boolean): boolean {
    const { tracker } = this.#options;
    if (tracker.sightings.isGone(name)) return true;
    const { failure, plan } = tracker.find(name) ?? {};
    const isBlocked = plan?.problems.some(({ kind }) => kind === "decision") === true;
    return !deletes && (failure?.kind === "decision" || isBlocked);
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
