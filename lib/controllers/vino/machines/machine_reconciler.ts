/**
 * Reconciles the machines of one Vino: brings them one step further each time, with their addresses and BareMetalHosts.
 * @module
 */
import { parseMachineName, toOwnerPrefix } from "../../../cloud/capabilities/machines.ts";
import { toHostName } from "../hosts/names.ts";
import type { KnownMachine } from "../placement/known.ts";
import { takeSnapshot, type Snapshot, type SnapshotResult } from "../placement/snapshot.ts";
import type { Addresses } from "../addresses/types.ts";
import { makeReport } from "../status/machines_report.ts";
import type { MachinesReport } from "../status/outcome.ts";
import { ProgressTracker, type MachineTask } from "./steps/progress_tracker.ts";
import type { ReconcileContext, MachineReconcilerOptions, ReconcileInput } from "./types.ts";
import { publishMachines } from "./publish_hosts.ts";
import { describeLimit, isConfirmed, RemovalLimit } from "./removal/limit.ts";
import { decideRemovals } from "./removal/decision.ts";
import { MachineRounds } from "./steps/rounds.ts";
import { findHostUse } from "./host_use.ts";
import { toOwner } from "./steps/spec.ts";
import { listStrays, toMachineRequests, toRemovalTask, toWantedTasks } from "./steps/tasks.ts";

/** What a round came to. */
export type MachinesResult =
  | Extract<SnapshotResult, { kind: "refused" }>
  /** Something changed meanwhile: look again at once. */
  | { readonly kind: "again" }
  | {
      readonly kind: "done";
      readonly report: MachinesReport;
      /** Whether to go on at once. */
      readonly isMoving: boolean;
      /** Whether machines are proven gone, so that the status must lose them at once. */
      readonly hasGone: boolean;
      /** Whether nothing is wanted, and nothing is left that must go. */
      readonly isOver: boolean;
      /** When something is due, in milliseconds from now; `Infinity`: when something changes. */
      readonly nextMs: number;
    };

const AGAIN: MachinesResult = { kind: "again" };
/** When to look again at a Vino of which a look showed a machine that no inventory has shown. */
const RECHECK_MS = 5_000;
const NO_ADDRESSES: Addresses = { machines: new Map(), problems: new Map(), notices: [] };

/** Reconciles the machines of one Vino. Remembers what it saw until it is forgotten. */
export class MachineReconciler {
  readonly #options: MachineReconcilerOptions;
  readonly #tracker: ProgressTracker;
  readonly #rounds: MachineRounds;
  readonly #limit = new RemovalLimit();
  /** Machines that are proven gone, with the time of the look that proved it. */
  readonly #gone = new Map<string, number>();
  /** What the last round found. */
  #last: Snapshot | undefined;

  constructor(options: MachineReconcilerOptions) {
    this.#options = options;
    this.#tracker = new ProgressTracker(options);
    this.#rounds = new MachineRounds({ ...options, tracker: this.#tracker });
  }

  /** Whether looks for a change are newer than the last inventory. */
  get isAhead(): boolean {
    return this.#tracker.isNewerThan(this.#last?.view.observedAtMs ?? -Infinity);
  }

  /**
   * Does what can be done at once, and at most one step for each machine.
   *
   * @throws {CloudError} if the cloud cannot answer, {@linkcode KubeError} if Kubernetes does not
   */
  async advance(input: ReconcileInput, context: ReconcileContext): Promise<MachinesResult> {
    const { clock } = this.#options;
    const { signal } = context;
    const result = await this.#takeSnapshot(input, signal);
    if (result.kind === "refused") return result;
    const { snapshot } = result;
    this.#last = snapshot;
    const addresses = await this.#assign(input, snapshot, signal);
    const { tasks, idle } = this.#toWanted(input, snapshot, addresses);
    this.#review(tasks, snapshot, context);
    const limit = this.#findLimit(input, snapshot);
    const { surplus } = snapshot.placement;
    const leaving = limit === undefined ? surplus : surplus.filter((one) => one.isRemoving);
    if (this.#takesHosts(leaving, input) && !(await context.confirm())) return AGAIN;
    const pass = await publishMachines(
      {
        vino: input.vino,
        snapshot,
        desired: input.desired,
        addresses,
        tasks,
        leaving,
        tracker: this.#tracker,
      },
      this.#options.hosts,
      signal,
    );
    const decision = decideRemovals({
      surplus,
      outcomes: pass.unwanted,
      deletes: input.deletes,
      limit,
    });
    const removals = decision.removable.map((known) => toRemovalTask(snapshot.owner, known));
    const strays = await this.#listStrays(input, snapshot, signal);
    this.#review([...removals, ...strays], snapshot, context);
    const all = [...tasks, ...removals, ...strays];
    this.#tracker.keepOnly(new Set(all.map(({ name }) => name)));
    const toReport = (): MachinesReport =>
      makeReport({
        snapshot,
        roles: input.desired?.roles,
        addresses,
        wanted: tasks,
        idle,
        removals,
        decision,
        hosts: new Map([...pass.unwanted, ...pass.published]),
        tracker: this.#tracker,
        isGone: (name) => this.#gone.has(name),
      });
    const isMoving = await this.#rounds.run(input, { tasks: all, toReport }, context);
    this.#noteBack(tasks);
    const hasGone = await this.#noteGone(input, [...removals, ...strays], signal);
    const dueMs = all.map(({ name }) => this.#tracker.find(name)?.dueMs ?? Infinity);
    const nextMs = Math.min(pass.againMs, ...dueMs.map((ms) => ms - clock.monotonic()));
    const isLeft = [...removals, ...strays].some((task) => !this.#isSettled(task, input));
    const isDone = input.desired === undefined && decision.isDrained && !isLeft;
    const isOver = isDone && !(await this.#showsMore(input, snapshot, signal));
    return {
      kind: "done",
      report: toReport(),
      isMoving,
      hasGone,
      isOver,
      nextMs: Math.max(0, isDone && !isOver ? Math.min(nextMs, RECHECK_MS) : nextMs),
    };
  }

  async #takeSnapshot(
    { vino, desired, deletes }: ReconcileInput,
    signal: AbortSignal,
  ): Promise<SnapshotResult> {
    const { machines, hosts } = this.#options;
    const view = await machines.observe({ isForChange: false }, signal);
    for (const [name, atMs] of this.#gone) {
      if (view.observedAtMs > atMs) this.#gone.delete(name);
    }
    return takeSnapshot({
      vino,
      owner: toOwner(vino),
      view,
      seen: this.#tracker.listSeen(view.observedAtMs),
      ...(desired && { roles: desired.roles }),
      isConsumed: (machine) => findHostUse(hosts, vino, machine) !== undefined,
      deletes,
      isGone: (name) => this.#gone.has(name),
    });
  }

  async #assign(
    { vino, desired }: ReconcileInput,
    snapshot: Snapshot,
    signal: AbortSignal,
  ): Promise<Addresses> {
    if (desired === undefined) return NO_ADDRESSES;
    const requests = toMachineRequests(snapshot, desired.roles);
    return await this.#options.addresses.assign(vino, desired.spec, requests, signal);
  }

  #toWanted(
    { desired }: ReconcileInput,
    snapshot: Snapshot,
    addresses: Addresses,
  ): ReturnType<typeof toWantedTasks> {
    if (desired === undefined) return { tasks: [], idle: [] };
    const { hasBmc } = this.#options;
    return toWantedTasks(snapshot, { ...desired, addresses, hasBmc });
  }

  #review(tasks: readonly MachineTask[], { view }: Snapshot, { records }: ReconcileContext): void {
    for (const task of tasks) this.#tracker.review(task, view, records.texts.get(task.name));
  }

  /** Why machines that are too many must stay, although the Vino deletes them. */
  #findLimit(
    { vino, desired, deletes }: ReconcileInput,
    { known, placement }: Snapshot,
  ): string | undefined {
    // Who deletes a Vino that deletes its machines has decided about all of them.
    if (!deletes || desired === undefined) return undefined;
    const question = {
      known: known.map(({ name }) => name),
      surplus: placement.surplus.map(({ name }) => name),
      nowMs: this.#options.clock.monotonic(),
    };
    const reading = this.#limit.read(question, this.#options.findLimit());
    if (question.surplus.length === 0 || !reading.isExceeded) return undefined;
    return isConfirmed(vino.metadata) ? undefined : describeLimit(reading, vino.metadata);
  }

  /** Whether hosts that nothing uses are about to go. */
  #takesHosts(leaving: readonly KnownMachine[], { vino: { metadata } }: ReconcileInput): boolean {
    if (leaving.length === 0) return false;
    const names = new Set(leaving.map((one) => toHostName({ vino: metadata.name, ...one })));
    const hosts = this.#options.hosts.list(metadata.uid ?? "");
    return hosts.some(({ name, use }) => use === undefined && names.has(name));
  }

  /** Whether nothing of a machine is left, or what is left stays. */
  #isSettled({ name }: MachineTask, { deletes }: ReconcileInput): boolean {
    if (this.#gone.has(name)) return true;
    return !deletes && this.#tracker.find(name)?.failure?.kind === "decision";
  }

  /** Machines with addresses that were never begun or are forgotten: if they are gone, their addresses are free. */
  async #listStrays(
    { vino }: ReconcileInput,
    { owner, known, placement }: Snapshot,
    signal: AbortSignal,
  ): Promise<MachineTask[]> {
    const holders = await this.#options.addresses.listHolders(vino, signal);
    return listStrays(owner, holders, { known, placement }).filter(
      ({ name }) => !this.#gone.has(name),
    );
  }

  /**
   * Looks once more before the end of a Vino that deletes its machines: one that was made a moment ago is in no
   * inventory yet. The next inventory brings what this look shows.
   */
  async #showsMore(
    { deletes }: ReconcileInput,
    { owner }: Snapshot,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!deletes) return false;
    const { machines } = await this.#options.machines.observe({ isForChange: true }, signal);
    const prefix = toOwnerPrefix(owner);
    const shown = [...machines.keys()].filter(
      (name) => parseMachineName(name)?.ownerPrefix === prefix,
    );
    for (const name of shown) this.#gone.delete(name);
    return shown.length > 0;
  }

  /** Machines that were gone and are made again are there, or may be. */
  #noteBack(tasks: readonly MachineTask[]): void {
    for (const { name } of tasks) {
      const progress = this.#tracker.find(name);
      const goneMs = this.#gone.get(name);
      if (progress === undefined || goneMs === undefined || progress.observedAtMs <= goneMs) {
        continue;
      }
      if (progress.plan.state !== "Absent" || progress.made !== undefined) this.#gone.delete(name);
    }
  }

  /** Forgets machines of which nothing is left. @returns Whether there were any */
  async #noteGone(
    { vino, deletes }: ReconcileInput,
    removals: readonly MachineTask[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const { addresses, machineEvents, clock } = this.#options;
    const gone = removals.filter(({ name }) => {
      if (this.#gone.has(name)) return false;
      const {
        state,
        steps = [],
        problems = [],
        needsLook = false,
      } = this.#tracker.find(name)?.plan ?? {};
      return state === "Absent" && steps.length === 0 && problems.length === 0 && !needsLook;
    });
    if (gone.length === 0) return false;
    await addresses.release(vino, new Set(gone.map(({ name }) => name)), signal);
    for (const { name, known } of gone) {
      this.#gone.set(name, this.#tracker.find(name)?.observedAtMs ?? clock.monotonic());
      this.#limit.noteRemoval(name, clock.monotonic());
      if (deletes && known !== undefined) machineEvents.recordRemoved(vino, name);
    }
    return true;
  }
}
