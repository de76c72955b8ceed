/**
 * Looks after boot overrides that wait for the next start of their machine, also those of an earlier process.
 * @module
 */
import { type Clock, Sleeper, toBackoffMs } from "../../../core/clock.ts";
import { describeError } from "../../../core/errors.ts";
import { type Logger, MessageDedup } from "../../../core/log.ts";
import { isRefusedForGood } from "./order_refusal.ts";
import type { OverrideStore } from "./override_store.ts";
import { type ManagedMachine, toMachineKey } from "./credentials.ts";

/** What {@linkcode WaitingOverrides} need. */
interface WaitingOverridesOptions {
  readonly store: Pick<OverrideStore, "find" | "learn">;
  readonly listMachines: () => readonly ManagedMachine[];
  /** Goes on with an override. @returns Whether it still waits */
  readonly settle: (machine: ManagedMachine, signal: AbortSignal) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Tells people what they must do: a machine would start from the wrong device. */
  readonly warn: (machine: ManagedMachine, message: string) => void;
}

interface Waiting {
  readonly machine: ManagedMachine;
  /** How often it was looked at since a client did something. */
  looks: number;
  /** In monotonic milliseconds. */
  dueMs: number;
  /** Why it could not be finished. */
  readonly told: MessageDedup;
}

/** How often new machines are looked for, whose Secrets may have an override. */
const LIST_MS = 60_000;
/** A machine that was just switched on is soon seen to run; later about once a minute. */
const LOOK = { baseMs: 2_000, capMs: 60_000, jitter: 0.1 } as const;
/** A lasting problem is logged again after this. */
const REMIND_MS = 12 * 3_600_000;

/** The overrides that are not over. */
export class WaitingOverrides {
  readonly #options: WaitingOverridesOptions;
  readonly #waiting = new Map<string, Waiting>();
  readonly #sleeper: Sleeper;

  constructor(options: WaitingOverridesOptions) {
    this.#options = options;
    this.#sleeper = new Sleeper(options.clock);
  }

  /** Looks at a machine soon, and then less and less often. */
  hurry(machine: ManagedMachine): void {
    const { looks } = this.#waiting.get(toMachineKey(machine)) ?? { looks: 1 };
    // A client that asks again and again does not make more requests to the cloud.
    if (looks === 0) return;
    this.#put(machine, 0);
    this.#sleeper.wake();
  }

  /** Looks after the overrides until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let listMs = -Infinity;
    while (!signal.aborted) {
      const nowMs = clock.monotonic();
      if (listMs + LIST_MS <= nowMs) {
        listMs = nowMs;
        await this.#list(signal);
      }
      for (const one of this.#waiting.values()) {
        if (one.dueMs <= clock.monotonic() && !signal.aborted) await this.#look(one, signal);
      }
      const dueMs = Math.min(listMs + LIST_MS, ...Array.from(this.#waiting.values(), toDueMs));
      await this.#sleeper.sleep(dueMs - clock.monotonic(), signal);
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { store, listMachines, log } = this.#options;
    const machines = listMachines();
    try {
      await store.learn(machines, signal);
    } catch (error) {
      if (!signal.aborted) log.warn("Cannot read the Secrets of boot overrides", { error });
    }
    const keys = new Set(machines.map(toMachineKey));
    for (const key of this.#waiting.keys()) if (!keys.has(key)) this.#waiting.delete(key);
    for (const machine of machines) {
      const isKnown = this.#waiting.has(toMachineKey(machine));
      if (store.find(machine)?.override && !isKnown) this.#put(machine, 0);
    }
  }

  async #look({ machine, looks, told }: Waiting, signal: AbortSignal): Promise<void> {
    const { settle } = this.#options;
    try {
      const waits = await settle(machine, signal);
      told.end();
      if (!waits) this.#waiting.delete(toMachineKey(machine));
      else this.#put(machine, looks + 1);
    } catch (error) {
      if (signal.aborted) return;
      if (told.isNew(describeError(error))) this.#tell(machine, error);
      this.#put(machine, looks + 1);
    }
  }

  /** A refusal lasts until a person does something, so it is logged once and not at each try. */
  #tell(machine: ManagedMachine, error: unknown): void {
    const { log, warn } = this.#options;
    const fields = { machine: machine.name, error };
    log.warn("Cannot finish a boot override; trying again without further records", fields);
    const isSpoilt = isRefusedForGood(error) && !error.isOriginal;
    if (isSpoilt) warn(machine, error.describeStart(machine.name));
  }

  #put(machine: ManagedMachine, looks: number): void {
    const { clock } = this.#options;
    const dueMs = clock.monotonic() + toBackoffMs(looks + 1, LOOK);
    const { told = new MessageDedup({ clock, afterMs: REMIND_MS }) } =
      this.#waiting.get(toMachineKey(machine)) ?? {};
    this.#waiting.set(toMachineKey(machine), { machine, looks, dueMs, told });
  }
}

function toDueMs({ dueMs }: Waiting): number {
  return dueMs;
}
