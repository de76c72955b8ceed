/**
 * Carries out boot overrides: writes down what was asked for, gives the machine its order, and gives the old one back
 * after the next start.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import {
  type BootDevice,
  type MachinePower,
  type MachineReading,
  RefusedPowerError,
} from "../../../cloud/capabilities/machine_power.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Fence } from "../../../core/fence.ts";
import type {
  BootOverride,
  BootOverrideChange,
} from "../../../cloud/capabilities/machine_management.ts";
import { isRefusedForGood, RefusedOrderError } from "./order_refusal.ts";
import {
  isSameOrder,
  type OverrideRecord,
  toOverrideOrder,
  type Since,
  type OverrideStore,
  type StoredOverride,
} from "./override_store.ts";
import { type ManagedMachine, toMachineKey } from "./credentials.ts";

/** What {@linkcode BootOverrides} need. */
interface BootOverridesOptions {
  readonly power: MachinePower;
  readonly store: OverrideStore;
  readonly fence: Fence;
  readonly clock: Clock;
}

/** How far an override is: over; waiting for the next start; holding for good. */
type OverrideState = "over" | "waits" | "holds";

/** A cloud shows a new order after 10 to 250 ms. */
const LAG_MS = 300;
/** An order of which nothing is known for so long was not given. A call to a cloud takes at most half a minute. */
const LOST_MS = 120_000;
/** More than it takes from any state to the next that lasts. */
const STEPS_MAX = 12;

interface GivenOrder {
  readonly override: OverrideRecord;
  readonly order: readonly BootDevice[];
  /** Whether it is the first one since the override was read or written. */
  readonly isFirst: boolean;
}

/** The boot overrides of all machines. Only one call at a time may be about a machine. */
export class BootOverrides {
  readonly #options: BootOverridesOptions;
  /** Since when the cloud refuses the orders of machines that have their old one, in monotonic milliseconds. */
  readonly #refusedMs = new Map<string, number>();

  constructor(options: BootOverridesOptions) {
    this.#options = options;
  }

  /**
   * Goes on with the override of a machine as far as it can now.
   *
   * @throws {RefusedOrderError} if the cloud refuses the order that is due; what must be undone stays written down
   * @throws {CloudError} or {@linkcode KubeError} if another try may help
   */
  async settle(machine: ManagedMachine, signal: AbortSignal): Promise<OverrideState> {
    const entry = await this.#options.store.read(machine, signal);
    try {
      const state = await this.#settle(machine, entry, signal);
      this.#refusedMs.delete(toMachineKey(machine));
      return state;
    } catch (error) {
      if (!this.#wasNeverGiven(machine, error)) throw error;
      const { store } = this.#options;
      await store.write(machine, store.find(machine) ?? entry, undefined, signal);
      this.#refusedMs.delete(toMachineKey(machine));
      return "over";
    }
  }

  /**
   * Changes an override. When this resolves, the machine has its order, and what must be undone is written down. If the
   * cloud refuses the order, and the machine is seen to have the one from before, the override is again as it was.
   *
   * @throws {RefusedChangeError} or {@linkcode RefusedPowerError} if it cannot be done
   * @throws {CloudError} or {@linkcode KubeError} if it may have been done
   */
  async change(
    machine: ManagedMachine,
    change: BootOverrideChange,
    signal: AbortSignal,
  ): Promise<OverrideState> {
    const { store } = this.#options;
    const { state, refused } = await this.#begin(machine, signal);
    const entry = store.find(machine) ?? {};
    const { override } = entry;
    const next = toNext(toBootOverride(override), change);
    // What ends an override, or gives the machine what it is stuck with, needs no right that the user lacks.
    const mayHelp = next.duration === "never" || refused?.isStuck === true;
    if (refused && !mayHelp) throw refused;
    if (state !== undefined && isSame(next, toBootOverride(override))) return state;
    const seen = await this.#read(machine, signal);
    if (seen.bootOrder.length === 0) {
      const message = "The cloud does not show what the machine starts from, so it cannot be set";
      throw new RefusedPowerError("unsupported", message);
    }
    const record = toRecord(next, override, seen.bootOrder);
    const written = await store.write(machine, entry, record, signal);
    try {
      return await this.#settle(machine, written, signal);
    } catch (error) {
      const isUndone = error instanceof RefusedOrderError && error.isFirst;
      const isUnchanged = isUndone && isSameOrder(error.order, seen.bootOrder);
      // One that ends goes on ending, because a person may give the right back.
      if (isUnchanged && next.duration !== "never") {
        await store.write(machine, store.find(machine) ?? written, override, signal);
      }
      throw error;
    }
  }

  /** Ends an override that waits for the next start. It throws as {@linkcode change}. */
  async end(machine: ManagedMachine, signal: AbortSignal): Promise<void> {
    const { override } = await this.#options.store.read(machine, signal);
    if (override === undefined || override.duration === "always") return;
    await this.change(machine, { duration: "never" }, signal);
  }

  async #begin(
    machine: ManagedMachine,
    signal: AbortSignal,
  ): Promise<{ readonly state?: OverrideState; readonly refused?: RefusedOrderError }> {
    try {
      return { state: await this.settle(machine, signal) };
    } catch (error) {
      if (!(error instanceof RefusedOrderError)) throw error;
      return { refused: error };
    }
  }

  /** Whether an order is refused for so long, without any effect, that no earlier attempt can still have one. */
  #wasNeverGiven(machine: ManagedMachine, error: unknown): boolean {
    const key = toMachineKey(machine);
    const isHarmless = isRefusedForGood(error) && error.isOriginal;
    if (!isHarmless) {
      this.#refusedMs.delete(key);
      return false;
    }
    const nowMs = this.#options.clock.monotonic();
    const sinceMs = this.#refusedMs.get(key) ?? nowMs;
    this.#refusedMs.set(key, sinceMs);
    return nowMs - sinceMs >= LOST_MS;
  }

  async #settle(
    machine: ManagedMachine,
    read: StoredOverride,
    signal: AbortSignal,
  ): Promise<OverrideState> {
    const { store, clock } = this.#options;
    let entry = read;
    let orders = 0;
    for (let step = 0; step < STEPS_MAX; step += 1) {
      const { override } = entry;
      if (override === undefined) return "over";
      const plan = planOverride(override, await this.#read(machine, signal));
      if (plan.kind === "wait") return "waits";
      if (plan.kind === "rest") return "holds";
      if (plan.kind === "order") {
        orders += 1;
        const given = { override, isFirst: orders === 1, order: plan.order };
        await this.#giveOrNote(machine, entry, given, signal);
        await clock.sleep(LAG_MS, signal);
      } else {
        const next = plan.kind === "note" ? { ...override, since: plan.since } : undefined;
        entry = await store.write(machine, entry, next, signal);
      }
    }
    const message = `${machine.name} does not show the order of boot devices that was set`;
    throw new CloudError("unreachable", message);
  }

  /**
   * Gives a machine an order. If that fails after an override was used up, this is written down: once the machine is
   * off again, nothing else shows it.
   */
  async #giveOrNote(
    machine: ManagedMachine,
    entry: StoredOverride,
    given: GivenOrder,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await this.#give(machine, given, signal);
    } catch (error) {
      const { override } = given;
      const isUsedUp = override.duration === "once" && override.since !== undefined;
      if (isUsedUp && error instanceof CloudError) {
        const ended = { ...override, duration: "never" } as const;
        await this.#options.store.write(machine, entry, ended, signal);
      }
      throw error;
    }
  }

  /** Gives a machine an order. If the cloud refuses it, looks which one the machine has. */
  async #give(
    machine: ManagedMachine,
    { override, isFirst, order }: GivenOrder,
    signal: AbortSignal,
  ): Promise<void> {
    const { power, fence, clock } = this.#options;
    try {
      await power.setBootOrder(machine.id, order, fence, signal);
    } catch (error) {
      if (!(error instanceof RefusedPowerError)) throw error;
      await clock.sleep(LAG_MS, signal);
      const seen = await this.#read(machine, signal);
      throw new RefusedOrderError(error, { override, seen, isFirst });
    }
  }

  async #read(machine: ManagedMachine, signal: AbortSignal): Promise<MachineReading> {
    const seen = await this.#options.power.read(machine.id, signal);
    if (seen?.name === machine.name) return seen;
    throw new RefusedPowerError("notOurs", `${machine.name} does not exist, or is not complete`);
  }
}

/** What clients see of a record. */
export function toBootOverride(record: OverrideRecord | undefined): BootOverride {
  if (record === undefined || record.duration === "never") return { duration: "never" };
  return { duration: record.duration, device: record.device };
}

/** Nothing was asked of the cloud. */
export class RefusedChangeError extends Error {
  override readonly name = "RefusedChangeError";
  readonly refusal: "firmware" | "incomplete";

  /** @param message What is wrong and what to do; no full stop */
  constructor(refusal: RefusedChangeError["refusal"], message: string) {
    super(message);
    this.refusal = refusal;
  }
}

/** The override after a change. What the change leaves out stays. @throws {RefusedChangeError} if it would be lost */
function toNext(now: BootOverride, change: BootOverrideChange): BootOverride {
  const { duration = now.duration, device = now.device } = change;
  if (device === "none" || change.duration === "never") return { duration: "never" };
  if (device === undefined) {
    const message = "Say what the machine starts from, too: BootSourceOverrideTarget";
    throw new RefusedChangeError("incomplete", message);
  }
  if (duration !== "never") return { duration, device };
  const message = "Say for how long the machine starts from it, too: BootSourceOverrideEnabled";
  throw new RefusedChangeError("incomplete", message);
}

function isSame(one: BootOverride, other: BootOverride): boolean {
  return one.duration === other.duration && one.device === other.device;
}

/** An order that someone else set during the last override is the one that comes back. */
function toRecord(
  { duration, device }: BootOverride,
  last: OverrideRecord | undefined,
  order: readonly BootDevice[],
): OverrideRecord | undefined {
  const before = last && isSameOrder(order, toOverrideOrder(last)) ? last.before : order;
  if (device === undefined) return last && { ...last, duration: "never" };
  return { duration, device, before };
}

/** The next step. */
type OverrideStep =
  /** Give the machine this order, and look again. */
  | { readonly kind: "order"; readonly order: readonly BootDevice[] }
  /** Write down how the machine is: it has its order, or was switched off since. */
  | { readonly kind: "note"; readonly since: Since }
  /** Remove the record: the override is over. */
  | { readonly kind: "clear" }
  /** The override holds; look again after a while whether the machine was started. */
  | { readonly kind: "wait" }
  /** The override holds for good. */
  | { readonly kind: "rest" };

type Seen = Pick<MachineReading, "power" | "bootOrder" | "startedAtMs">;

/** Plans the next step. @param seen The machine, read after the last step */
export function planOverride(record: OverrideRecord, seen: Seen): OverrideStep {
  const order = toOverrideOrder(record);
  const hasOrder = isSameOrder(seen.bootOrder, order);
  if (record.duration === "never") return planEnd(record, hasOrder);
  if (record.since === undefined) {
    return hasOrder ? { kind: "note", since: toSince(seen) } : { kind: "order", order };
  }
  if (record.duration === "always") return { kind: "rest" };
  if (wasStarted(seen, record.since)) return planEnd(record, hasOrder);
  const isOff = record.since.isRunning && !isOn(seen.power);
  return isOff ? { kind: "note", since: toSince(seen) } : { kind: "wait" };
}

/** How a machine is now, to see later that it was started since. */
export function toSince({ power, startedAtMs }: Omit<Seen, "bootOrder">): Since {
  const isRunning = isOn(power);
  return startedAtMs === undefined ? { isRunning } : { isRunning, startedAtMs };
}

/** An order that is neither the new nor the old one was set by someone else, and stays. */
function planEnd(record: OverrideRecord, hasOrder: boolean): OverrideStep {
  const { before } = record;
  const isSame = isSameOrder(before, toOverrideOrder(record));
  return hasOrder && !isSame ? { kind: "order", order: before } : { kind: "clear" };
}

function wasStarted(seen: Omit<Seen, "bootOrder">, { isRunning, startedAtMs }: Since): boolean {
  if (!isOn(seen.power)) return false;
  const isKnown = seen.startedAtMs !== undefined && startedAtMs !== undefined;
  return !isRunning || (isKnown && seen.startedAtMs !== startedAtMs);
}

/** Whether a machine has been started. One that is paused has; one that is suspended continues without a start. */
function isOn(power: Seen["power"]): boolean {
  return power === "running" || power === "paused" || power === "suspended";
}
