/**
 * Whether a VM runs. Pure.
 * @module
 */
import type { InstanceState } from "../../../cloud/instance.ts";

const RUNNING: ReadonlySet<string> = new Set(["Running", "Starting", "Stopping", "Migrating"]);
/** A destroyed VM can be recovered until it is expunged. */
const STOPPED: ReadonlySet<string> = new Set(["Stopped", "Shutdown", "Destroyed"]);
const GONE: ReadonlySet<string> = new Set(["Expunging", "Expunged"]);

/** Whether a VM in this state runs. `Error`, `Unknown` and states of later versions say nothing. */
export function toInstanceState(state: string | null | undefined): InstanceState {
  if (RUNNING.has(state ?? "")) return "running";
  return STOPPED.has(state ?? "") ? "stopped" : "unknown";
}

/** Whether a VM in this state is gone for good, although the server still shows it. */
export function isGone(state: string | null | undefined): boolean {
  return GONE.has(state ?? "");
}

/** Whether a VM in this state runs no kubelet: it is thrown away, or was never made. */
export function isDead(state: string | null | undefined): boolean {
  return state === "Destroyed" || state === "Error";
}
