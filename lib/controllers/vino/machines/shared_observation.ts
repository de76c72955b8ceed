/**
 * One observation of the cloud for all machines that wait for one, of all Vinos.
 * @module
 */
import type {
  MachineIdentity,
  Machines,
  MachinesView,
} from "../../../cloud/capabilities/machines.ts";
import { abortable } from "../../../core/clock.ts";
import type { Key } from "../../../kube/cache/store.ts";

/** A machine that waits for an observation. */
interface Waiting {
  readonly machine: MachineIdentity;
  readonly signal: AbortSignal;
  readonly answer: PromiseWithResolvers<MachinesView>;
}

/** See the module. */
export class SharedObservation {
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
      for (const { answer } of waiting) answer.reject(error);
    }
    this.#isRunning = false;
    this.#startIfComplete();
  }
}
