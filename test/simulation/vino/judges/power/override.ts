/**
 * Boot overrides as they are written down, read without the controller's own code.
 * @module
 */
import type { ApiObject, ObjectAccess } from "../../../../../lib/simulator/kubernetes/mod.ts";
import { objectAt, stringAt } from "../../../../../lib/simulator/kubernetes/patches/json.ts";
import { pathOf } from "../../../../../lib/simulator/metal3/host_state.ts";
import type { XoRecord } from "../../../../../lib/simulator/xenorchestra/mod.ts";

const RECORD = "landfall.dev/boot-override";
/** Devices in letters of the hypervisor. */
export const LETTERS: Readonly<Record<string, string>> = { disk: "c", network: "n", cd: "d" };

/** What is written down. */
export interface Override {
  readonly duration: string;
  /** In letters of the hypervisor, while it holds: `ncd`. */
  readonly order: string;
  /** The order that comes back. */
  readonly before: string;
  /** How the VM was when it had its new order. Absent: it may not have it yet. */
  readonly since?: { readonly isRunning: boolean; readonly startedAtMs?: number };
}

/** The name of the Secret with the override of a host. */
export function toSecretName(host: string): string {
  return `${host}-boot-override`;
}

/** The override of a host. Absent: there is none. */
export function readOverride(objects: ObjectAccess, host: ApiObject): Override | undefined {
  const { namespace, name } = pathOf(host);
  const secret = objects.get("secrets", { namespace, name: toSecretName(name) });
  const isMeant = secret && toOverriddenVm(secret) === toOverriddenVm(host);
  return isMeant === true ? parseOverride(secret) : undefined;
}

/** The override that a Secret has. */
export function parseOverride({ metadata }: ApiObject): Override | undefined {
  const text = stringAt(objectAt(metadata, "annotations"), RECORD);
  if (text === "") return undefined;
  const { duration, device, before, since } = JSON.parse(text);
  const old = before.map((one: string) => LETTERS[one]).join("");
  const letter = LETTERS[device] ?? "";
  return { duration, before: old, order: letter + old.replaceAll(letter, ""), since };
}

/** The VM that a record, or a host, is about. */
export function toOverriddenVm({ metadata }: ApiObject): string {
  return stringAt(objectAt(metadata, "annotations"), "landfall.dev/machine-id");
}

/** Whether only a start of the VM can end an override: it has its order, and was not started since. */
export function waitsForStart({ since }: Override, vm: XoRecord): boolean {
  if (since === undefined) return false;
  const startedAtMs = Number(vm["startTime"] ?? 0) * 1_000;
  if (!since.isRunning) return vm["power_state"] === "Halted";
  return since.startedAtMs === undefined || startedAtMs === 0 || since.startedAtMs === startedAtMs;
}

/** What a VM starts from, in letters. */
export function orderOf(vm: XoRecord): string {
  return String(Object(vm["boot"]).order ?? "");
}
