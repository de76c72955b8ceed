/**
 * One process that keeps machines as they are wished for, in the loop that the port describes: observe, plan, apply the
 * first step of each plan, and again. It looks closely only if something is to do, as a controller does.
 * @module
 */
import {
  listNextSteps,
  type MachineIdentity,
  type MachinePlan,
  type Machines,
  type MachinesView,
  toMachineName,
} from "../../../lib/cloud/capabilities/machines.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import type { Clock } from "../../../lib/core/clock.ts";
import { ALONE, Fence } from "../../../lib/core/fence.ts";
import type { Wish } from "./wishes.ts";

/** Where records of machines are record: they outlive a process. */
export interface Records {
  read(name: string): string | undefined;
  save(name: string, text: string | undefined, signal: AbortSignal): Promise<void>;
}

/** What an {@linkcode Operator} needs. */
export interface OperatorOptions {
  readonly provider: Provider;
  readonly clock: Clock;
  readonly records: Records;
  readonly listWishes: () => readonly Wish[];
}

/** Between two inventories. */
const TICK_MS = 15_000;
const RETRY_MS = 5_000;

/** The process. */
export class Operator {
  readonly #options: OperatorOptions;
  readonly #machines: Machines;
  readonly #fence = new Fence(ALONE);
  /** Names of machines that were proven gone: as a controller, it does not look for them again. */
  readonly #gone = new Set<string>();
  /** Since when nothing was to do, in monotonic milliseconds; `undefined` while something is. */
  restsSinceMs: number | undefined;
  /** What it could not do, or waits for, at its last look. */
  problems: readonly string[] = [];

  constructor(options: OperatorOptions) {
    const { machines } = options.provider;
    if (machines === undefined) throw new Error("The provider has no machines");
    this.#options = options;
    this.#machines = machines;
    machines.follow();
  }

  /** Works until the signal ends it. */
  async run(signal: AbortSignal): Promise<void> {
    const { provider, clock } = this.#options;
    for (;;) {
      let waitMs = RETRY_MS;
      try {
        await provider.listInventory([], signal);
        waitMs = await this.#turn(signal);
      } catch (error) {
        signal.throwIfAborted();
        this.#disturb([String(error)]);
      }
      await clock.sleep(waitMs, signal);
    }
  }

  /** One look, and what follows from it. @returns when to look again */
  async #turn(signal: AbortSignal): Promise<number> {
    const view = await this.#machines.observe({ isForChange: false }, signal);
    const busy = this.#listOpen().filter((wish) => !isAtRest(this.#plan(view, wish), wish));
    if (busy.length === 0) {
      this.restsSinceMs ??= this.#options.clock.monotonic();
      return TICK_MS;
    }
    const identities = busy.map(({ spec }) => spec);
    const look = await this.#machines.observe({ isForChange: true, machines: identities }, signal);
    const waits: number[] = [];
    const problems: string[] = [];
    for (const wish of busy) {
      const plan = this.#plan(look, wish);
      problems.push(...plan.problems.map(({ reason, message }) => `${reason}: ${message}`));
      if (plan.steps.length === 0 && isAtRest(plan, wish)) {
        if (wish.kind === "gone") this.#gone.add(toMachineName(wish.spec));
        continue;
      }
      waits.push(plan.steps.length > 0 ? 0 : (plan.againMs ?? RETRY_MS));
      if (await this.#apply(plan, wish.spec, signal)) continue;
      waits.push(RETRY_MS);
      break;
    }
    if (waits.length > 0) this.#disturb(problems);
    else this.restsSinceMs ??= this.#options.clock.monotonic();
    return waits.length === 0 ? TICK_MS : Math.max(100, Math.min(...waits));
  }

  #listOpen(): Wish[] {
    const wishes = this.#options.listWishes();
    for (const { kind, spec } of wishes) {
      if (kind === "exists") this.#gone.delete(toMachineName(spec));
    }
    return wishes.filter(
      ({ kind, spec }) => kind === "exists" || !this.#gone.has(toMachineName(spec)),
    );
  }

  #disturb(problems: readonly string[]): void {
    this.restsSinceMs = undefined;
    this.problems = problems;
  }

  #plan(view: MachinesView, { kind, spec }: Wish): MachinePlan {
    const record = this.#options.records.read(toMachineName(spec));
    return kind === "exists"
      ? this.#machines.plan(view, spec, record)
      : this.#machines.planRemoval(view, spec, record);
  }

  /** @returns whether others may go on */
  async #apply(
    plan: MachinePlan,
    identity: MachineIdentity,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { records } = this.#options;
    const name = toMachineName(identity);
    const record = {
      text: records.read(name),
      save: (text: string | undefined, one: AbortSignal) => records.save(name, text, one),
    };
    try {
      for (const step of listNextSteps(plan)) {
        await this.#machines.apply(step, { record, fence: this.#fence }, signal);
      }
      return true;
    } catch (error) {
      signal.throwIfAborted();
      this.problems = [String(error)];
      return this.#machines.mayGoOn(error);
    }
  }
}

function isAtRest({ state, steps, needsLook, againMs }: MachinePlan, { kind }: Wish): boolean {
  if (steps.length > 0 || needsLook === true || againMs !== undefined) return false;
  return state === (kind === "exists" ? "Ready" : "Absent");
}
