/**
 * Turns raw VMs and templates into those of a view. Pure.
 * @module
 */
import type { MachinePowerState } from "../../../../cloud/capabilities/machine_power.ts";
import type { RawTemplate, RawVm } from "../wire/objects.ts";
import { parseMark } from "../words.ts";
import type { Template, Vm } from "./view.ts";

const POWERS: Readonly<Record<string, MachinePowerState>> = {
  Running: "running",
  Halted: "stopped",
  Paused: "paused",
  Suspended: "suspended",
};
const FIRMWARES = ["bios", "uefi"] as const;

/** Turns a raw VM into one of a view. */
export function toVm(raw: RawVm): Vm {
  const description = raw.name_description ?? "";
  const mark = parseMark(description);
  const power = POWERS[raw.power_state ?? ""] ?? "unknown";
  const [memoryBytesMin, memoryBytes] = raw.memory?.static ?? [];
  const cpus = raw.CPUs?.number ?? raw.CPUs?.max ?? undefined;
  const block = raw.blockedOperations?.["destroy"];
  const creation = toCreation(raw.creation);
  const isOn = power === "running" || power === "paused";
  const hostId = isOn && raw.$container !== raw.$pool ? raw.$container : undefined;
  return {
    id: raw.id,
    name: raw.name_label,
    description,
    poolId: raw.$pool,
    power,
    ...(hostId ? { hostId } : {}),
    ...(cpus !== undefined && { cpus }),
    ...(memoryBytes !== undefined && { memoryBytes }),
    ...(memoryBytesMin !== undefined && { memoryBytesMin }),
    tags: raw.tags ?? [],
    ...(mark && { mark }),
    ...(block !== undefined && block !== null && { destroyBlock: String(block) }),
    bootOrder: raw.boot?.order ?? "",
    firmware: FIRMWARES.find((one) => one === raw.boot?.firmware) ?? "unknown",
    linkIds: raw.$VBDs ?? [],
    vifIds: raw.VIFs ?? [],
    ...(creation && { creation }),
    isStarted: Boolean(raw.startTime),
    ...(raw.startTime && { startedAtMs: raw.startTime * 1_000 }),
    hasSnapshots: (raw.snapshots ?? []).length > 0,
    isBusy: Object.keys(raw.current_operations ?? {}).length > 0,
    hasTools: raw.pvDriversDetected === true || Boolean(raw.xenTools),
  };
}

/** Turns a raw template into one of a view. */
export function toTemplate(raw: RawTemplate): Template {
  return {
    ...toVm(raw),
    uuid: raw.uuid ?? raw.id,
    isDefault: raw.isDefaultTemplate === true,
  };
}

function toCreation(raw: RawVm["creation"]): Vm["creation"] {
  if (!raw) return undefined;
  const { user, template, date } = raw;
  const dateMs = typeof date === "string" ? Date.parse(date) : Number(date ?? Number.NaN);
  return {
    ...(user ? { user } : {}),
    ...(template ? { template } : {}),
    ...(Number.isNaN(dateMs) ? {} : { dateMs }),
  };
}
