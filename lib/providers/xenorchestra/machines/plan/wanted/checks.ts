/**
 * Checks that a VM can be made as a specification wants it, before anything is asked for. Pure.
 * @module
 */
import {
  type MachineProblem,
  type MachineSpec,
  toMachineName,
} from "../../../../../cloud/capabilities/machines.ts";
import { quote } from "../../../../../core/text/printable.ts";
import type { Stock, Template, View } from "../../look/view.ts";
import { toDecision } from "../problems.ts";
import type { WantedDisk } from "./wanted.ts";

/** At least so much must be free on a storage whose disks take space only as they are written, in bytes. */
const THIN_FREE_MIN = 1024 ** 3;

/** Says what does not fit. */
export function checkFit(
  view: View & { readonly stock: Stock },
  spec: MachineSpec,
  {
    template,
    disks,
  }: { readonly template: Template | undefined; readonly disks: readonly WantedDisk[] },
): MachineProblem[] {
  return [
    ...checkHost(view, spec),
    ...checkMemory(spec, template),
    ...checkTemplateDisks(view.stock, template, disks),
    ...checkRoom(view.stock, disks),
    ...checkMacs(view, spec),
  ];
}

function checkHost({ hostsById }: View, { hostId, poolId }: MachineSpec): MachineProblem[] {
  const host = hostsById.get(hostId);
  if (host?.poolId === poolId) return [];
  return [toDecision("HostNotFound", `pool ${poolId} has no host ${hostId}`)];
}

function checkMemory(spec: MachineSpec, template: Template | undefined): MachineProblem[] {
  const least = template?.memoryBytesMin ?? 0;
  if (spec.memoryBytes >= least) return [];
  const named = `template ${quote(template?.name ?? "")}`;
  const message = `${named} needs at least ${least} bytes of memory: ask for more than ${spec.memoryBytes}`;
  return [toDecision("MemoryTooSmall", message)];
}

function checkTemplateDisks(
  stock: Stock,
  template: Template | undefined,
  disks: readonly WantedDisk[],
): MachineProblem[] {
  if (template === undefined) return [];
  const links = stock.attached.get(template.id) ?? [];
  return disks.flatMap(({ name, sizeBytes, position }) => {
    const has = links.find((link) => link.position === position && !link.isCd)?.disk?.sizeBytes;
    if (has === undefined || has <= sizeBytes) return [];
    const message = `disk ${name}: the template's disk has ${has} bytes, and a disk cannot shrink to ${sizeBytes}`;
    return [toDecision("DiskTooSmall", message)];
  });
}

function checkRoom(stock: Stock, disks: readonly WantedDisk[]): MachineProblem[] {
  const byStorage = Map.groupBy(disks, ({ storageId = "" }) => storageId);
  return [...byStorage].flatMap(([id, some]) => {
    const storage = stock.storages.find((one) => one.id === id);
    if (storage?.freeBytes === undefined) return [];
    const needed = some.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const least = storage.isThick ? needed : Math.min(needed, THIN_FREE_MIN);
    if (storage.freeBytes >= least) return [];
    const named = `storage repository ${quote(storage.name)} (${id})`;
    const advice = "make room, or name another one";
    const message = `${named} has ${storage.freeBytes} of ${least} bytes that are needed: ${advice}`;
    return [{ ...toDecision("StorageFull", message), kind: "retry" as const }];
  });
}

/** No other VM of the pool may have one of the MAC addresses. Templates never run. */
function checkMacs(view: View & { readonly stock: Stock }, spec: MachineSpec): MachineProblem[] {
  return spec.interfaces.flatMap(({ name, mac }) => {
    const other = findMacUser(view, spec, mac);
    if (other === undefined) return [];
    const message = `interface ${name}: VM ${other} has the MAC address ${mac} already: remove its interface`;
    return [toDecision("MacTaken", message)];
  });
}

/** The ID of another VM in the pool of a machine that has a MAC address. */
export function findMacUser(
  { stock, vms }: Pick<View, "vms"> & { readonly stock: Stock },
  spec: MachineSpec,
  mac: string,
): string | undefined {
  const own = [...(vms.get(toMachineName(spec)) ?? []), ...stock.templates];
  const ownIds = new Set(own.map(({ id }) => id));
  const users = stock.macs.get(mac) ?? [];
  return users.find(({ vmId, poolId }) => poolId === spec.poolId && !ownIds.has(vmId))?.vmId;
}
