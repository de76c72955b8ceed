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
import { planOverride } from "./override_plan.ts";
import { isSameOrder, type OverrideRecord, toOverrideOrder } from "./override_record.ts";
import type { CachedSecret, ManagedMachine, SecretCache } from "./secret_cache.ts";

/** What {@linkcode BootOverrides} need. */
export interface BootOverridesOptions {
  readonly power: MachinePower;
  readonly secrets: SecretCache;
  readonly fence: Fence;
  readonly clock: Clock;
}

/** How far an override is: over; waiting for the next start; holding for good. */
export type OverrideState = "over" | "waits" | "holds";

/** A cloud shows a new order after 10 to 250 ms. */
const LAG_MS = 300;
/** More than it takes from any state to the next that lasts. */
const STEPS_MAX = 12;

/** The boot overrides of all machines. Only one call at a time may be about a machine. */
export class BootOverrides {
  readonly #options: BootOverridesOptions;

  constructor(options: BootOverridesOptions) {
    this.#options = options;
  }

  /** Goes on with the override of a machine as far as it can now. */
  async settle(machine: ManagedMachine, signal: AbortSignal): Promise<OverrideState> {
    return await this.#settle(machine, await this.#options.secrets.read(machine, signal), signal);
  }

  /**
   * Changes an override. When this resolves, the machine has its order, and what must be undone is written down.
   *
   * @throws {RefusedPowerError} if it cannot be done
   * @throws {CloudError} or {@linkcode KubeError} if it may have been done
   */
  async change(
    machine: ManagedMachine,
    change: BootOverrideChange,
    signal: AbortSignal,
  ): Promise<OverrideState> {
    const { secrets } = this.#options;
    const state = await this.settle(machine, signal);
    const entry = secrets.find(machine) ?? {};
    const { override } = entry;
    const next = toNext(toBootOverride(override), change);
    if (isSame(next, toBootOverride(override))) return state;
    const seen = await this.#read(machine, signal);
    if (seen.bootOrder.length === 0) {
      const message = "The cloud does not show what the machine starts from, so it cannot be set";
      throw new RefusedPowerError("unsupported", message);
    }
    const record = toRecord(next, override, seen.bootOrder);
    return await this.#settle(machine, await secrets.write(machine, entry, record, signal), signal);
  }

  async #settle(
    machine: ManagedMachine,
    read: CachedSecret,
    signal: AbortSignal,
  ): Promise<OverrideState> {
    const { secrets, power, fence, clock } = this.#options;
    let entry = read;
    for (let step = 0; step < STEPS_MAX; step += 1) {
      const { override } = entry;
      if (override === undefined) return "over";
      const plan = planOverride(override, await this.#read(machine, signal));
      if (plan.kind === "wait") return "waits";
      if (plan.kind === "rest") return "holds";
      if (plan.kind === "order") {
        await power.setBootOrder(machine.id, plan.order, fence, signal);
        await clock.sleep(LAG_MS, signal);
      } else {
        const next = plan.kind === "note" ? { ...override, since: plan.since } : undefined;
        entry = await secrets.write(machine, entry, next, signal);
      }
    }
    const message = `${machine.name} does not show the order of boot devices that was set`;
    throw new CloudError("unreachable", message);
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

/** The override after a change. What the change leaves out stays. */
function toNext(now: BootOverride, change: BootOverrideChange): BootOverride {
  const { duration = now.duration, device = now.device } = change;
  if (device === "none" || duration === "never") return { duration: "never" };
  if (device !== undefined) return { duration, device };
  const message = "Say what the machine starts from, too: BootSourceOverrideTarget";
  throw new RefusedPowerError("unsupported", message);
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
