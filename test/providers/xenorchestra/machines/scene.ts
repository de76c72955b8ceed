/**
 * Views of machines for pure tests: one pool with a template, and what a test adds.
 * @module
 */
import {
  type MachineIdentity,
  type MachineSpec,
  toMachineName,
} from "../../../../lib/cloud/capabilities/machines.ts";
import {
  type Attached,
  type CreateTask,
  type Disk,
  type Resources,
  type Template,
  type Vif,
  type Vm,
  toVmsObservation,
} from "../../../../lib/providers/xenorchestra/machines/observe/observation.ts";
import type { FullView } from "../../../../lib/providers/xenorchestra/machines/plan/find.ts";
import { toSettings } from "../fake_server.ts";
import {
  type VmRecord,
  toPartsHash,
} from "../../../../lib/providers/xenorchestra/machines/vm_record.ts";
import {
  BLOCK_REASON,
  formatDiskMark,
  formatMark,
  listOwnTags,
  parseMark,
  SEED_DISK,
  toDiskName,
  toReadyTag,
  toSpecHash,
} from "../../../../lib/providers/xenorchestra/machines/words.ts";

export const GIB: number = 1024 ** 3;
export const POOL = "pool-1";
export const HOST = "host-1";
const USER = "user-1";
export const NOW = 1_800_000_000_000;
export const NAME = "vino-1b4e28ba-worker-0";

/** The machine of all tests. */
export const IDENTITY: MachineIdentity = {
  owner: { namespace: "metal", name: "edge", uid: "1b4e28ba-2fa1-11d2-883f-0016d3cca427" },
  role: "worker",
  index: 0,
};

/** Its specification. */
export function toSpec(over: Partial<MachineSpec> = {}): MachineSpec {
  return {
    ...IDENTITY,
    poolId: POOL,
    hostId: HOST,
    template: "debian",
    cpus: 2,
    memoryBytes: 4 * GIB,
    disks: [
      { name: "root", sizeBytes: 20 * GIB },
      { name: "data", sizeBytes: 5 * GIB },
    ],
    interfaces: [{ name: "oam", network: "oam", mac: "02:00:00:00:00:01" }],
    boot: "disk",
    isStarted: true,
    ...over,
  };
}

/** A VM as it is right after its creation. */
export function toVm(over: Partial<Vm> = {}): Vm {
  const spec = toSpec();
  const made = { hostId: HOST, hash: toSpecHash(spec) };
  const description = over.description ?? formatMark(spec, made, false);
  const mark = parseMark(description);
  return {
    id: "vm-1",
    name: toMachineName(spec),
    description,
    poolId: POOL,
    power: "stopped",
    cpus: 2,
    memoryBytes: 4 * GIB,
    tags: [],
    ...(mark && { mark }),
    bootOrder: "cd",
    firmware: "bios",
    linkIds: ["link-vm-1-0", "link-vm-1-1"],
    vifIds: ["vif-vm-1-0"],
    creation: { user: USER, template: "template-1", dateMs: NOW - 60_000 },
    isStarted: false,
    hasSnapshots: false,
    isBusy: false,
    hasTools: false,
    ...over,
  };
}

/** A VM that is complete, as the specification wants it. */
export function toCompleteVm(over: Partial<Vm> = {}): Vm {
  const spec = toSpec();
  const made = { hostId: HOST, hash: toSpecHash(spec) };
  return toVm({
    description: formatMark(spec, made, true),
    tags: [...listOwnTags(spec), toReadyTag(toSpecHash(spec))],
    destroyBlock: BLOCK_REASON,
    ...over,
  });
}

/** The record of a complete VM that is as the specification wants it. */
export function toNextRecord({ id, ...vm }: Vm = toCompleteVm()): VmRecord {
  return { vm: id, pool: POOL, parts: toPartsHash(vm) };
}

/** The template. */
export function toTemplate(over: Partial<Template> = {}): Template {
  const { creation: _creation, mark: _mark, ...vm } = toVm({ description: "" });
  return {
    ...vm,
    id: "template-1",
    uuid: "template-1",
    name: "debian",
    memoryBytesMin: GIB,
    linkIds: ["link-template-1-0"],
    isDefault: false,
    ...over,
  };
}

/** A disk. */
export function toDisk(over: Partial<Disk> = {}): Disk {
  return {
    id: "disk-1",
    name: "debian-root",
    description: "",
    sizeBytes: 10 * GIB,
    storageId: "sr-1",
    poolId: POOL,
    links: 1,
    ...over,
  };
}

/** A disk of the machine. */
export function toOwnDisk(name: string, sizeBytes: number, over: Partial<Disk> = {}): Disk {
  return toDisk({
    id: `disk-${name}`,
    name: toDiskName(NAME, name),
    description: formatDiskMark(IDENTITY, name),
    sizeBytes,
    ...over,
  });
}

/** A disk in its place. */
export function toLink(vmId: string, position: number, disk: Disk | undefined): Attached {
  return {
    linkId: `link-${vmId}-${position}`,
    position: String(position),
    isCd: false,
    ...(disk && { disk, diskId: disk.id }),
  };
}

/** The disks that the specification wants, in their places. */
export function toOwnLinks(vmId: string): Attached[] {
  return [
    toLink(vmId, 0, toOwnDisk("root", 20 * GIB)),
    toLink(vmId, 1, toOwnDisk("data", 5 * GIB)),
  ];
}

/** The disk that it reads at its first start, attached. */
export function toSeedLink(vmId: string): Attached {
  return toLink(vmId, 2, toOwnDisk(SEED_DISK, GIB, { id: "disk-seed" }));
}

export const OWN_VIF: Vif = { device: "0", mac: "02:00:00:00:00:01", networkId: "net-1" };

/** What an observation has. */
export interface SceneOptions {
  readonly vms?: readonly Vm[];
  /** Besides the usual one. */
  readonly templates?: readonly Template[];
  readonly tasks?: readonly CreateTask[];
  readonly links?: Readonly<Record<string, readonly Attached[]>>;
  readonly vifs?: Readonly<Record<string, readonly Vif[]>>;
  readonly loose?: readonly Disk[];
  readonly resources?: Partial<Resources>;
  readonly cloud?: Partial<FullView>;
}

/** What an observation needs for labels of machines. */
export const AROUND: Pick<
  Parameters<typeof toVmsObservation>[0],
  "instances" | "settings" | "surroundings"
> = {
  instances: new Map(),
  surroundings: { pools: new Map(), hosts: new Map() },
  settings: toSettings("http://127.0.0.1:1", { token: "t" }),
};

/** A view for a change. VMs with the usual ID have the disks and interfaces that the specification wants. */
export function toView(options: SceneOptions = {}): FullView {
  const { vms = [], templates = [], tasks = [], links = {}, vifs = {}, loose = [] } = options;
  const pools = [{ id: POOL, name: "paris", isComplete: true }];
  const host = { id: HOST, name: "xcp-1", poolId: POOL, tags: [], isEnabled: true };
  const resources: Resources = {
    userId: USER,
    blind: [],
    pools: new Map([[POOL, { id: POOL, name: "paris", defaultStorageId: "sr-1" }]]),
    templates: [toTemplate(), ...templates],
    tasks: new Map([[NAME, tasks]]),
    storages: [
      { id: "sr-1", name: "local", poolId: POOL, isUsable: true, isThick: false },
      { id: "sr-2", name: "fast", poolId: POOL, isUsable: true, isThick: true, freeBytes: 8 * GIB },
      { id: "sr-3", name: "isos", poolId: POOL, isUsable: false, isThick: false },
      { id: "sr-4", name: "near", poolId: POOL, isUsable: true, isThick: false, hostId: "host-2" },
    ],
    networks: [
      { id: "net-1", name: "oam", poolId: POOL },
      { id: "net-2", name: "twice", poolId: POOL },
      { id: "net-3", name: "twice", poolId: POOL },
      { id: "net-4", name: "far", poolId: "pool-2" },
    ],
    vifs: new Map(Object.entries({ "vm-1": [OWN_VIF], ...vifs })),
    macs: new Map(),
    attached: new Map(
      Object.entries({
        "vm-1": toOwnLinks("vm-1"),
        "template-1": [toLink("template-1", 0, toDisk())],
        ...links,
      }),
    ),
    orphans: loose.map((one) => ({ unusedMs: 60_000, ...one })),
    adrift: [],
    unnamable: new Set(),
    begun: new Set([NAME]),
    ...options.resources,
  };
  return {
    observedAtMs: 0,
    atMs: NOW,
    isForChange: true,
    ...toVmsObservation({ vms, hosts: [host], pools, ...AROUND }),
    resources,
    ...options.cloud,
  };
}
