/**
 * Tasks: what Xen Orchestra remembers about an action, also after a restart.
 * @module
 */
import type { Clock } from "../../../core/clock.ts";
import type { XoRecord } from "../records.ts";
import type { XenOrchestraState } from "../state.ts";
import { toUuid } from "../../uuid.ts";
import { toTaskResult } from "./errors.ts";
import type { ServerLife } from "./hypervisor.ts";

/** What a task is about. */
interface TaskProperties {
  readonly name: string;
  readonly objectType: string;
  readonly objectId: string;
  readonly userId: string;
  /** The whole body of the request: with its secrets, as on the real server. */
  readonly args?: unknown;
}

const RANDOM_LENGTH = 11;

/** The tasks of one Xen Orchestra. */
export class Tasks {
  readonly #clock: Clock;
  readonly #state: XenOrchestraState;
  readonly #waiting = new Map<string, Set<() => void>>();
  #started = 0;

  constructor(clock: Clock, state: XenOrchestraState, life: ServerLife) {
    this.#clock = clock;
    this.#state = state;
    life.watch((isUp) => {
      if (isUp) this.#interrupt();
    });
  }

  /** Starts a task. The end of `work` is its end, unless `life` ends before. */
  start(properties: TaskProperties, work: () => Promise<unknown>, life: AbortSignal): XoRecord {
    const now = this.#clock.now();
    const { args, objectType, name, objectId, userId } = properties;
    const id = this.#nextId();
    this.#state.put("tasks", {
      id,
      properties: {
        ...(args !== undefined && { args }),
        objectType,
        name,
        objectId,
        userId,
        type: "xo:rest-api:action",
      },
      start: now,
      status: "pending",
      updatedAt: now,
    });
    void this.#follow(id, args, work, life);
    return this.#record(id);
  }

  /** Resolves at the next change of a task, or with the signal. */
  untilChanged(id: string, signal: AbortSignal): Promise<void> {
    const listeners = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, listeners);
    return new Promise((resolve) => {
      listeners.add(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  async #follow(
    id: string,
    args: unknown,
    work: () => Promise<unknown>,
    life: AbortSignal,
  ): Promise<void> {
    const outcome = await work().then(
      (result) => ({ status: "success", ...(result !== undefined && { result }) }),
      (error: unknown) => ({ status: "failure", result: toTaskResult(error) }),
    );
    if (life.aborted) return;
    const record = this.#record(id);
    const now = this.#clock.now();
    const { properties } = record;
    // The record is of the object that the action works with, and fills in.
    if (args !== undefined) record["properties"] = { ...Object(properties), args };
    Object.assign(record, { status: outcome.status, updatedAt: now, end: now });
    if (outcome.result !== undefined) record["result"] = outcome.result;
    this.#tell(id);
  }

  /** No process continues what another one began. */
  #interrupt(): void {
    for (const record of this.#state.all("tasks").values()) {
      if (record["status"] !== "pending") continue;
      Object.assign(record, { status: "interrupted", updatedAt: this.#clock.now() });
      this.#tell(record.id);
    }
  }

  #tell(id: string): void {
    for (const listener of this.#waiting.get(id) ?? []) listener();
    this.#waiting.delete(id);
  }

  #record(id: string): XoRecord {
    const record = this.#state.all("tasks").get(id);
    if (record === undefined) throw new RangeError(`Cannot find task "${id}"`);
    return record;
  }

  #nextId(): string {
    this.#started += 1;
    const random = toUuid(`task/${this.#started}`).replaceAll("-", "").slice(0, RANDOM_LENGTH);
    return `0${this.#clock.now().toString(36)}-${random}`;
  }
}
