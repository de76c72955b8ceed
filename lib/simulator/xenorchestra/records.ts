/**
 * The objects of Xen Orchestra, as raw records, their collections, and how fields of them are picked.
 * @module
 */
import { toUuid } from "../uuid.ts";

/** An object as the REST API shows it, without `href`. Field names and types are those of xo-server 5.207. */
export interface XoRecord {
  readonly id: string;
  [field: string]: unknown;
}

/** A collection: its word in the path is the key. */
export type Collection =
  | "pools"
  | "hosts"
  | "vms"
  | "networks"
  | "vifs"
  | "servers"
  | "vm-controllers"
  | "vm-templates"
  | "vm-snapshots"
  | "srs"
  | "vdis"
  | "vbds"
  | "tasks";

/** Every collection, with the type that its 404 names and the resource that its 403 names. */
export const COLLECTIONS: Readonly<Record<Collection, { type: string; resource: string }>> = {
  pools: { type: "pool", resource: "pool" },
  hosts: { type: "host", resource: "host" },
  vms: { type: "VM", resource: "vm" },
  networks: { type: "network", resource: "network" },
  vifs: { type: "VIF", resource: "vif" },
  servers: { type: "server", resource: "server" },
  "vm-controllers": { type: "VM-controller", resource: "vm-controller" },
  "vm-templates": { type: "VM-template", resource: "vm-template" },
  "vm-snapshots": { type: "VM-snapshot", resource: "vm-snapshot" },
  srs: { type: "SR", resource: "sr" },
  vdis: { type: "VDI", resource: "vdi" },
  vbds: { type: "VBD", resource: "vbd" },
  tasks: { type: "task", resource: "task" },
};

/** Whether a word of a path names a collection. */
export function isCollection(word: string): word is Collection {
  return Object.hasOwn(COLLECTIONS, word);
}

/** Everything that a simulated Xen Orchestra starts with. A collection that is omitted is empty. */
export type World = Readonly<Partial<Record<Collection, readonly XoRecord[]>>>;

/** `Running`, `Halted`, `Paused` or `Suspended`: the API knows no other. */
export type PowerState = "Running" | "Halted" | "Paused" | "Suspended";

/** What {@linkcode toPool} needs. */
interface PoolOptions {
  readonly name: string;
  /** @default {a UUID made of the name} */
  readonly id?: string;
  /** ID of the master host. */
  readonly masterId: string;
}

/** What {@linkcode toHost} needs. */
interface HostOptions {
  readonly name: string;
  /** @default {a UUID made of the name} */
  readonly id?: string;
  readonly poolId: string;
  /** Management address. */
  readonly address: string;
  readonly tags?: readonly string[];
}

/** What {@linkcode toVm} needs. */
export interface VmOptions {
  readonly name: string;
  /** @default {a UUID made of the name} */
  readonly id?: string;
  readonly poolId: string;
  /** The host it runs on; if omitted, it belongs to the pool. */
  readonly hostId?: string;
  /** @default {"Running"} */
  readonly power?: PowerState;
  /** @default {2} */
  readonly cpus?: number;
  /** Configured maximum, in bytes. @default {4 GiB} */
  readonly memoryBytes?: number;
  /** As the API keys them: `{"0/ipv4/0": "10.0.0.5"}`. @default {{}} */
  readonly addresses?: Readonly<Record<string, string>>;
  readonly tags?: readonly string[];
  /** @default {"bios"} */
  readonly firmware?: "bios" | "uefi";
  /** IDs of its virtual interfaces. */
  readonly vifIds?: readonly string[];
}

const GIB = 1024 ** 3;
const BOOTED_AT_S = 1_793_520_000;

/** The fields by which every object of a pool is found. */
export function toIdFields(id: string, poolId: string): XoRecord {
  const ref = `OpaqueRef:${toUuid(`ref/${id}`)}`;
  return { id, uuid: id, $pool: poolId, $poolId: poolId, _xapiRef: ref };
}

/** A pool with two sockets. */
export function toPool({ name, id = toUuid(`pool/${name}`), masterId }: PoolOptions): XoRecord {
  return {
    auto_poweron: true,
    current_operations: {},
    default_SR: toUuid(`sr/${name}`),
    HA_enabled: false,
    haSrs: [],
    master: masterId,
    tags: [],
    name_description: "",
    name_label: name,
    migrationCompression: false,
    otherConfig: { auto_poweron: "true" },
    cpus: { cores: 32, sockets: 2 },
    platform_version: "3.4.0",
    type: "pool",
    ...toIdFields(id, id),
  };
}

/** The connection that Xen Orchestra keeps to a pool. */
export function toServer(pool: XoRecord, address: string): XoRecord {
  return {
    allowUnauthorized: true,
    enabled: true,
    host: address,
    label: pool["name_label"],
    username: "root",
    poolNameDescription: "",
    poolNameLabel: pool["name_label"],
    readOnly: false,
    id: toUuid(`server/${pool.id}`),
    status: "connected",
    poolId: pool.id,
    master: pool["master"],
  };
}

/** A running host of sixteen cores. */
export function toHost(options: HostOptions): XoRecord {
  const { name, id = toUuid(`host/${name}`), poolId, address, tags = [] } = options;
  return {
    CPUs: { cpu_count: "16", socket_count: "1", modelname: "AMD EPYC 7313P 16-Core Processor" },
    address,
    build: "cloud",
    enabled: true,
    controlDomain: toUuid(`dom0/${id}`),
    cpus: { cores: 16, sockets: 1 },
    current_operations: {},
    hostname: name,
    name_description: "Default install",
    name_label: name,
    memory: { usage: 44 * GIB, size: 64 * GIB },
    otherConfig: {},
    power_state: "Running",
    residentVms: [toUuid(`dom0/${id}`)],
    startTime: 1_764_000_000,
    agentStartTime: 1_764_000_100,
    rebootRequired: false,
    tags: [...tags],
    version: "8.3.0",
    productBrand: "XCP-ng",
    PIFs: [],
    $PIFs: [],
    $PBDs: [],
    certificates: [],
    type: "host",
    ...toIdFields(id, poolId),
  };
}

/** The control domain of a host (its dom0), as `/vm-controllers` shows it. */
export function toController(host: XoRecord): XoRecord {
  const poolId = String(host["$pool"]);
  const id = String(host["controlDomain"]);
  const name = `Control domain on host: ${String(host["name_label"])}`;
  // It runs without guest tools, like a machine that has none.
  const vm = toVm({ name, id, poolId, power: "Halted", cpus: 4 });
  const running = { power_state: "Running", $container: host.id, startTime: BOOTED_AT_S };
  return { ...vm, ...running, id, xenTools: false, type: "VM-controller" };
}

/** A network of a pool. */
export function toNetwork(name: string, poolId: string): XoRecord {
  return {
    automatic: true,
    bridge: "xenbr0",
    current_operations: {},
    defaultIsLocked: false,
    MTU: 1500,
    name_description: "",
    name_label: name,
    other_config: { automatic: "true" },
    tags: [],
    PIFs: [],
    VIFs: [],
    nbd: false,
    isBonded: false,
    type: "network",
    ...toIdFields(toUuid(`network/${poolId}/${name}`), poolId),
  };
}

/** A virtual interface: `device` is the first part of the keys in the VM's `addresses`. */
export function toVif(vmId: string, network: XoRecord, device: number): XoRecord {
  const id = toUuid(`vif/${vmId}/${device}`);
  const octets = [id.slice(0, 2), id.slice(2, 4), id.slice(4, 6)];
  return {
    type: "VIF",
    allowedIpv4Addresses: [],
    allowedIpv6Addresses: [],
    attached: true,
    device: String(device),
    lockingMode: "network_default",
    MAC: ["02", "16", "3e", ...octets].join(":"),
    MTU: 1500,
    other_config: {},
    txChecksumming: true,
    $network: network.id,
    $VM: vmId,
    ...toIdFields(id, String(network["$pool"])),
  };
}

/** A virtual machine; one that runs has guest tools. */
export function toVm(options: VmOptions): XoRecord {
  const { name, id = toUuid(`vm/${name}`), poolId, hostId, power = "Running" } = options;
  const { cpus = 2, memoryBytes = 4 * GIB, tags = [], firmware = "bios", vifIds = [] } = options;
  const placed = power === "Running" || power === "Paused";
  return {
    type: "VM",
    addresses: {},
    auto_poweron: false,
    blockedOperations: {},
    boot: { order: "cd", firmware },
    CPUs: { max: cpus, number: cpus },
    current_operations: {},
    high_availability: "",
    memory: {
      dynamic: [memoryBytes, memoryBytes],
      static: [GIB, memoryBytes],
      size: memoryBytes,
    },
    installTime: 1_768_471_200,
    name_description: "",
    name_label: name,
    other: {},
    power_state: power,
    snapshots: [],
    secureBoot: false,
    tags: [...tags],
    VIFs: [...vifIds],
    VTPMs: [],
    virtualizationMode: "hvm",
    $container: placed && hostId !== undefined ? hostId : poolId,
    $VBDs: [],
    VGPUs: [],
    xenStoreData: { "vm-data": "" },
    vga: "std",
    videoram: 8,
    coresPerSocket: 1,
    ...(placed ? toGuest(options.addresses ?? {}) : { os_version: null }),
    ...toIdFields(id, poolId),
  };
}

/** The fields that exist only while a guest with tools runs. */
export function toGuest(addresses: Readonly<Record<string, string>>): Record<string, unknown> {
  const main = Object.entries(addresses).find(([key]) => key.includes("/ipv4/"))?.[1];
  const first = main ?? Object.values(addresses)[0];
  return {
    addresses: { ...addresses },
    ...(first === undefined ? {} : { mainIpAddress: first }),
    startTime: BOOTED_AT_S,
    os_version: {
      name: "Debian GNU/Linux 12 (bookworm)",
      uname: "6.1.0-28-amd64",
      distro: "debian",
    },
    xenTools: { major: 8, minor: 4, version: 8.4 },
    managementAgentDetected: true,
    pvDriversDetected: true,
    pvDriversVersion: "8.4.0-1",
    pvDriversUpToDate: true,
  };
}

/**
 * Returns the named fields of a record. A name with a dot (`CPUs.number`) reads inside a field. Unknown names add
 * nothing.
 */
export function pickFields(record: XoRecord, fields: Iterable<string>): Record<string, unknown> {
  const item: Record<string, unknown> = {};
  for (const path of fields) {
    if (path.includes(".")) pick(record, item, path.split("."));
    else if (path !== "" && Object.hasOwn(record, path)) set(item, path, record[path]);
  }
  return item;
}

function pick(from: unknown, to: Record<string, unknown>, path: readonly string[]): void {
  const [name, ...rest] = path;
  if (name === undefined || typeof from !== "object" || from === null) return;
  if (!Object.hasOwn(from, name)) return;
  const value: unknown = Reflect.get(from, name);
  if (rest.length === 0 || value === undefined) return set(to, name, value);
  const inner: Record<string, unknown> = { ...asObject(to[name]) };
  pick(value, inner, rest);
  to[name] = inner;
}

function set(to: Record<string, unknown>, name: string, value: unknown): void {
  if (value !== undefined) to[name] = value;
}

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
