/**
 * What it means that a cloud refuses to set the order of boot devices.
 * @module
 */
import {
  type BootDevice,
  type MachineReading,
  type PowerAction,
  type PowerRefusal,
  RefusedPowerError,
} from "../../../cloud/capabilities/machine_power.ts";
import { isSameOrder, type OverrideRecord, toOverrideOrder } from "./override_store.ts";

/** What is known right after a refusal. */
interface AfterRefusal {
  readonly override: OverrideRecord;
  /** The machine as it is now. */
  readonly seen: Pick<MachineReading, "bootOrder" | "power">;
  /** Whether no other order was given since the override was read or written. */
  readonly isFirst: boolean;
}

/** What starts no machine. */
const NO_STARTS: ReadonlySet<PowerAction> = new Set(["off", "gracefulOff", "pause", "resume"]);

/** Whether an action starts no machine, in any state of it. */
export function startsNothing(action: PowerAction): boolean {
  return NO_STARTS.has(action);
}

/** The cloud refused an order, and showed the one that the machine has. */
export class RefusedOrderError extends RefusedPowerError {
  /** The order that the machine has now. */
  readonly order: readonly BootDevice[];
  /** Whether no other order was given since the override was read or written. */
  readonly isFirst: boolean;
  /** Whether the machine starts as if there were no override. */
  readonly isOriginal: boolean;
  /** Whether the machine has the order of the override. */
  readonly isStuck: boolean;
  readonly #override: OverrideRecord;
  readonly #power: MachineReading["power"];

  constructor(cause: RefusedPowerError, { override, seen, isFirst }: AfterRefusal) {
    super(cause.refusal, cause.message, { cause });
    this.order = seen.bootOrder;
    this.isFirst = isFirst;
    this.isOriginal = isSameOrder(seen.bootOrder, override.before);
    this.isStuck = !this.isOriginal && isSameOrder(seen.bootOrder, toOverrideOrder(override));
    this.#override = override;
    this.#power = seen.power;
  }

  /** Whether an action would start the machine from another device than its clients expect. */
  spoils(action: PowerAction): boolean {
    const isOn = this.#power !== "stopped" && this.#power !== "unknown";
    return !this.isOriginal && !startsNothing(action) && !(action === "on" && isOn);
  }

  /** Says what a start would do now, and the ways out; no full stop. */
  describeStart(machine: string): string {
    const { device, before } = this.#override;
    const what = `Machine ${machine} would start from its ${device}, and not from its ${before[0]}`;
    const way = `or set the boot order ${before.join(", ")} in the cloud by hand`;
    return `${what}, because its boot override cannot be undone. ${this.message}; ${way}`;
  }
}

/** A person must do something: another try does not help. */
const LASTING: ReadonlySet<PowerRefusal> = new Set(["denied", "unsupported"]);

/** Whether an order is refused until a person does something. */
export function isRefusedForGood(error: unknown): error is RefusedOrderError {
  return error instanceof RefusedOrderError && LASTING.has(error.refusal);
}
