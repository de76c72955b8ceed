/**
 * Worlds for the simulated Xen Orchestra: the small one of the demo, and fleets of any size for measurements.
 * @module
 */
import { swapUuid } from "../../core/text/values.ts";
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
import type { DemoMachine } from "../demo_machine.ts";
import { toUuid } from "../uuid.ts";
import { createPlaces, type DemoHostName, type Places } from "./world/places.ts";

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
