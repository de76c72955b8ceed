/**
 * Keeps the machines of one Vino: brings them one round further each time, with their addresses and BareMetalHosts.
 * @module
 */
import { parseMachineName, toOwnerPrefix } from "../../../cloud/capabilities/machines.ts";
import { toHostName } from "../hosts/names.ts";
import type { KnownMachine } from "../placement/known.ts";
import { makeSurvey, type Survey, type SurveyResult } from "../placement/survey.ts";
import type { Addresses } from "../desks.ts";
import { makeReport } from "../status/machines_report.ts";
import type { MachinesReport } from "../status/outcome.ts";
import { MachineBook, type MachineTask } from "./book.ts";
import type { KeepContext, KeeperOptions, KeepInput } from "./keeping.ts";
import { publishMachines } from "./publication.ts";
import { describeLimit, isConfirmed, RemovalLimit } from "./removal_limit.ts";
import { judgeSurplus } from "./retirement.ts";
import { MachineRounds } from "./rounds.ts";
import { findHostUse } from "./host_use.ts";
import { toOwner } from "./spec.ts";
import { listStrays, toAddressWishes, toRemovalTask, toWantedTasks } from "./tasks.ts";

/** What a round came to. */
export type Kept =
  | Extract<SurveyResult, { kind: "refused" }>
  /** Something changed meanwhile: look again at once. */
  | { readonly kind: "again" }
  | {
      readonly kind: "kept";
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

const AGAIN: Kept = { kind: "again" };
/** When to look again at a Vino of which a look showed a machine that no inventory has shown. */
const RECHECK_MS = 5_000;
const NO_ADDRESSES: Addresses = { machines: new Map(), problems: new Map(), notices: [] };

/** Keeps the machines of one Vino. Remembers what it saw until it is forgotten. */
export class MachineKeeper {
  readonly #options: KeeperOptions;
  readonly #book: MachineBook;
  readonly #rounds: MachineRounds;
  readonly #limit = new RemovalLimit();
  /** Machines that are proven gone, with the time of the look that proved it. */
  readonly #gone = new Map<string, number>();
  /** What the last round found. */
  #last: Survey | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#book = new MachineBook(options);
    this.#rounds = new MachineRounds({ ...options, book: this.#book });
  }

  /** Whether looks for a change are newer than the last inventory. */
  get isAhead(): boolean {
    return this.#book.isNewerThan(this.#last?.view.observedAtMs ?? -Infinity);
  }

  /**
   * Does what can be done at once, and at most one step for each machine.
   *
   * @throws {CloudError} if the cloud cannot answer, {@linkcode KubeError} if Kubernetes does not
   */
  async advance(input: KeepInput, context: KeepContext): Promise<Kept> {
    const { clock } = this.#options;
    const { signal } = context;
    const result = await this.#survey(input, signal);
    if (result.kind === "refused") return result;
    const { survey } = result;
    this.#last = survey;
    const addresses = await this.#assign(input, survey, signal);
    const { tasks, idle } = this.#toWanted(input, survey, addresses);
    this.#review(tasks, survey, context);
    const limit = this.#findLimit(input, survey);
    const { surplus } = survey.placement;
    const leaving = limit === undefined ? surplus : surplus.filter((one) => one.isRemoving);
    if (this.#takesHosts(leaving, input) && !(await context.confirm())) return AGAIN;
    const pass = await publishMachines(
      {
        vino: input.vino,
        survey,
        wish: input.wish,
        addresses,
        tasks,
        leaving,
        book: this.#book,
      },
      this.#options.hosts,
      signal,
    );
    const verdict = judgeSurplus({
      surplus,
      outcomes: pass.retired,
      deletes: input.deletes,
      limit,
    });
    const removals = verdict.removable.map((known) => toRemovalTask(survey.owner, known));
    const strays = await this.#listStrays(input, survey, signal);
    this.#review([...removals, ...strays], survey, context);
    const all = [...tasks, ...removals, ...strays];
    this.#book.keepOnly(new Set(all.map(({ name }) => name)));
    const toReport = (): MachinesReport =>
      makeReport({
        survey,
        roles: input.wish?.roles,
        addresses,
        wanted: tasks,
        idle,
        removals,
        verdict,
        hosts: new Map([...pass.retired, ...pass.published]),
        book: this.#book,
        isGone: (name) => this.#gone.has(name),
      });
    const isMoving = await this.#rounds.run(input, { tasks: all, toReport }, context);
    this.#noteBack(tasks);
    const hasGone = await this.#noteGone(input, [...removals, ...strays], signal);
    const dueMs = all.map(({ name }) => this.#book.find(name)?.dueMs ?? Infinity);
    const nextMs = Math.min(pass.againMs, ...dueMs.map((ms) => ms - clock.monotonic()));
    const isLeft = [...removals, ...strays].some((task) => !this.#isSettled(task, input));
    const isDone = input.wish === undefined && verdict.isDrained && !isLeft;
    const isOver = isDone && !(await this.#showsMore(input, survey, signal));
    return {
      kind: "kept",
      report: toReport(),
      isMoving,
      hasGone,
      isOver,
      nextMs: Math.max(0, isDone && !isOver ? Math.min(nextMs, RECHECK_MS) : nextMs),
    };
  }

  async #survey({ vino, wish, deletes }: KeepInput, signal: AbortSignal): Promise<SurveyResult> {
    const { machines, hosts } = this.#options;
    const view = await machines.observe({ isForChange: false }, signal);
    for (const [name, atMs] of this.#gone) {
      if (view.observedAtMs > atMs) this.#gone.delete(name);
    }
    return makeSurvey({
      vino,
      owner: toOwner(vino),
      view,
      seen: this.#book.listSeen(view.observedAtMs),
      ...(wish && { roles: wish.roles }),
      isConsumed: (machine) => findHostUse(hosts, vino, machine) !== undefined,
      deletes,
      isGone: (name) => this.#gone.has(name),
    });
  }

  async #assign(
    { vino, wish }: KeepInput,
    survey: Survey,
    signal: AbortSignal,
  ): Promise<Addresses> {
    if (wish === undefined) return NO_ADDRESSES;
    const wishes = toAddressWishes(survey, wish.roles);
    return await this.#options.addresses.assign(vino, wish.spec, wishes, signal);
  }

  #toWanted(
    { wish }: KeepInput,
    survey: Survey,
    addresses: Addresses,
  ): ReturnType<typeof toWantedTasks> {
    if (wish === undefined) return { tasks: [], idle: [] };
    const { hasBmc } = this.#options;
    return toWantedTasks(survey, { ...wish, addresses, hasBmc });
  }

  #review(tasks: readonly MachineTask[], { view }: Survey, { ledger }: KeepContext): void {
    for (const task of tasks) this.#book.review(task, view, ledger.texts.get(task.name));
  }

  /** Why machines that are too many must stay, although the Vino deletes them. */
  #findLimit({ vino, wish, deletes }: KeepInput, { known, placement }: Survey): string | undefined {
    // Who deletes a Vino that deletes its machines has decided about all of them.
    if (!deletes || wish === undefined) return undefined;
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
  #takesHosts(leaving: readonly KnownMachine[], { vino: { metadata } }: KeepInput): boolean {
    if (leaving.length === 0) return false;
    const names = new Set(leaving.map((one) => toHostName({ vino: metadata.name, ...one })));
    const hosts = this.#options.hosts.list(metadata.uid ?? "");
    return hosts.some(({ name, use }) => use === undefined && names.has(name));
  }

  /** Whether nothing of a machine is left, or what is left stays. */
  #isSettled({ name }: MachineTask, { deletes }: KeepInput): boolean {
    if (this.#gone.has(name)) return true;
    return !deletes && this.#book.find(name)?.failure?.kind === "decision";
  }

  /** Machines with addresses that were never begun or are forgotten: if they are gone, their addresses are free. */
  async #listStrays(
    { vino }: KeepInput,
    { owner, known, placement }: Survey,
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
    { deletes }: KeepInput,
    { owner }: Survey,
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
      const progress = this.#book.find(name);
      const goneMs = this.#gone.get(name);
      if (progress === undefined || goneMs === undefined || progress.observedAtMs <= goneMs) {
        continue;
      }
      if (progress.plan.state !== "Absent" || progress.made !== undefined) this.#gone.delete(name);
    }
  }

  /** Forgets machines of which nothing is left. @returns Whether there were any */
  async #noteGone(
    { vino, deletes }: KeepInput,
    removals: readonly MachineTask[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const { addresses, narrator, clock } = this.#options;
    const gone = removals.filter(({ name }) => {
      if (this.#gone.has(name)) return false;
      const {
        state,
        steps = [],
        problems = [],
        needsLook = false,
      } = this.#book.find(name)?.plan ?? {};
      return state === "Absent" && steps.length === 0 && problems.length === 0 && !needsLook;
    });
    if (gone.length === 0) return false;
    await addresses.release(vino, new Set(gone.map(({ name }) => name)), signal);
    for (const { name, known } of gone) {
      this.#gone.set(name, this.#book.find(name)?.observedAtMs ?? clock.monotonic());
      this.#limit.noteRemoval(name, clock.monotonic());
      if (deletes && known !== undefined) narrator.tellRemoved(vino, name);
    }
    return true;
  }
}
