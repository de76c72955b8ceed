/**
 * What `create_vm` is asked for. Pure.
 * @module
 */
import { type MachineSpec, toMachineName } from "../../../../../cloud/capabilities/machines.ts";
import { assert } from "../../../../../core/errors.ts";
import type { Template } from "../../look/view.ts";
import type { CreateBody } from "../../steps.ts";
import { formatDiskMark, formatMark, toDiskName, toSpecHash } from "../../words.ts";
import type { Wanted, WantedDisk, WantedInterface } from "./wanted.ts";

/** Builds the body. It starts nothing, and holds no secret: tasks keep it. */
export function toCreateBody(
  spec: MachineSpec,
  template: Template,
  { disks, interfaces, dropped }: Wanted,
): CreateBody {
  const name = toMachineName(spec);
  const made = { hostId: spec.hostId, hash: toSpecHash(spec) };
  return {
    template: template.uuid,
    name_label: name,
    name_description: formatMark(spec, made, false),
    cpus: spec.cpus,
    memory: spec.memoryBytes,
    affinity: spec.hostId,
    boot: false,
    clone: true,
    vifs: [...interfaces.map(toVif), ...dropped.map((device) => ({ device, destroy: true }))],
    vdis: disks.map((disk) => toVdi(spec, name, disk)),
    ...(spec.boot === "network" && { install: { method: "network", repository: "" } }),
  };
}

/** With its device, so that it replaces that of the template. */
function toVif({ device, networkId: network, mac, mtu }: WantedInterface): object {
  return { device, network, mac, ...(mtu !== undefined && { mtu }) };
}

/** With its storage: without it the server takes the default one, also if a wrong one was named. */
function toVdi(spec: MachineSpec, machineName: string, disk: WantedDisk): object {
  const { name, sizeBytes: size, storageId: sr, position } = disk;
  assert(sr !== undefined, "a VM is created only if the storage of each disk was found");
  const fields = {
    name_label: toDiskName(machineName, name),
    name_description: formatDiskMark(spec, name),
    size,
    sr,
  };
  return position === undefined ? fields : { userdevice: position, ...fields };
}
