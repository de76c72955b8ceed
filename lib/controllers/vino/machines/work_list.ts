/**
 * The machines that Vinos handed over: each is worked on by a reconcile of its own. Then its Vino is reconciled again.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type {
  MachineIdentity,
  Machines,
  MachinesView,
  MachinePlan,
} from "../../../cloud/capabilities/machines.ts";
import type { KeySource } from "../../../engine/object_loop.ts";
import { type Key, toKey } from "../../../kube/cache/store.ts";
import type { AssignedMachine } from "./assignment.ts";
import type { MachineTask } from "./steps/tasks.ts";
import { abortable, type Clock } from "../../../core/clock.ts";
import type { NeverComplete } from "./removal/limit.ts";
import type { ProgressTracker } from "./steps/progress_tracker.ts";

/** A machine that was handed over. */
export interface MachineWork extends AssignedMachine {
  readonly group: MachineGroup;
  /** What was decided, and what else its host and its object follow from. */
  readonly basis: Basis;
}

/** What the host and the object of a machine follow from. */
export interface Basis {
  readonly decision: readonly unknown[];
  readonly facts: readonly unknown[];
}

/**
 * Which machine, of all Vinos that ever were. Names of objects and hosts are not enough: machine `a-worker-0` of Vino
 * `edge` and `worker-0` of `edge-a` have the same, and so has a Vino that was made again.
 */
export type WorkKey = string;

type Listener = (keys: Iterable<string>) => void;

/** See the module. */
export class WorkList {
  readonly observation: SharedObservation;
  readonly #work = new Map<WorkKey, MachineWork>();
  /** How many there are of each Vino, with and without steps. */
  readonly #counts = new Map<string, number>();
  readonly #started = new Set<Listener>();
  readonly #ended = new Set<Listener>();

  constructor(machines: Pick<Machines, "observe">) {
    this.observation = new SharedObservation(machines);
  }

  /** Calls `listener` with each {@linkcode WorkKey} that is handed over. */
  get started(): KeySource {
    return toSource(this.#started);
  }

  /** Names Vinos of whose machines no step is being made any more, or no status is being written any more. */
  get ended(): KeySource {
    return toSource(this.#ended);
  }

  /** Hands machines over. One that is worked on already stays with that work. */
  start(works: readonly MachineWork[]): void {
    const keys: WorkKey[] = [];
    for (const work of works) {
      const key = toWorkKey(toIdentity(work));
      if (this.#work.has(key)) continue;
      this.#work.set(key, work);
      this.#count(work, 1);
      if (work.mayStep) {
        work.group.begin();
        this.observation.expect(key);
      }
      keys.push(key);
    }
    for (const listener of this.#started) listener(keys);
  }

  find(key: WorkKey): MachineWork | undefined {
    return this.#work.get(key);
  }

  /** Whether steps of a machine may be made now. */
  isWorking(machine: MachineIdentity): boolean {
    return this.#work.get(toWorkKey(machine))?.mayStep === true;
  }

  /** Whether anything is done for machines of a Vino. */
  isBusy(vinoUid: string): boolean {
    return [true, false].some((mayStep) => (this.#counts.get(`${vinoUid} ${mayStep}`) ?? 0) > 0);
  }

  /** The machines of a Vino of which steps may be made now, by their names in the cloud. */
  listWorking(vinoUid: string): string[] {
    return [...this.#work.values()].flatMap(({ assignment, mayStep, snapshot }) =>
      mayStep && snapshot.owner.uid === vinoUid ? [assignment.name] : [],
    );
  }

  /** Ends the work on a machine; nothing, if it is not the one that was handed over last. */
  end(key: WorkKey, work: MachineWork): void {
    if (this.#work.get(key) !== work) return;
    const { group, input, mayStep } = work;
    this.#work.delete(key);
    if (mayStep) group.noteEnd();
    this.observation.leave(key);
    if (this.#count(work, -1) > 0) return;
    const vino: Key = toKey(input.vino);
    for (const listener of this.#ended) listener([vino]);
  }

  /** @returns How many there are now of the same Vino and the same kind */
  #count({ snapshot: { owner }, mayStep }: MachineWork, change: 1 | -1): number {
    const kind = `${owner.uid} ${mayStep}`;
    const count = (this.#counts.get(kind) ?? 0) + change;
    if (count === 0) this.#counts.delete(kind);
    else this.#counts.set(kind, count);
    return count;
  }
}

/** Which machine work is about. */
function toIdentity({ assignment, snapshot: { owner } }: MachineWork): MachineIdentity {
  const { role, index } = assignment;
  return { owner, role, index };
}

function toWorkKey({ owner, role, index }: MachineIdentity): WorkKey {
  return `${owner.uid}/${role}/${index}`;
}

function toSource(listeners: Set<Listener>): KeySource {
  return {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** A machine that waits for an observation. */
interface Waiting {
  readonly machine: MachineIdentity;
  readonly signal: AbortSignal;
  readonly answer: PromiseWithResolvers<MachinesView>;
}

/** One observation of the cloud for all machines that wait for one, of all Vinos. */
class SharedObservation {
  readonly #machines: Pick<Machines, "observe">;
  /** Machines that are about to ask: those that wait, wait for them, too. */
  readonly #expected = new Set<Key>();
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(machines: Pick<Machines, "observe">) {
    this.#machines = machines;
  }

  /** Notes that a machine is about to ask. */
  expect(key: Key): void {
    this.#expected.add(key);
  }

  /** Notes that a machine does not ask any more. */
  leave(key: Key): void {
    this.#expected.delete(key);
    this.#startIfComplete();
  }

  /**
   * Observes a machine for a change, together with all others that wait, or are about to ask.
   *
   * @returns What was seen after this call, never before
   * @throws {CloudError} when the cloud cannot answer
   */
  async observe(key: Key, machine: MachineIdentity, signal: AbortSignal): Promise<MachinesView> {
    const answer = Promise.withResolvers<MachinesView>();
    this.#waiting.push({ machine, signal, answer });
    this.leave(key);
    return await abortable(answer.promise, signal);
  }

  /** Those who ask while an observation runs wait for the next one. */
  #startIfComplete(): void {
    if (this.#expected.size > 0 || this.#isRunning) return;
    const waiting = this.#waiting.filter(({ signal }) => !signal.aborted);
    this.#waiting = [];
    const [first] = waiting;
    // The signals of all end with the process.
    if (first !== undefined) void this.#answer(waiting, first.signal);
  }

  async #answer(waiting: readonly Waiting[], signal: AbortSignal): Promise<void> {
    this.#isRunning = true;
    const question = { isForChange: true, machines: waiting.map(({ machine }) => machine) };
    try {
      const view = await this.#machines.observe(question, signal);
      for (const { answer } of waiting) answer.resolve(view);
    } catch (error) {
      // A question about the machines of one Vino must not fail those of others.
      const all = [...Map.groupBy(waiting, ({ machine }) => machine.owner.uid).values()];
      if (all.length > 1) for (const some of all) await this.#answer(some, signal);
      else for (const { answer } of waiting) answer.reject(error);
    }
    this.#isRunning = false;
    this.#startIfComplete();
  }
}

/** What a {@linkcode MachineGroup} needs. */
interface MachineGroupOptions {
  readonly clock: Clock;
  readonly tracker: ProgressTracker;
  /** Learns which machines are begun, and which become complete. */
  readonly neverComplete: NeverComplete;
  /** Whether steps of machines are being made now. */
  readonly isWorking: () => boolean;
}

/**
 * How long machines that are due, and what stopped one, wait for others that are worked on: one observation costs many
 * requests, and a machine more in it costs none.
 */
const OTHERS_MS = 15_000;

/** What the machines of one Vino that are worked on have in common: when others may join them, and what stops all. */
export class MachineGroup {
  readonly tracker: ProgressTracker;
  readonly #neverComplete: NeverComplete;
  readonly #clock: Clock;
  readonly #isWorking: () => boolean;
  /** Since when machines wait for others. */
  #waitingMs: number | undefined;
  #failure: { readonly error: unknown; readonly atMs: number } | undefined;
  #hasAnswered = false;
  /** What was last followed by the host and the object of a machine, by its name, and until when that holds. */
  readonly #done = new Map<string, { readonly basis: Basis; readonly untilMs: number }>();

  constructor({ clock, tracker, neverComplete, isWorking }: MachineGroupOptions) {
    this.tracker = tracker;
    this.#neverComplete = neverComplete;
    this.#clock = clock;
    this.#isWorking = isWorking;
  }

  /** Notes that the host and the object of a machine follow from this now. @param againMs For how long */
  noteDone(name: string, basis: Basis, againMs: number): void {
    this.#done.set(name, { basis, untilMs: this.#clock.monotonic() + againMs });
  }

  /** Whether the host and the object of a machine follow from this. */
  isDone(name: string, basis: Basis): boolean {
    const done = this.#done.get(name);
    if (done === undefined || done.untilMs <= this.#clock.monotonic()) return false;
    return isDeepStrictEqual(done.basis, basis);
  }

  /** Whether what was decided about a machine is not yet in its object. */
  isChanging(name: string, { decision }: Basis): boolean {
    return !isDeepStrictEqual(this.#done.get(name)?.basis.decision, decision);
  }

  /** When the first of these must be looked at again, in milliseconds from now. Forgets the others. */
  toNextMs(names: ReadonlySet<string>): number {
    for (const name of this.#done.keys()) if (!names.has(name)) this.#done.delete(name);
    const nowMs = this.#clock.monotonic();
    const due = Array.from(this.#done.values(), ({ untilMs }) => untilMs - nowMs);
    return Math.min(...due.filter((ms) => ms > 0));
  }

  /** Whether steps of machines are being made. */
  get isWorking(): boolean {
    return this.#isWorking();
  }

  /** Whether something stopped all machines. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Whether work on a machine came to a good end since the last error that stops all. */
  get hasAnswered(): boolean {
    return this.#hasAnswered && !this.hasFailed;
  }

  /** Whether machines that are due may be worked on now. If not, they wait for others, and not for long. */
  get takesMore(): boolean {
    if (this.hasFailed) return false;
    if (!this.isWorking) return true;
    this.#waitingMs ??= this.#clock.monotonic();
    return this.#hasPassed(this.#waitingMs);
  }

  /** Notes that machines are worked on from now on. */
  begin(): void {
    this.#waitingMs = undefined;
  }

  /** Notes that a machine is not worked on any more. */
  noteEnd(): void {
    this.#waitingMs ??= this.#clock.monotonic();
  }

  /** Notes that the next steps of a machine are about to be made: from now on, something of it may be there. */
  noteSteps(task: MachineTask, plan: MachinePlan): void {
    this.#neverComplete.noteSteps(task, plan);
    if (task.goal.kind === "exist") this.tracker.sightings.noteBegun(task.name);
  }

  /** Notes that the steps of a machine were made, or that there are none to make. */
  noteAnswer(): void {
    this.#hasAnswered = true;
  }

  /** Notes that the Vino could not go on: what answered before says nothing about now. */
  noteDoubt(): void {
    this.#hasAnswered = false;
  }

  /** Notes an error because of which others cannot go on either. The first one counts. */
  fail(error: unknown): void {
    this.#failure ??= { error, atMs: this.#clock.monotonic() };
    this.noteDoubt();
  }

  /** Throws what stopped the machines, once: as soon as none is worked on, or after a while. */
  throwFailure(): void {
    if (this.#failure === undefined) return;
    const { error, atMs } = this.#failure;
    if (this.isWorking && !this.#hasPassed(atMs)) return;
    this.#failure = undefined;
    throw error;
  }

  #hasPassed(sinceMs: number): boolean {
    return this.#clock.monotonic() - sinceMs >= OTHERS_MS;
  }
}
