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
import { formatAbout, formatSize } from "../../../../../core/text/values.ts";
import type { Stock, Template, View } from "../../look/view.ts";
import { nameHost, namePool, nameStorage } from "../names.ts";
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

function checkHost(view: View, { hostId, poolId }: MachineSpec): MachineProblem[] {
  const host = view.hostsById.get(hostId);
  if (host?.poolId === poolId) return [];
  const message = `${namePool(view, poolId)} has no ${nameHost(view, hostId)}`;
  return [toDecision("HostNotFound", message)];
}

function checkMemory(spec: MachineSpec, template: Template | undefined): MachineProblem[] {
  const least = template?.memoryBytesMin ?? 0;
  if (spec.memoryBytes >= least) return [];
  const named = `template ${quote(template?.name ?? "")}`;
  const needs = `needs at least ${formatSize(least)} of memory`;
  const message = `${named} ${needs}: ask for more than ${formatSize(spec.memoryBytes)}`;
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
    const [from, to] = [has, sizeBytes].map(formatSize);
    const what = `disk ${name}: the template's disk has ${from}, and a disk cannot shrink to ${to}`;
    const message = `${what}. Ask for ${from} or more`;
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
    const free = `${formatAbout(storage.freeBytes)} free, and ${formatAbout(least)} are needed`;
    const advice = "make room, or name another one";
    const message = `${nameStorage(stock, id)} has ${free}: ${advice}`;
    return [{ ...toDecision("StorageFull", message), kind: "retry" as const }];
  });
}

/** No other VM of the pool may have one of the MAC addresses. Templates never run. */
function checkMacs(view: View & { readonly stock: Stock }, spec: MachineSpec): MachineProblem[] {
  return spec.interfaces.flatMap(({ name, mac }) => {
    const other = findMacUser(view, spec, mac);
    if (other === undefined) return [];
    const what = `interface ${name}: VM ${other} has the MAC address ${mac} already`;
    const message = `${what}: remove the interface of that VM`;
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
