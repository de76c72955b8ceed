/**
 * Turns the lists of an observation into what a change depends on. Pure.
 * @module
 */
import type { MachineMac } from "../../../../cloud/capabilities/machine_power.ts";
import { MACHINE_PREFIX, toMachineName } from "../../../../cloud/capabilities/machines.ts";
import { shorten } from "../../../../core/text/printable.ts";
import {
  type Attached,
  type CreateTask,
  type Disk,
  type ApiUser,
  type Network,
  type Pool,
  type Resources,
  type Storage,
  type Vif,
  type Vm,
  toTemplate,
} from "./observation.ts";
import type {
  RawNetwork,
  RawPool,
  RawStorage,
  RawTask,
  RawTemplate,
  RawVbd,
  RawVdi,
  RawVif,
} from "../wire/objects.ts";

/** The lists. */
export interface ResourceLists {
  readonly user: ApiUser;
  readonly pools: readonly RawPool[];
  readonly templates: readonly RawTemplate[];
  readonly tasks: readonly RawTask[] | undefined;
  readonly storages: readonly RawStorage[];
  readonly networks: readonly RawNetwork[];
  readonly vifs: readonly RawVif[];
  readonly links: readonly RawVbd[];
  readonly disks: readonly RawVdi[];
  readonly adrift: readonly RawVdi[];
  readonly unnamable: ReadonlySet<string>;
  readonly begun: ReadonlySet<string>;
  /** For how long disks are known to be unused, by their IDs. */
  readonly noteUnused: (diskIds: readonly string[]) => ReadonlyMap<string, number>;
  /** For how long no VM has been made of templates, by their IDs. */
  readonly noteIdle: (templateIds: readonly string[]) => ReadonlyMap<string, number>;
}

const ERROR_CHARS_MAX = 200;
const STATUSES = ["pending", "success", "failure", "interrupted"] as const;

/** Builds the resources. */
export function toResources(lists: ResourceLists): Resources {
  const disks = new Map(lists.disks.map((raw) => [raw.id, toDisk(raw)]));
  const isOrphan = ({ name, links }: Disk): boolean =>
    name.startsWith(MACHINE_PREFIX) && links === 0;
  const orphans = [...disks.values()].filter(isOrphan);
  const templates = lists.templates.map(toTemplate);
  const idle = lists.noteIdle(templates.filter(({ isBusy }) => !isBusy).map(({ id }) => id));
  const unused = lists.noteUnused(orphans.map(({ id }) => id));
  return {
    ...(lists.user.id !== undefined && { userId: lists.user.id }),
    blind: lists.user.blind,
    pools: new Map(lists.pools.map((raw) => [raw.id, toPool(raw)])),
    templates: templates.map((one) => ({ ...one, idleMs: idle.get(one.id) ?? 0 })),
    ...(lists.tasks && { tasks: toTasks(lists.tasks) }),
    storages: lists.storages.map(toStorage),
    networks: lists.networks.map(toNetwork),
    vifs: toVifs(lists.vifs),
    macs: groupByMac(lists.vifs),
    attached: toAttached(lists.links, disks),
    orphans: orphans.map((disk) => ({ ...disk, unusedMs: unused.get(disk.id) ?? 0 })),
    unnamable: lists.unnamable,
    begun: lists.begun,
    adrift: lists.adrift.map(toDisk),
  };
}

function toPool({ id, name_label: name, default_SR: storage }: RawPool): Pool {
  return { id, name: name ?? id, ...(storage ? { defaultStorageId: storage } : {}) };
}

function toNetwork({ id, name_label: name, $pool: poolId }: RawNetwork): Network {
  return { id, name: name ?? id, poolId: poolId ?? "" };
}

function toStorage(raw: RawStorage): Storage {
  const { id, size, physical_usage: used, $pool: poolId, $container: container } = raw;
  const isDrive = raw.content_type === "iso" || ["iso", "udev"].includes(raw.SR_type ?? "");
  const isLocal = raw.shared === false && container && container !== poolId;
  const isKnown = typeof size === "number" && typeof used === "number" && size > 0;
  return {
    id,
    name: raw.name_label ?? id,
    poolId: poolId ?? "",
    ...(isLocal ? { hostId: container } : {}),
    isUsable: !isDrive && raw.inMaintenanceMode !== true,
    ...(isKnown && { freeBytes: Math.max(0, size - used) }),
    isThick: raw.allocationStrategy === "thick",
  };
}

/** Turns a raw disk into one of an observation. */
export function toDisk(raw: RawVdi): Disk {
  return {
    id: raw.id,
    name: raw.name_label ?? "",
    description: raw.name_description ?? "",
    sizeBytes: raw.size,
    storageId: raw.$SR ?? "",
    poolId: raw.$pool ?? "",
    links: raw.$VBDs?.length ?? 0,
  };
}

function toVifs(raws: readonly RawVif[]): Map<string, Vif[]> {
  const byVm = Map.groupBy(
    raws.filter(({ $VM }) => $VM),
    ({ $VM }) => $VM ?? "",
  );
  const toVif = (raw: RawVif): Vif => ({
    device: String(raw.device),
    mac: raw.MAC.toLowerCase(),
    networkId: raw.$network ?? "",
    ...(typeof raw.MTU === "number" && { mtu: raw.MTU }),
  });
  return new Map([...byVm].map(([id, some]) => [id, some.map(toVif).toSorted(byDevice)]));
}

function byDevice(one: Vif, other: Vif): number {
  return Number(one.device) - Number(other.device);
}

function groupByMac(raws: readonly RawVif[]): Map<string, { vmId: string; poolId: string }[]> {
  const byMac = Map.groupBy(raws, ({ MAC }) => MAC.toLowerCase());
  const toUser = ({ $VM, $pool }: RawVif): { vmId: string; poolId: string } => ({
    vmId: $VM ?? "",
    poolId: $pool ?? "",
  });
  return new Map([...byMac].map(([mac, some]) => [mac, some.map(toUser)]));
}

function toAttached(
  links: readonly RawVbd[],
  disks: ReadonlyMap<string, Disk>,
): Map<string, Attached[]> {
  const byVm = Map.groupBy(
    links.filter(({ VM }) => VM),
    ({ VM }) => VM ?? "",
  );
  const toOne = ({ id, VDI, position, is_cd_drive: isCd }: RawVbd): Attached => {
    const disk = VDI ? disks.get(VDI) : undefined;
    return {
      linkId: id,
      position: String(position ?? ""),
      isCd: isCd === true,
      ...(VDI ? { diskId: VDI } : {}),
      ...(disk && { disk }),
    };
  };
  return new Map([...byVm].map(([id, some]) => [id, some.map(toOne).toSorted(byPosition)]));
}

function byPosition(one: Attached, other: Attached): number {
  return Number(one.position) - Number(other.position);
}

/** Turns tasks into those of an observation, by the name of their VM, the newest first. */
export function toTasks(raws: readonly RawTask[]): Map<string, CreateTask[]> {
  const tasks = new Map<string, CreateTask[]>();
  // Their IDs begin with the time.
  for (const raw of raws.toSorted((one, other) => (one.id < other.id ? 1 : -1))) {
    const name = raw.properties?.args?.name_label;
    if (typeof name !== "string") continue;
    const some = tasks.get(name) ?? [];
    some.push(toTask(raw));
    tasks.set(name, some);
  }
  return tasks;
}

function toTask({ id, status, start, end, properties, result }: RawTask): CreateTask {
  const template = properties?.args?.template;
  const vmId = findText(result, "id");
  const error = findText(result, "message") ?? findText(result, "code");
  return {
    id,
    // A status that is not known may be one of a task that runs.
    status: STATUSES.find((one) => one === status) ?? "pending",
    ...(typeof end === "number" && { endMs: end }),
    ...(typeof end === "number" && typeof start === "number" && { tookMs: end - start }),
    ...(status === "success" && vmId !== undefined && { vmId }),
    ...(typeof template === "string" && { template }),
    ...(status === "failure" && { error: shorten(error ?? "an unknown error", ERROR_CHARS_MAX) }),
  };
}

function findText(value: unknown, key: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const found: unknown = Object.getOwnPropertyDescriptor(value, key)?.value;
  return typeof found === "string" ? found : undefined;
}

/** What {@linkcode toMacs} reads. */
interface MacLists {
  readonly vifs: readonly RawVif[];
  /** VMs of ours, and others with names or marks of our form. */
  readonly vms: readonly Vm[];
  /** They never run, so theirs do not count. */
  readonly templates: readonly Pick<RawTemplate, "id">[];
}

/** Lists the MAC addresses that exist, and says which of them our machines have. */
export function toMacs({ vifs, vms, templates }: MacLists): MachineMac[] {
  const names = new Map(vms.filter(isMarked).map(({ id, name }) => [id, name]));
  const ignored = new Set(templates.map(({ id }) => id));
  return vifs.flatMap(({ MAC, $VM: vmId, device }): MachineMac[] => {
    if (vmId && ignored.has(vmId)) return [];
    const name = vmId ? names.get(vmId) : undefined;
    const machine = name === undefined ? undefined : { name, device: Number(device) };
    return [{ mac: MAC.toLowerCase(), ...(machine && { machine }) }];
  });
}

/** Whether a VM has the mark of the machine whose name it has. */
function isMarked({ name, mark }: Vm): boolean {
  return mark !== undefined && toMachineName({ owner: mark, ...mark }) === name;
}
