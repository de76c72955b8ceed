/**
 * Starts, stops and restarts virtual machines.
 * @module
 */
import type { PowerState, XoRecord } from "../../records.ts";
import { toOperation, type Work } from "../backend.ts";
import { XapiError, XoError } from "../errors.ts";
import { toHandleInvalid } from "./disks.ts";

/** What can be done with the power, by the word in the path. */
export interface PowerRule {
  /** Method of the hypervisor. */
  readonly method: string;
  /** States in which it can be done; the first one is what the refusal asks for. */
  readonly from: readonly PowerState[];
  /** The state after it. */
  readonly to: PowerState;
  /** Whether the guest must take part. @default {false} */
  readonly needsTools?: boolean;
  /** The word under which it is blocked, and the privilege that it needs. */
  readonly blockedAs: string;
  readonly privilege: string;
}

/** All of them. */
export const POWER_RULES: ReadonlyMap<string, PowerRule> = new Map<string, PowerRule>([
  ["start", toRule("VM.start", ["Halted"], "Running", "start", "start")],
  [
    "hard_shutdown",
    toRule(
      "VM.hard_shutdown",
      ["Running", "Paused", "Suspended"],
      "Halted",
      "hard_shutdown",
      "shutdown:hard",
    ),
  ],
  [
    "clean_shutdown",
    {
      ...toRule("VM.clean_shutdown", ["Running"], "Halted", "clean_shutdown", "shutdown:clean"),
      needsTools: true,
    },
  ],
  [
    "hard_reboot",
    toRule("VM.hard_reboot", ["Running", "Paused"], "Running", "hard_reboot", "reboot:hard"),
  ],
  [
    "clean_reboot",
    {
      ...toRule("VM.clean_reboot", ["Running"], "Running", "clean_reboot", "reboot:clean"),
      needsTools: true,
    },
  ],
  ["pause", toRule("VM.pause", ["Running"], "Paused", "pause", "pause")],
  ["unpause", toRule("VM.unpause", ["Paused"], "Running", "unpause", "unpause")],
  ["suspend", toRule("VM.suspend", ["Running"], "Suspended", "suspend", "suspend")],
  ["resume", toRule("VM.resume", ["Suspended"], "Running", "resume", "resume")],
]);

function toRule(
  method: string,
  from: readonly PowerState[],
  to: PowerState,
  blockedAs: string,
  privilege: string,
): PowerRule {
  return { method, from, to, blockedAs, privilege };
}

/** Starts a machine. @param hostId Where; otherwise the hypervisor chooses */
export async function startVm(work: Work, vm: XoRecord, hostId?: string): Promise<void> {
  await changePower(work, vm, "start", hostId);
}

/**
 * Changes the power.
 *
 * @throws {XoError} 403 if a person blocked it
 * @throws {XapiError} if the state of the machine or of its host does not allow it
 */
export async function changePower(
  work: Work,
  vm: XoRecord,
  action: string,
  hostId?: string,
): Promise<void> {
  const rule = POWER_RULES.get(action);
  if (rule === undefined) throw new RangeError(`Cannot find action "${action}"`);
  refuseBlocked(vm, rule);
  const host = hostId === undefined ? undefined : work.find("hosts", hostId, "host");
  await work.call(toOperation(rule.method, vm, { isAsync: true }), () => {
    refuseGone(work, vm);
    const ref = String(vm["_xapiRef"]);
    const power = String(vm["power_state"]);
    if (!rule.from.some((one) => one === power)) {
      const wanted = String(rule.from[0]).toLowerCase();
      throw new XapiError("VM_BAD_POWER_STATE", [ref, wanted, power.toLowerCase()]);
    }
    if (rule.needsTools === true && !hasTools(vm)) throw new XapiError("VM_LACKS_FEATURE", [ref]);
    const target = rule.to === "Running" ? findHost(work, vm, host) : undefined;
    work.state.setPower(vm.id, rule.to, target?.id);
    // A VM that continues after a pause was not started.
    if (rule.to === "Running" && action !== "unpause") {
      vm["startTime"] = Math.floor(work.backend.clock.now() / 1_000);
    }
  });
}

/** @throws {XapiError} if a machine was deleted since it was found */
export function refuseGone({ state }: Work, vm: XoRecord): void {
  if (!state.all("vms").has(vm.id)) throw toHandleInvalid("VM", vm);
}

/** Whether the guest can be asked. */
function hasTools(vm: XoRecord): boolean {
  return typeof vm["xenTools"] === "object" && vm["xenTools"] !== null;
}

/** XO names the operation with a capital letter. */
function refuseBlocked(vm: XoRecord, { blockedAs }: PowerRule): void {
  const reason: unknown = Object(vm["blockedOperations"])[blockedAs];
  if (reason === undefined) return;
  const words = blockedAs.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const operation = words.join("");
  throw new XoError(403, `forbidden operation: ${operation}`, { operation, reason });
}

function findHost(work: Work, vm: XoRecord, wanted: XoRecord | undefined): XoRecord | undefined {
  if (vm["power_state"] !== "Halted") return undefined;
  if (wanted !== undefined) {
    if (wanted["enabled"] === true) return wanted;
    throw new XapiError("HOST_DISABLED", [String(wanted["_xapiRef"])]);
  }
  const hosts = [...work.state.all("hosts").values()].filter(
    (host) => host["$pool"] === vm["$pool"] && host["enabled"] === true,
  );
  const [first] = hosts.toSorted((one, two) => rank(two, vm) - rank(one, vm));
  if (first === undefined) throw new XapiError("NO_HOSTS_AVAILABLE");
  return first;
}

function rank(host: XoRecord, vm: XoRecord): number {
  return host.id === vm["affinityHost"] ? 1 : 0;
}
