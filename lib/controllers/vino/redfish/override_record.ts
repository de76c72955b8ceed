/**
 * The record of a boot override, which outlives this process: an annotation of a Secret that the machine has for
 * this. A cloud knows only the order in which a machine tries its devices, and keeps it for good.
 * @module
 */
import { parseFields } from "../../../core/text/values.ts";
import type { BootDevice } from "../../../cloud/capabilities/machine_power.ts";

/** An override that was asked for. */
export interface OverrideRecord {
  /** `never`: it is being undone. */
  readonly duration: "once" | "always" | "never";
  readonly device: BootDevice;
  /** The order before it, which comes back after it. */
  readonly before: readonly BootDevice[];
  /** How the machine was when it had its new order. Absent: it may not have it yet. */
  readonly since?: Since;
}

/** How a machine was. */
export interface Since {
  readonly isRunning: boolean;
  /** When it was started last, in milliseconds of the cloud's clock; absent: not known. */
  readonly startedAtMs?: number;
}

const DURATIONS = ["once", "always", "never"] as const;
const DEVICES = ["disk", "network", "cd"] as const;

/** Writes a record down. */
export function formatOverride(record: OverrideRecord): string {
  return JSON.stringify(record);
}

/** Reads a record. @returns `undefined` if it is not one of ours */
export function parseOverride(text: string): OverrideRecord | undefined {
  const { duration, device, before, since } = parseFields(text) ?? {};
  const known = DURATIONS.find((one) => one === duration);
  const target = DEVICES.find((one) => one === device);
  const order = Array.isArray(before)
    ? before.map((one) => DEVICES.find((own) => own === one))
    : [];
  if (known === undefined || target === undefined || order.length === 0) return undefined;
  if (!order.every((one) => one !== undefined)) return undefined;
  const record = { duration: known, device: target, before: order };
  const noted = since === undefined ? undefined : parseSince(since);
  return noted ? { ...record, since: noted } : record;
}

/** The order while the override holds: its device first, the others behind it in their order. */
export function toOverrideOrder({
  device,
  before,
}: Pick<OverrideRecord, "device" | "before">): readonly BootDevice[] {
  return [device, ...before.filter((one) => one !== device)];
}

/** Whether two orders are the same. */
export function isSameOrder(one: readonly BootDevice[], other: readonly BootDevice[]): boolean {
  return one.length === other.length && one.every((device, at) => device === other[at]);
}

function parseSince(value: unknown): Since | undefined {
  if (typeof value !== "object" || value === null || !("isRunning" in value)) return undefined;
  const { isRunning } = value;
  if (typeof isRunning !== "boolean") return undefined;
  const startedAtMs = "startedAtMs" in value ? value.startedAtMs : undefined;
  return typeof startedAtMs === "number" ? { isRunning, startedAtMs } : { isRunning };
}
