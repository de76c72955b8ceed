/**
 * What follows from the power of a virtual machine: its host, what its guest reports, and what is plugged.
 * @module
 */
import { type PowerState, toGuest, type XoRecord } from "../records.ts";

/** What is known of a guest without tools. */
const TOOLLESS = { startTime: toGuest({})["startTime"], os_version: null, xenTools: false };
const OF_GUESTS = [
  "xenTools",
  "managementAgentDetected",
  "pvDriversDetected",
  "startTime",
] as const;

/** What {@linkcode applyPower} needs. */
interface PowerChange {
  readonly power: PowerState;
  /** The host of a machine that runs; absent: it stays where it is. */
  readonly hostId: string | undefined;
  readonly hasTools: boolean;
}

/** Changes the power of a record, and all fields that follow. */
export function applyPower(vm: XoRecord, { power, hostId, hasTools }: PowerChange): void {
  vm["power_state"] = power;
  if (power === "Running" || power === "Paused") {
    if (hostId !== undefined) vm["$container"] = hostId;
    const { startTime = TOOLLESS.startTime, addresses } = vm;
    Object.assign(vm, { ...(hasTools ? toGuest({}) : TOOLLESS), startTime, addresses });
    return;
  }
  Object.assign(vm, { $container: vm["$pool"], addresses: {}, mainIpAddress: undefined });
  vm["os_version"] = null;
  for (const field of OF_GUESTS) delete vm[field];
}

/** Plugs the disks and interfaces of a machine, or unplugs them. */
export function plug(vm: XoRecord, vifs: Iterable<XoRecord>, vbds: Iterable<XoRecord>): void {
  const attached = vm["power_state"] === "Running" || vm["power_state"] === "Paused";
  for (const vif of vifs) if (vif["$VM"] === vm.id) vif["attached"] = attached;
  for (const vbd of vbds) if (vbd["VM"] === vm.id) vbd["attached"] = attached;
}
