/**
 * Plans the next step of a boot override, from its record and the machine as it is. Pure.
 *
 * A step is done again if its effect is not seen, so that a process may end after any of them: the next one goes on.
 * @module
 */
import type { BootDevice, MachineReading } from "../../../cloud/capabilities/machine_power.ts";
import {
  isSameOrder,
  type OverrideRecord,
  type Since,
  toOverrideOrder,
} from "./override_record.ts";

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
