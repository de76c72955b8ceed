/**
 * The hypervisors behind Xen Orchestra. Every call that xo-server makes takes time, is written down, and can fail, or
 * be the moment when something else happens, such as the death of the xo-server process.
 * @module
 */
import { abortable, type Clock } from "../../../core/clock.ts";
import { FaultSwitches, type Limit } from "../../fault_switches.ts";
import type { XenOrchestraState } from "../state.ts";
import { SocketError, XapiError } from "./errors.ts";

/** A call. */
export interface Operation {
  /** As the hypervisor names it: `VM.clone`. */
  readonly method: string;
  readonly poolId: string;
  /** ID of the object that it changes; of what it makes, if it makes something. Absent: not known before. */
  readonly id?: string;
  /** Name of the virtual machine that it is about. */
  readonly name: string;
  /** Whether xo-server waits for an event, which it gets even after the connection was lost. @default {false} */
  readonly isAsync?: boolean;
  /** ID of the template that says by its operations that the hypervisor copies it. */
  readonly templateId?: string;
}

/** A call that was sent. */
export interface Journaled extends Operation {
  /** In wall-clock milliseconds. */
  readonly atMs: number;
  outcome: "sent" | "done" | "failed";
}

/** What happens to a call. */
type OperationFault =
  /** It changes nothing. */
  | { readonly kind: "fail"; readonly code: string; readonly params?: readonly string[] }
  /** It takes longer. */
  | { readonly kind: "delay"; readonly ms: number };

/** The calls that something is for; all of them by default. */
interface OperationScope extends Limit {
  readonly method?: string;
  /** Name of the virtual machine. */
  readonly name?: string;
}

/** A moment: before a call is sent, while the hypervisor works on it, or after xo-server has its result. */
export type Moment = "before" | "during" | "after";

/** Failures of calls. */
class OperationFaults extends FaultSwitches<OperationFault, OperationScope> {
  /** The fault for a call, which counts as used. */
  take(operation: Operation): OperationFault | undefined {
    return this.takeLast(({ scope }) => fits(scope, operation));
  }
}

/** What happens at a moment of a call. */
class Moments extends FaultSwitches<Moment, OperationScope> {
  /** Lets happen what was planned. */
  reach(moment: Moment, operation: Operation): void {
    this.takeLast(({ fault, scope }) => fault === moment && fits(scope, operation));
  }
}

function fits({ method, name }: Partial<OperationScope>, operation: Operation): boolean {
  if (method !== undefined && method !== operation.method) return false;
  return name === undefined || name === operation.name;
}

/** What {@linkcode Hypervisor} needs. */
interface HypervisorOptions {
  readonly clock: Clock;
  readonly state: XenOrchestraState;
  /** Ends everything. */
  readonly signal: AbortSignal;
  /** Milliseconds that a call takes. */
  readonly operationMs: number;
}

/** How often xo-server looks whether a connection is back. */
const LOOK_PERIOD_MS = 1_000;

/** The hypervisors of all pools. */
export class Hypervisor {
  readonly #options: HypervisorOptions;
  readonly #journal: Journaled[] = [];
  readonly #listeners = new Set<(entry: Journaled) => void>();
  #operations = 0;
  readonly faults: OperationFaults = new OperationFaults();
  /** Plans what happens at a moment: `moments.set("after", { method: "VM.clone", times: 1, onHit })`. */
  readonly moments: Moments = new Moments();
  /** Milliseconds that a call takes. */
  operationMs: number;

  constructor(options: HypervisorOptions) {
    this.#options = options;
    this.operationMs = options.operationMs;
  }

  /** Reports every call: when it is sent, and when the hypervisor has carried it out or refused it. */
  watch(listener: (entry: Journaled) => void): void {
    this.#listeners.add(listener);
  }

  /** Every call, in the order they were sent. */
  get journal(): readonly Journaled[] {
    return this.#journal;
  }

  /**
   * Makes a call.
   *
   * @param effects What it changes, in equal parts of its time; the result is that of the last one. An `XapiError` of
   *   them fails the call
   * @param life Ends with the process that calls
   * @throws {XapiError} if the hypervisor refuses
   * @throws {SocketError} if the connection is broken; it may have been carried out all the same
   */
  async call<T>(
    operation: Operation,
    effects: readonly [...(() => void)[], () => T],
    life: AbortSignal,
  ): Promise<T> {
    const { state } = this.#options;
    life.throwIfAborted();
    this.moments.reach("before", operation);
    life.throwIfAborted();
    if (state.isCut(operation.poolId)) throw new SocketError();
    const entry: Journaled = { ...operation, atMs: this.#options.clock.now(), outcome: "sent" };
    this.#journal.push(entry);
    this.#tell(entry);
    const work = this.#work(entry, effects);
    const wait = abortable(work, life);
    this.moments.reach("during", operation);
    const result = await wait.catch(async (error: unknown) => {
      if (error instanceof XapiError) await this.#untilHeard(operation, life);
      throw error;
    });
    await this.#untilHeard(operation, life);
    this.moments.reach("after", operation);
    life.throwIfAborted();
    return result;
  }

  async #work<T>(entry: Journaled, effects: readonly [...(() => void)[], () => T]): Promise<T> {
    const { clock, signal, state } = this.#options;
    const fault = this.faults.take(entry);
    const end = this.#begin(entry);
    const ms = this.operationMs + (fault?.kind === "delay" ? fault.ms : 0);
    try {
      if (fault?.kind === "fail") {
        await clock.sleep(ms, signal);
        throw new XapiError(fault.code, fault.params ?? [], entry.method);
      }
      const [last, ...earlier] = effects.toReversed();
      for (const effect of earlier.toReversed()) {
        await clock.sleep(ms / effects.length, signal);
        state.call(effect);
      }
      await clock.sleep(ms / effects.length, signal);
      const result = state.call(last as () => T);
      entry.outcome = "done";
      return result;
    } catch (error) {
      entry.outcome = "failed";
      throw error;
    } finally {
      end();
      this.#tell(entry);
    }
  }

  /** Notes an operation on a template. @returns Notes its end */
  #begin({ templateId, method }: Journaled): () => void {
    if (templateId === undefined) return () => undefined;
    const { state } = this.#options;
    this.#operations += 1;
    const key = `operation-${this.#operations}`;
    const set = (change: (all: Record<string, unknown>) => Record<string, unknown>): void => {
      const template = state.all("vm-templates").get(templateId);
      const now = Object(template?.["current_operations"]);
      if (template) state.call(() => (template["current_operations"] = change(now)));
    };
    set((all) => ({ ...all, [key]: method === "VM.copy" ? "copy" : "clone" }));
    return () => set(({ [key]: _over, ...rest }) => rest);
  }

  #tell(entry: Journaled): void {
    for (const listener of this.#listeners) listener(entry);
  }

  /** Until the result has arrived. */
  async #untilHeard({ poolId, isAsync = false }: Operation, life: AbortSignal): Promise<void> {
    const { state, clock } = this.#options;
    while (state.isCut(poolId)) {
      if (!isAsync) throw new SocketError();
      await clock.sleep(LOOK_PERIOD_MS, life);
    }
  }
}

/** Why work ended: the process is no more. It is never shown. */
const KILLED = "xo-server is killed";

/** Whether the process lives. */
export class ServerLife {
  #current = new AbortController();
  #isUp = true;
  readonly #listeners = new Set<(isUp: boolean) => void>();

  /** Ends with the process that lives now. Work of a process uses the signal that it began with. */
  get signal(): AbortSignal {
    return this.#current.signal;
  }

  /** Whether it answers. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Tells whenever it dies or starts. */
  watch(listener: (isUp: boolean) => void): void {
    this.#listeners.add(listener);
  }

  /** Ends the process: its work stops where it is, and no request gets an answer. */
  kill(): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.#current.abort(new Error(KILLED));
    for (const listener of this.#listeners) listener(false);
  }

  /** Starts another process. */
  start(): void {
    if (this.#isUp) return;
    this.#isUp = true;
    this.#current = new AbortController();
    for (const listener of this.#listeners) listener(true);
  }
}
