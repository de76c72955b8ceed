/**
 * Worlds for the simulated Xen Orchestra: the small one of the demo, one in which machines are made, and fleets of any
 * size for measurements.
 * @module
 */
import { swapUuid } from "../../core/text/values.ts";
import type { DemoMachine } from "../demo_machine.ts";
import { toUuid } from "../uuid.ts";
import {
  toController,
  toHost,
  toNetwork,
  toPool,
  toServer,
  toVif,
  toVm,
  type VmOptions,
  type World,
  type XoRecord,
} from "./records.ts";
import { toSr, toTemplate, toVbd, toVdi } from "./world/storage.ts";

/** A world and what its kubelets report. */
export interface DemoWorld {
  readonly world: World;
  /** The machines that become Nodes, by the name of the Node. */
  readonly machines: ReadonlyMap<string, DemoMachine>;
}

/** The world of the demo, with a machine that is created later. */
export interface StoryWorld extends DemoWorld {
  /** IDs of the pools and hosts by name. */
  readonly poolIds: Places["poolIds"];
  readonly hostIds: Places["hostIds"];
  /** A machine that registers before Xen Orchestra shows it: `state.addVm(late.options)`. */
  readonly late: { readonly options: VmOptions; readonly machine: DemoMachine };
}

interface Guest extends VmOptions {
  readonly nodeName?: string;
}

const GIB = 1024 ** 3;

/** Two pools, five hosts, a dozen virtual machines. The same UUIDs in every run. */
export function createDemoWorld(): StoryWorld {
  const { poolIds, hostIds, pools, world } = createPlaces();
  const guests = demoGuests(poolIds, hostIds);
  const lateOptions = toLate(poolIds.lyon, hostIds["xcp-lyo-2"]);
  const { vms, vifs, machines, networks } = toGuests(guests, pools);
  return {
    world: { ...world, vms, vifs, networks },
    machines,
    poolIds,
    hostIds,
    late: { options: lateOptions, machine: toMachine(lateOptions, "worker-late") },
  };
}

function toLate(poolId: string, hostId: string): VmOptions {
  return {
    name: "worker-late",
    poolId,
    hostId,
    addresses: { "0/ipv4/0": "10.20.0.99" },
    tags: ["k8s"],
  };
}

function demoGuests(
  { paris, lyon }: StoryWorld["poolIds"],
  hosts: StoryWorld["hostIds"],
): readonly Guest[] {
  const at = (site: "paris" | "lyon", last: number): Record<string, string> => ({
    "0/ipv4/0": site === "paris" ? `10.10.0.${last}` : `10.20.0.${last}`,
    "0/ipv6/0": `fe80::${last}`,
    "0/ipv6/1": `fd00:${site === "paris" ? 10 : 20}::${last}`,
  });
  const tags = ["k8s"];
  const node = (name: string, host: DemoHostName, last: number): Guest => {
    const site = host.includes("-par-") ? "paris" : "lyon";
    const poolId = site === "paris" ? paris : lyon;
    return { name, poolId, hostId: hosts[host], addresses: at(site, last), tags, nodeName: name };
  };
  return [
    { ...node("cp-1", "xcp-par-1", 11), cpus: 4, memoryBytes: 8 * GIB },
    { ...node("worker-1", "xcp-par-1", 21), memoryBytes: 8 * GIB },
    { ...node("worker-2", "xcp-par-2", 22), memoryBytes: 8 * GIB },
    // Guest firmware decides in which order the kernel reads the bytes of the UUID.
    { ...node("worker-uefi", "xcp-par-3", 23), firmware: "uefi", cpus: 8, memoryBytes: 16 * GIB },
    { ...node("worker-3", "xcp-lyo-1", 31), memoryBytes: 8 * GIB },
    { ...node("worker-4", "xcp-lyo-2", 32), memoryBytes: 8 * GIB },
    // Names of virtual machines are free text; the guest uses a valid host name.
    { ...node("nœud-1", "xcp-lyo-1", 33), nodeName: "noeud-1" },
    { ...node('worker "odd" (name) | x:y & #1', "xcp-lyo-2", 34), nodeName: "worker-odd" },
    { name: "bastion", poolId: paris, hostId: hosts["xcp-par-2"], addresses: at("paris", 5) },
    { name: "worker-10", poolId: paris, power: "Halted", tags },
    { name: "build", poolId: lyon, hostId: hosts["xcp-lyo-1"], power: "Paused" },
    { name: "build", id: toUuid("vm/build/2"), poolId: lyon, power: "Suspended" },
  ];
}

/**
 * A fleet: pools of about 500 machines and two hosts at least, hosts of about 25, machines `fleet-00001` and so on, all
 * running Nodes.
 *
 * @param count How many machines
 */
export function createFleet(count: number): DemoWorld {
  const perHost = 25;
  const hostsPerPool = 20;
  const needed = Math.max(1, Math.ceil(count / perHost));
  // A machine cannot move without a second host.
  const hostCount = needed % hostsPerPool === 1 ? needed + 1 : needed;
  const poolCount = Math.ceil(hostCount / hostsPerPool);
  const pools = Array.from({ length: poolCount }, (_, index) =>
    toPool({ name: `pool-${index + 1}`, masterId: toUuid(`host/fleet-${index * hostsPerPool}`) }),
  );
  const hosts: XoRecord[] = [];
  for (let index = 0; index < hostCount; index += 1) {
    const poolId = pools[Math.floor(index / hostsPerPool)]?.id ?? "";
    const address = `10.1.${Math.floor(index / 200)}.${(index % 200) + 1}`;
    hosts.push(
      toHost({ name: `xcp-${index}`, id: toUuid(`host/fleet-${index}`), poolId, address }),
    );
  }
  const guests: Guest[] = [];
  for (let index = 0; index < count; index += 1) {
    const host = hosts[Math.floor(index / perHost)];
    const name = `fleet-${String(index + 1).padStart(5, "0")}`;
    const address = `10.${100 + Math.floor(index / 50_000)}.${Math.floor(index / 200) % 250}.${(index % 200) + 1}`;
    const placed = host && { hostId: host.id, poolId: String(host["$pool"]) };
    if (placed)
      guests.push({ name, ...placed, addresses: { "0/ipv4/0": address }, nodeName: name });
  }
  const { vms, vifs, machines, networks } = toGuests(guests, pools);
  const servers = pools.map((pool) => toServer(pool, `${String(pool["name_label"])}.example`));
  const controllers = hosts.map((host) => toController(host));
  return {
    world: { pools, hosts, vms, vifs, networks, servers, "vm-controllers": controllers },
    machines,
  };
}

interface Guests {
  readonly vms: readonly XoRecord[];
  readonly vifs: readonly XoRecord[];
  readonly networks: readonly XoRecord[];
  readonly machines: ReadonlyMap<string, DemoMachine>;
}

function toGuests(guests: readonly Guest[], pools: readonly XoRecord[]): Guests {
  const networks = new Map(
    pools.map((pool) => [pool.id, toNetwork("Pool-wide network associated with eth0", pool.id)]),
  );
  const vms: XoRecord[] = [];
  const vifs: XoRecord[] = [];
  const machines = new Map<string, DemoMachine>();
  for (const guest of guests) {
    const network = networks.get(guest.poolId);
    const vm = toVm(guest);
    if (network !== undefined) {
      const vif = toVif(vm.id, network, 0);
      vifs.push(vif);
      vm["VIFs"] = [vif.id];
    }
    vms.push(vm);
    const { nodeName } = guest;
    if (nodeName !== undefined)
      machines.set(nodeName, toMachine({ ...guest, id: vm.id }, nodeName));
  }
  return { vms, vifs, networks: [...networks.values()], machines };
}

/** A UEFI guest sees the first three groups of its UUID byte-swapped. */
function toMachine(options: VmOptions, nodeName: string): DemoMachine {
  const vmId = options.id ?? toUuid(`vm/${options.name}`);
  const address = options.addresses?.["0/ipv4/0"];
  const systemUuid = options.firmware === "uefi" ? swapUuid(vmId) : vmId;
  return { nodeName, vmId, systemUuid, ...(address === undefined ? {} : { address }) };
}

/** Names of the pools. */
type PlaceName = "paris" | "lyon";

/** Names of the hosts: three in Paris, two in Lyon. */
export type DemoHostName = "xcp-par-1" | "xcp-par-2" | "xcp-par-3" | "xcp-lyo-1" | "xcp-lyo-2";

/** The pools and hosts, and their part of a world. */
interface Places {
  readonly poolIds: Readonly<Record<PlaceName, string>>;
  readonly hostIds: Readonly<Record<DemoHostName, string>>;
  readonly pools: readonly XoRecord[];
  readonly world: Pick<World, "hosts" | "pools" | "servers" | "vm-controllers">;
}

/** Creates them. The same UUIDs in every run. */
function createPlaces(): Places {
  const poolIds = { paris: toUuid("pool/paris"), lyon: toUuid("pool/lyon") };
  const hostIds = {
    "xcp-par-1": toUuid("host/xcp-par-1"),
    "xcp-par-2": toUuid("host/xcp-par-2"),
    "xcp-par-3": toUuid("host/xcp-par-3"),
    "xcp-lyo-1": toUuid("host/xcp-lyo-1"),
    "xcp-lyo-2": toUuid("host/xcp-lyo-2"),
  };
  const pools = [
    toPool({ name: "paris", masterId: hostIds["xcp-par-1"] }),
    toPool({ name: "lyon", masterId: hostIds["xcp-lyo-1"] }),
  ];
  const hosts = Object.entries(hostIds).map(([name, id], index) => {
    const poolId = name.includes("-par-") ? poolIds.paris : poolIds.lyon;
    const tags = [`rack=r${index + 1}`];
    return toHost({ name, id, poolId, address: `10.0.0.${index + 11}`, tags });
  });
  const world = {
    pools,
    hosts,
    servers: pools.map((pool) => toServer(pool, `${String(pool["name_label"])}.xcp.example`)),
    "vm-controllers": hosts.map((host) => toController(host)),
  };
  return { poolIds, hostIds, pools, world };
}

/** The world, and what a test names in it. */
export interface MachineSite {
  readonly world: World;
  readonly poolIds: Places["poolIds"];
  readonly hostIds: Places["hostIds"];
  /**
   * Templates of Paris by name: `debian` has a disk of 10 GiB, an interface and tools; `blank` has a disk of 8 GiB and
   * no tools; `diskless` has nothing; `default` is one that XO lists under another ID than its UUID.
   */
  readonly templateIds: Readonly<Record<"debian" | "blank" | "diskless" | "default", string>>;
  /** Repositories of Paris by name; `tiny` has 5 GiB, `iso` an ISO. */
  readonly srIds: Readonly<Record<"local" | "fast" | "tiny" | "iso", string>>;
  /** Networks of Paris by name. */
  readonly networkIds: Readonly<Record<"oam" | "provisioning", string>>;
  /** A running machine of others in Paris, with a disk, and a disk of theirs that is attached to nothing. */
  readonly foreign: { readonly vmId: string; readonly vdiId: string; readonly looseVdiId: string };
}

/** Two pools, five hosts; everything else in Paris. The same UUIDs in every run. */
export function createMachineSite(): MachineSite {
  const { poolIds, hostIds, world } = createPlaces();
  const srs = {
    // The default one of the pool.
    local: toSr({ name: "Local storage", poolId: poolIds.paris, id: toUuid("sr/paris") }),
    fast: toSr({ name: "fast", poolId: poolIds.paris }),
    tiny: toSr({ name: "Tiny SR", poolId: poolIds.paris, sizeBytes: 5 * GIB }),
    iso: toSr({ name: "ISOs", poolId: poolIds.paris, contentType: "iso" }),
  };
  const networks = {
    oam: toNetwork("oam", poolIds.paris),
    provisioning: toNetwork("provisioning", poolIds.paris),
  };
  const parts = createMachines(poolIds.paris, hostIds["xcp-par-2"], srs.local, networks.oam);
  const iso = toVdi({ id: toUuid("vdi/iso"), name: "debian.iso", sr: srs.iso, sizeBytes: GIB });
  const lyonSr = toSr({ name: "Local storage", poolId: poolIds.lyon, id: toUuid("sr/lyon") });
  return {
    world: {
      ...world,
      srs: [...Object.values(srs), lyonSr],
      networks: [...Object.values(networks), toNetwork("oam", poolIds.lyon)],
      ...parts.world,
      vdis: [...(parts.world.vdis ?? []), iso],
    },
    poolIds,
    hostIds,
    templateIds: parts.templateIds,
    srIds: { local: srs.local.id, fast: srs.fast.id, tiny: srs.tiny.id, iso: srs.iso.id },
    networkIds: { oam: networks.oam.id, provisioning: networks.provisioning.id },
    foreign: parts.foreign,
  };
}

type Parts = Pick<MachineSite, "world" | "templateIds" | "foreign">;

function createMachines(poolId: string, hostId: string, sr: XoRecord, network: XoRecord): Parts {
  const debian = toTemplate({ name: "vino-debian", id: toUuid("template/debian"), poolId });
  const blank = toTemplate({ name: "vino-blank", id: toUuid("template/blank"), poolId });
  const diskless = toTemplate({ name: "vino-diskless", id: toUuid("template/diskless"), poolId });
  const uuid = toUuid("template/default");
  const standard = {
    ...toTemplate({ name: "Debian Bookworm 12", id: `${poolId}-${uuid}`, poolId }),
    uuid,
    isDefaultTemplate: true,
  };
  const database = toVm({ name: "database", poolId, hostId, tags: ["prod"] });
  const owners: readonly [XoRecord, string, number][] = [
    [debian, "debian-root", 10 * GIB],
    [blank, "blank-root", 8 * GIB],
    [database, "database-root", 20 * GIB],
  ];
  const vdis: XoRecord[] = [];
  const vbds: XoRecord[] = [];
  for (const [owner, name, sizeBytes] of owners) {
    const vdi = toVdi({ id: toUuid(`vdi/${name}`), name, sr, sizeBytes });
    const vbd = toVbd({ id: toUuid(`vbd/${name}`), vm: owner, vdi, position: "0" });
    vdi["$VBDs"] = [vbd.id];
    owner["$VBDs"] = [vbd.id];
    vdis.push(vdi);
    vbds.push(vbd);
  }
  const vifs = [debian, database].map((owner) => {
    const vif = toVif(owner.id, network, 0);
    owner["VIFs"] = [vif.id];
    return vif;
  });
  const loose = toVdi({ id: toUuid("vdi/loose"), name: "old backup", sr, sizeBytes: GIB });
  return {
    world: {
      vms: [database],
      "vm-templates": [debian, blank, diskless, standard],
      vdis: [...vdis, loose],
      vbds,
      vifs,
    },
    templateIds: { debian: debian.id, blank: blank.id, diskless: diskless.id, default: uuid },
    foreign: {
      vmId: database.id,
      vdiId: toUuid("vdi/database-root"),
      looseVdiId: loose.id,
    },
  };
}
