/**
 * What a specification means in its pool: the template, the networks and the storages that it names, whether a VM can
 * be made of them, and what `create_vm` is asked for. Pure.
 * @module
 */
import {
  type MachineDisk,
  type MachineProblem,
  type MachineSpec,
  parseMachineName,
  toMachineName,
} from "../../../../cloud/capabilities/machines.ts";
import { assert } from "../../../../core/errors.ts";
import { quote } from "../../../../core/text/printable.ts";
import { formatAbout, formatSize } from "../../../../core/text/values.ts";
import type {
  Attached,
  Resources,
  Storage,
  Template,
  Observation,
} from "../observe/observation.ts";
import type { FullView } from "./find.ts";
import { nameHost, namePool, nameStorage, toDecision } from "./problems.ts";
import type { CreateBody } from "../steps.ts";
import { TAG_PREFIX, formatDiskMark, formatMark, toDiskName, toSpecHash } from "../words.ts";

/** A disk to have. */
export interface WantedDisk {
  readonly name: string;
  readonly sizeBytes: number;
  /** Absent: it could not be found. */
  readonly storageId?: string;
  /** Its place in the template. Absent: it is made. */
  readonly position?: string;
}

/** A network interface to have. */
export interface WantedInterface {
  readonly name: string;
  readonly device: string;
  readonly networkId: string;
  readonly mac: string;
  readonly mtu?: number;
  /** ID of another VM in the pool that has its MAC address. */
  readonly takenBy?: string;
}

/** What a specification means in a pool. What could not be found is missing, and has a problem. */
export interface Wanted {
  readonly template?: Template;
  readonly disks: readonly WantedDisk[];
  readonly interfaces: readonly WantedInterface[];
  /** Devices of the template that must go. */
  readonly dropped: readonly string[];
  readonly problems: readonly MachineProblem[];
}

/** Resolves a specification. */
export function toWanted(cloud: FullView, spec: MachineSpec): Wanted {
  const { resources } = cloud;
  const problems: MachineProblem[] = [];
  const note = <T>(found: T | MachineProblem): T | undefined => {
    if (!isProblem(found)) return found;
    problems.push(found);
    return undefined;
  };
  const template = note(findTemplate(cloud, spec));
  const interfaces = spec.interfaces.flatMap((one, at) => {
    const { name, mac, mtu } = one;
    const question = { ...NETWORK, by: `interface ${name}`, wanted: one.network };
    const network = note(findOne(cloud, spec, resources.networks, question));
    if (network === undefined) return [];
    const takenBy = findMacUser(cloud, spec, mac);
    return [
      {
        name,
        device: String(at),
        networkId: network.id,
        mac,
        ...(mtu !== undefined && { mtu }),
        ...(takenBy !== undefined && { takenBy }),
      },
    ];
  });
  const disks = toDisks(cloud, spec, template, note);
  problems.push(...checkFit(cloud, spec, { template, disks }));
  const devices = template === undefined ? [] : (resources.vifs.get(template.id) ?? []);
  const dropped = devices
    .map(({ device }) => device)
    .filter((one) => Number(one) >= spec.interfaces.length);
  return { ...(template && { template }), disks, interfaces, dropped, problems };
}

function isProblem<T>(found: T | MachineProblem): found is MachineProblem {
  return typeof found === "object" && found !== null && "reason" in found;
}

interface Named {
  readonly id: string;
  readonly name: string;
  readonly poolId: string;
}

/** What to find. */
interface Question {
  /** Beginning of the reason. */
  readonly word: string;
  readonly what: string;
  /** What names it: `interface oam`. Absent: the machine itself. */
  readonly by?: string;
  /** Its ID or name. */
  readonly wanted: string;
}

const NETWORK = { word: "Network", what: "network" } as const;
const STORAGE = { word: "Storage", what: "storage repository" } as const;
const TEMPLATE = { word: "Template", what: "template" } as const;

/** Finds the only object of a pool with this ID or name. */
function findOne<T extends Named>(
  cloud: Pick<Observation, "pools">,
  { poolId }: Pick<MachineSpec, "poolId">,
  all: readonly T[],
  { word, what, by, wanted }: Question,
): T | MachineProblem {
  const here = all.filter((one) => one.poolId === poolId);
  const byId = here.find(({ id }) => id === wanted.toLowerCase());
  if (byId !== undefined) return byId;
  const [first, ...others] = here.filter(({ name }) => name === wanted);
  const where = `${by === undefined ? "" : `${by}: `}${namePool(cloud, poolId)}`;
  if (first === undefined) {
    const elsewhere = all.find(({ id, name }) => id === wanted.toLowerCase() || name === wanted);
    const hint = elsewhere === undefined ? "" : `. ${namePool(cloud, elsewhere.poolId)} has one`;
    const advice = `Correct the name in the spec, or let the user of Landfall see that ${what}`;
    const message = `${where} has no ${what} ${quote(wanted)}${hint}. ${advice}`;
    return toDecision(`${word}NotFound`, message);
  }
  if (others.length === 0) return first;
  const ids = [first, ...others].map(({ id }) => id).join(", ");
  const many = `${others.length + 1} objects of the kind ${what} with the name ${quote(wanted)}`;
  return toDecision(`${word}Ambiguous`, `${where} has ${many}. Name one by its ID: ${ids}`);
}

function findTemplate(cloud: FullView, spec: MachineSpec): Template | MachineProblem {
  const { template: wanted } = spec;
  const { resources } = cloud;
  const templates = resources.templates.filter(({ name }) => parseMachineName(name) === undefined);
  const byUuid = templates.find(
    ({ uuid, poolId }) => uuid === wanted.toLowerCase() && poolId === spec.poolId,
  );
  const found = byUuid ?? findOne(cloud, spec, templates, { ...TEMPLATE, wanted });
  if (isProblem(found)) return found;
  // Each VM made from it would be marked from its birth.
  const tag = found.tags.find((one) => one.startsWith(TAG_PREFIX));
  const isMarked = tag !== undefined || found.mark !== undefined;
  if (!isMarked) return found;
  const what = tag === undefined ? "its description" : `its tag ${quote(tag)}`;
  const message = `template ${quote(found.name)} was made from a VM of Landfall: remove ${what}`;
  return toDecision("TemplateMarked", message);
}

function toDisks(
  cloud: FullView,
  spec: MachineSpec,
  template: Template | undefined,
  note: <T>(found: T | MachineProblem) => T | undefined,
): WantedDisk[] {
  const links = template === undefined ? [] : (cloud.resources.attached.get(template.id) ?? []);
  const own = links.filter(({ isCd, disk }) => !isCd && disk !== undefined);
  // What the specification does not name stays as the template has it.
  const more = own.slice(spec.disks.length).map((link) => ({
    name: `disk${link.position}`,
    sizeBytes: link.disk?.sizeBytes ?? 0,
  }));
  return [...spec.disks, ...more].map((disk: MachineDisk, at): WantedDisk => {
    const link: Attached | undefined = own[at];
    const storage = note(findStorage(cloud, spec, { disk, link }));
    const { name, sizeBytes } = disk;
    return {
      name,
      sizeBytes,
      ...(storage && { storageId: storage.id }),
      ...(link && { position: link.position }),
    };
  });
}

function findStorage(
  cloud: FullView,
  spec: MachineSpec,
  { disk, link }: { readonly disk: MachineDisk; readonly link: Attached | undefined },
): Storage | MachineProblem {
  const { resources } = cloud;
  const fallback = link?.disk?.storageId ?? resources.pools.get(spec.poolId)?.defaultStorageId;
  const wanted = disk.storage ?? fallback;
  if (wanted === undefined) {
    const advice = "name one, or set a default storage for the pool";
    return toDecision("StorageNotNamed", `disk ${disk.name} names no storage: ${advice}`);
  }
  const question = { ...STORAGE, by: `disk ${disk.name}`, wanted };
  const found = findOne(cloud, spec, resources.storages, question);
  if (isProblem(found)) return found;
  const named = `disk ${disk.name}: ${nameStorage(resources, found.id)}`;
  if (!found.isUsable) {
    return toDecision("StorageNotUsable", `${named} cannot hold disks now: name another one`);
  }
  if (found.hostId === undefined || found.hostId === spec.hostId) return found;
  const [only, start] = [found.hostId, spec.hostId].map((id) => nameHost(cloud, id));
  const message = `${named} is only for ${only}, but ${toMachineName(spec)} starts on ${start}`;
  return toDecision("StorageNotUsable", `${message}: name a shared one`);
}

/** At least so much must be free on a storage whose disks take space only as they are written, in bytes. */
const THIN_FREE_MIN = 1024 ** 3;

/** Says what does not fit. */
export function checkFit(
  cloud: Observation & { readonly resources: Resources },
  spec: MachineSpec,
  {
    template,
    disks,
  }: { readonly template: Template | undefined; readonly disks: readonly WantedDisk[] },
): MachineProblem[] {
  return [
    ...checkHost(cloud, spec),
    ...checkMemory(spec, template),
    ...checkTemplateDisks(cloud.resources, template, disks),
    ...checkRoom(cloud.resources, disks),
    ...checkMacs(cloud, spec),
  ];
}

function checkHost(cloud: Observation, { hostId, poolId }: MachineSpec): MachineProblem[] {
  const host = cloud.hostsById.get(hostId);
  if (host?.poolId === poolId) return [];
  const message = `${namePool(cloud, poolId)} has no ${nameHost(cloud, hostId)}`;
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
  resources: Resources,
  template: Template | undefined,
  disks: readonly WantedDisk[],
): MachineProblem[] {
  if (template === undefined) return [];
  const links = resources.attached.get(template.id) ?? [];
  return disks.flatMap(({ name, sizeBytes, position }) => {
    const has = links.find((link) => link.position === position && !link.isCd)?.disk?.sizeBytes;
    if (has === undefined || has <= sizeBytes) return [];
    const [from, to] = [has, sizeBytes].map(formatSize);
    const what = `disk ${name}: the template's disk has ${from}, and a disk cannot shrink to ${to}`;
    const message = `${what}. Ask for ${from} or more`;
    return [toDecision("DiskTooSmall", message)];
  });
}

function checkRoom(resources: Resources, disks: readonly WantedDisk[]): MachineProblem[] {
  const byStorage = Map.groupBy(disks, ({ storageId = "" }) => storageId);
  return [...byStorage].flatMap(([id, some]) => {
    const storage = resources.storages.find((one) => one.id === id);
    if (storage?.freeBytes === undefined) return [];
    const needed = some.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const least = storage.isThick ? needed : Math.min(needed, THIN_FREE_MIN);
    if (storage.freeBytes >= least) return [];
    const free = `${formatAbout(storage.freeBytes)} free, and ${formatAbout(least)} are needed`;
    const advice = "make room, or name another one";
    const message = `${nameStorage(resources, id)} has ${free}: ${advice}`;
    return [{ ...toDecision("StorageFull", message), kind: "retry" as const }];
  });
}

/** No other VM of the pool may have one of the MAC addresses. Templates never run. */
function checkMacs(
  cloud: Observation & { readonly resources: Resources },
  spec: MachineSpec,
): MachineProblem[] {
  return spec.interfaces.flatMap(({ name, mac }) => {
    const other = findMacUser(cloud, spec, mac);
    if (other === undefined) return [];
    const what = `interface ${name}: VM ${other} has the MAC address ${mac} already`;
    const message = `${what}: remove the interface of that VM`;
    return [toDecision("MacTaken", message)];
  });
}

/** The ID of another VM in the pool of a machine that has a MAC address. */
function findMacUser(
  { resources, vms }: Pick<Observation, "vms"> & { readonly resources: Resources },
  spec: MachineSpec,
  mac: string,
): string | undefined {
  const own = [...(vms.get(toMachineName(spec)) ?? []), ...resources.templates];
  const ownIds = new Set(own.map(({ id }) => id));
  const users = resources.macs.get(mac) ?? [];
  return users.find(({ vmId, poolId }) => poolId === spec.poolId && !ownIds.has(vmId))?.vmId;
}

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
