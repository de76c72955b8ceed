/**
 * Lists everything that an inventory needs, in one round, and turns it into an inventory of instances, each with the
 * addresses that the guest tools report.
 * @module
 */
import {
  chooseAddresses,
  NO_ADDRESSES,
  toInstanceAddresses,
  unique,
} from "../../cloud/addresses.ts";
import type { Instance, InstanceAddresses, InstanceState } from "../../cloud/instance.ts";
import { formatMemory } from "../../core/text/values.ts";
import type { Coverage, Inventory } from "../../cloud/inventory/inventory.ts";
import type { ListReply } from "../../cloud_http/decode.ts";
import type { Clock } from "../../core/clock.ts";
import { type IpAddress, isHostAddress, isInCidr, parseIp } from "../../core/net/ip.ts";
import { toLabelValue } from "../../core/text/label.ts";
import {
  byIds,
  type Host,
  type ListVersion,
  type ListWish,
  type Network,
  type Objects,
  type Pool,
  type VersionedList,
  type Vif,
  type Vm,
  type XenOrchestraApi,
} from "./client.ts";
import { formatProviderId } from "./identity.ts";
import {
  findRegionLabel,
  findTagValue,
  findZone,
  formatInstanceType,
  toLabels,
  toVmTagLabels,
} from "./labels.ts";
import type { AddressSettings, InstanceSettings } from "./settings.ts";

/** The result of one round. */
export interface Listing {
  readonly vms: ListReply<Vm>;
  readonly surroundings: Surroundings;
}

/** The small lists around the VMs. */
interface Around {
  readonly hosts: ListReply<Host>;
  readonly pools: ListReply<Pool>;
  /** Present only with `addresses.network`. */
  readonly networks?: ListReply<Network> | undefined;
  readonly vifs?: ListReply<Vif> | undefined;
}

/** The last round. The small lists stay in memory, but only the version of the VMs: there may be thousands of them. */
type Round = { readonly [C in keyof Around]: VersionedList<Objects[C]> | undefined } & {
  readonly vms: ListVersion | undefined;
};

/** What lists show beside what inventories need. */
export interface Followed {
  /** Fields of VMs. The filter matches the VMs that lists show, too. */
  readonly vms: ListWish<Vm> & { readonly filter: string };
  readonly hosts: ListWish<Host>;
  /** Whether to keep a VM: there may be thousands of others. */
  readonly isOurs: (vm: Vm) => boolean;
}

/** What the last inventory showed, for machines. */
export interface LastListing {
  readonly inventory: Inventory;
  readonly vms: readonly Vm[];
  readonly surroundings: Surroundings;
}

const SMALL_LISTS = ["hosts", "pools", "networks", "vifs"] as const;
/** How often Landfall requests everything in full, in case a cache in between keeps old answers. */
const WHOLE_INTERVAL_MS = 600_000;

/** Lists VMs and their surroundings. One round at a time. */
export class Lister {
  readonly #api: XenOrchestraApi;
  readonly #clock: Clock;
  readonly #network: string | undefined;
  /** The last round that succeeded. */
  #last: Round | undefined;
  #wholeAtMs = -Infinity;
  #followed: Followed | undefined;

  /** @param network Name or UUID of the only network whose addresses count; it needs two more lists */
  constructor(api: XenOrchestraApi, clock: Clock, network: string | undefined) {
    this.#api = api;
    this.#clock = clock;
    this.#network = network;
  }

  /** From now on lists show this, too. */
  follow(followed: Followed): void {
    this.#followed = followed;
  }

  /**
   * Sends all requests at the same time. The first failure aborts the others.
   *
   * @param ids Only these VMs; absent: all
   * @returns `undefined` if nothing changed since the last round
   * @throws {CloudError} if a list fails; the last lists stay
   */
  async list(
    ids: readonly string[] | undefined,
    signal: AbortSignal,
  ): Promise<Listing | undefined> {
    const failed = new AbortController();
    try {
      return await this.#list(ids, AbortSignal.any([signal, failed.signal]));
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  }

  async #list(
    ids: readonly string[] | undefined,
    signal: AbortSignal,
  ): Promise<Listing | undefined> {
    const startedMs = this.#clock.monotonic();
    const isWhole = startedMs - this.#wholeAtMs >= WHOLE_INTERVAL_MS;
    const last = isWhole ? undefined : this.#last;
    const more = this.#followed?.vms;
    const filter = ids && (more ? `|(${byIds(ids)} ${more.filter})` : byIds(ids));
    const hasNetwork = this.#network !== undefined;
    const [vms, hosts, pools, networks, vifs] = await Promise.all([
      this.#api.relist("vms", { filter, known: last?.vms, more }, signal),
      this.#relist("hosts", last?.hosts, signal, this.#followed?.hosts),
      this.#relist("pools", last?.pools, signal),
      hasNetwork ? this.#relist("networks", last?.networks, signal) : undefined,
      hasNetwork ? this.#relist("vifs", last?.vifs, signal) : undefined,
    ]);
    const around = { hosts, pools, networks, vifs };
    // A list that was not sent again is the same object.
    const isSame = SMALL_LISTS.every((one) => around[one] === last?.[one]);
    if (vms === "unchanged" && isSame) return undefined;
    // An instance depends on its VM and on its surroundings.
    const all = vms === "unchanged" ? await this.#api.list("vms", signal, filter, more) : vms;
    const surroundings = toSurroundings(around, this.#network);
    this.#last = { ...around, vms: all.version };
    if (isWhole) this.#wholeAtMs = startedMs;
    return { vms: all, surroundings };
  }

  async #relist<C extends keyof Around>(
    collection: C,
    kept: VersionedList<Objects[C]> | undefined,
    signal: AbortSignal,
    more?: ListWish<Objects[C]>,
  ): Promise<VersionedList<Objects[C]>> {
    const list = await this.#api.relist(collection, { known: kept?.version, more }, signal);
    if (list !== "unchanged") return list;
    return kept ?? (await this.#api.list(collection, signal, undefined, more));
  }
}

/** The objects around VMs that an instance needs. */
export interface Surroundings {
  readonly pools: ReadonlyMap<string, Pool>;
  /** Pools that exist but that Landfall cannot read, and why, as in {@linkcode ListReply}. */
  readonly damagedPools?: ReadonlyMap<string, string>;
  readonly hosts: ReadonlyMap<string, Host>;
  /** IDs of the networks whose addresses count; absent: all. */
  readonly networkIds?: ReadonlySet<string>;
  /** Devices in those networks, by VM; absent without `networkIds`. */
  readonly devices?: ReadonlyMap<string, ReadonlySet<number>>;
}

const NO_DEVICES: ReadonlySet<number> = new Set();

const STATES: Readonly<Record<string, InstanceState>> = {
  Running: "running",
  // Paused and suspended VMs hold memory or a disk image, but they do not run.
  Paused: "stopped",
  Suspended: "stopped",
  Halted: "stopped",
};

/** Builds the surroundings from replies. */
export function toSurroundings(
  { hosts, pools, networks, vifs }: Around,
  network: string | undefined,
): Surroundings {
  const base = {
    pools: byId(pools.objects),
    damagedPools: pools.undecodable,
    hosts: byId(hosts.objects),
  };
  if (network === undefined || networks === undefined || vifs === undefined) return base;
  const networkIds = new Set(findNetworks(networks.objects, network).map(({ id }) => id));
  return { ...base, networkIds, devices: toDevices(vifs.objects, networkIds) };
}

/**
 * Finds the networks of `addresses.network`: by UUID in upper or lower case, or by name, which several networks may
 * have.
 */
function findNetworks(networks: readonly Network[], wanted: string): Network[] {
  const id = wanted.toLowerCase();
  return networks.filter((one) => one.id === id || one.name_label === wanted);
}

/**
 * Returns the numbers of the devices in these networks, by VM. If an interface of a VM does not report its number or
 * its network, the VM has no entry: Landfall then cannot know which addresses count, and the Node keeps what it has.
 */
export function toDevices(
  vifs: readonly Vif[],
  networkIds: ReadonlySet<string>,
): Map<string, Set<number>> {
  const devices = new Map<string, Set<number>>();
  const unclear = new Set<string>();
  for (const { $VM, $network, device } of vifs) {
    if (!$VM) continue;
    const number = typeof device === "number" ? String(device) : device;
    const isClear = typeof $network === "string" && typeof number === "string";
    if (!isClear || !/^\d{1,4}$/.test(number)) unclear.add($VM);
    else if (networkIds.has($network)) {
      const ofVm = devices.get($VM) ?? new Set();
      devices.set($VM, ofVm.add(Number(number)));
    }
  }
  for (const vmId of unclear) devices.delete(vmId);
  return devices;
}

/** Returns the surroundings with new devices for VMs whose network interfaces were listed again. */
export function withDevices(
  surroundings: Surroundings,
  vifs: ListReply<Vif> | undefined,
): Surroundings {
  const { networkIds } = surroundings;
  if (vifs === undefined || networkIds === undefined) return surroundings;
  return { ...surroundings, devices: toDevices(vifs.objects, networkIds) };
}

/**
 * Builds an inventory.
 *
 * @param options.known Names of the pools that were shown before, by ID. Those that are not shown now are not covered
 * @param options.lookedFor IDs of the VMs that were requested; absent: all
 * @param options.observedAtMs Time of the first request, in monotonic milliseconds
 */
export function toInventory(
  vms: ListReply<Vm>,
  surroundings: Surroundings,
  options: {
    readonly settings: InstanceSettings;
    readonly known: ReadonlyMap<string, string>;
    readonly lookedFor?: ReadonlySet<string>;
    readonly observedAtMs: number;
  },
): Inventory {
  const { settings, known, lookedFor, observedAtMs } = options;
  return {
    observedAtMs,
    instances: new Map(vms.objects.map((vm) => [vm.id, toInstance(vm, surroundings, settings)])),
    coverage: toCoverage(vms.objects, surroundings, known),
    undecodable: vms.undecodable,
    ...(lookedFor && { lookedFor }),
  };
}

/** Turns a VM into a frozen instance. A value that is not known now is absent. */
export function toInstance(
  vm: Vm,
  surroundings: Surroundings,
  settings: InstanceSettings,
): Instance {
  const { pools, hosts } = surroundings;
  const hostId = findHostId(vm, surroundings);
  const details = dropAbsent({
    vmId: vm.id,
    vmName: vm.name_label,
    powerState: vm.power_state,
    poolId: vm.$pool,
    poolName: pools.get(vm.$pool)?.name_label,
    hostId,
    hostName: hosts.get(hostId ?? "")?.name_label,
    cpus: vm.CPUs?.max?.toString(),
    memory: formatMemory(vm.memory?.static?.at(-1)),
  });
  const addresses = {
    addresses: vm.addresses ?? {},
    mainIpAddress: vm.mainIpAddress ?? undefined,
    devices: surroundings.devices && (surroundings.devices.get(vm.id) ?? NO_DEVICES),
  };
  const tagLabels = toVmTagLabels(vm.tags ?? undefined, settings.tagPrefixes ?? []);
  return Object.freeze({
    id: vm.id,
    providerId: formatProviderId(vm.$pool, vm.id),
    name: details["vmName"] ?? vm.id,
    state: STATES[vm.power_state ?? ""] ?? "unknown",
    systemUuid: vm.id,
    region: vm.$pool,
    ...optional("regionLabel", findRegionLabel(vm.$pool, surroundings, settings)),
    ...optional("zone", findZone({ hostId, poolId: vm.$pool }, surroundings, settings)),
    ...optional("instanceType", findInstanceType(vm, settings)),
    ...(settings.leavesAddresses ? NO_ADDRESSES : toAddresses(addresses, settings.addresses)),
    labels: Object.freeze(toLabels(details)),
    ...(tagLabels && { tagLabels }),
    details: Object.freeze(details),
  });
}

/** An instance that is off, as it will be once it runs on a host: without that, its zone is not known. */
export function atHost(
  instance: Instance,
  hostId: string,
  surroundings: Pick<Surroundings, "hosts" | "pools">,
  settings: InstanceSettings,
): Instance {
  const { region: poolId = "" } = instance;
  const details = dropAbsent({
    ...instance.details,
    hostId,
    hostName: surroundings.hosts.get(hostId)?.name_label,
  });
  const zone = optional("zone", findZone({ hostId, poolId }, surroundings, settings));
  return { ...instance, ...zone, labels: toLabels(details) };
}

/** Whether the lists contain the pool of a VM and the host that it names. */
export function isPlaceKnown(vm: Vm, { pools, hosts }: Surroundings): boolean {
  const { $container: container, $pool: poolId } = vm;
  if (!pools.has(poolId)) return false;
  return !container || container === poolId || hosts.has(container);
}

/**
 * Finds the host on which a VM runs. In the same field, a halted or suspended VM names its pool, or the host of one of
 * its disks. Neither is a host on which it runs.
 */
function findHostId(vm: Vm, { hosts }: Surroundings): string | undefined {
  const container = vm.$container ?? undefined;
  if (container === undefined || container === vm.$pool) return undefined;
  if (vm.power_state === "Running") return container;
  return vm.power_state === "Paused" && hosts.has(container) ? container : undefined;
}

function findInstanceType(vm: Vm, { instanceTypeTag }: InstanceSettings): string | undefined {
  const tagged = instanceTypeTag && findTagValue(vm.tags ?? [], instanceTypeTag);
  if (tagged) return toLabelValue(tagged) || undefined;
  const cpus = vm.CPUs?.max ?? undefined;
  const memoryBytes = vm.memory?.static?.[1];
  return isCount(cpus) && isCount(memoryBytes) ? formatInstanceType(cpus, memoryBytes) : undefined;
}

/** Whether a number is a valid count. 1e308 and -4 are not. */
function isCount(value: number | undefined): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value > 0;
}

/** Returns the coverage without some pools, or `coverage` itself if it has none of them. */
export function withoutPools(
  coverage: Inventory["coverage"],
  pools: readonly { readonly poolId: string }[],
): Inventory["coverage"] {
  const left = pools.filter(({ poolId }) => coverage.has(poolId));
  if (left.length === 0) return coverage;
  return new Map([...coverage].filter(([id]) => !left.some(({ poolId }) => poolId === id)));
}

function toCoverage(
  vms: readonly Vm[],
  { pools, damagedPools, hosts }: Surroundings,
  known: ReadonlyMap<string, string>,
): Map<string, Coverage> {
  const coverage = new Map<string, Coverage>();
  for (const { id, name_label, master } of pools.values()) {
    const name = optional("name", name_label ?? undefined);
    const complete = master !== undefined && master !== null && hosts.has(master);
    const reason = "its master host is still loading or not visible to this user";
    coverage.set(id, complete ? { complete, ...name } : { complete, ...name, reason });
  }
  for (const [id, problem] of damagedPools ?? []) {
    const reason = `Landfall cannot read the pool: ${problem}`;
    coverage.set(id, { complete: false, ...optional("name", known.get(id)), reason });
  }
  for (const id of [...known.keys(), ...vms.map(({ $pool }) => $pool)]) {
    if (!coverage.has(id)) coverage.set(id, toLost(optional("name", known.get(id))));
  }
  return coverage;
}

/** Returns the coverage of a pool that Xen Orchestra does not show. */
export function toLost({ name }: Pick<Coverage, "name">): Coverage {
  const reason = "the pool is disconnected or not visible to this user";
  return { complete: false, ...optional("name", name), reason };
}

function byId<T extends { readonly id: string }>(objects: readonly T[]): Map<string, T> {
  return new Map(objects.map((one) => [one.id, one]));
}

function optional<K extends string>(key: K, value: string | undefined): { [key in K]?: string } {
  const pair: { [key in K]?: string } = {};
  if (value !== undefined) pair[key] = value;
  return pair;
}

function dropAbsent(record: Record<string, string | null | undefined>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(record))
    if (typeof value === "string") kept[key] = value;
  return kept;
}

/** What Xen Orchestra reports about a VM's addresses. */
interface AddressSource {
  /** By `<VIF device>/ipv4/<n>` or `<VIF device>/ipv6/<n>`. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly mainIpAddress?: string | undefined;
  /** VIF devices whose addresses count; absent: all. */
  readonly devices?: ReadonlySet<number> | undefined;
}

interface Found extends IpAddress {
  readonly device: number;
  readonly index: number;
}

/**
 * Chooses a VM's addresses. docs/explanation/addresses.md has a table of the results.
 *
 * ExternalIP: addresses that are globally routable or in `externalCidrs`. InternalIP: the first address of each family
 * that is not external. If a family has none, its first routable address becomes InternalIP instead of ExternalIP. With
 * `--node-ip`, that address stays ExternalIP ({@linkcode Instance.addressesWithNodeIp}). Link-local, loopback,
 * multicast and excluded addresses never count. A Node that has another reported address as InternalIP may keep it
 * ({@linkcode InstanceAddresses.alternatives}).
 *
 * @returns InternalIPs first (IPv4, then IPv6), then ExternalIPs by device, family and number; without duplicates
 */
export function toAddresses(source: AddressSource, settings: AddressSettings): InstanceAddresses {
  const chosen = chooseAddresses(listFound(source, settings), ({ text }) =>
    settings.externalCidrs.some((cidr) => isInCidr(text, cidr)),
  );
  return settings.mainIpAsExternal
    ? toInstanceAddresses(chosen, unique(listUsable(source.mainIpAddress ?? "", settings)))
    : toInstanceAddresses(chosen);
}

/** Lists usable addresses in numeric order of device, family and number. */
function listFound(
  { addresses, devices }: AddressSource,
  { exclude }: Pick<AddressSettings, "exclude">,
): Found[] {
  const found: Found[] = [];
  for (const [key, value] of Object.entries(addresses)) {
    // Old guest tools without IPv6 wrote `<device>/ip`.
    const [, device, index] = /^(\d+)\/ip(?:v[46]\/(\d+))?$/.exec(key) ?? [];
    if (device === undefined || (devices && !devices.has(Number(device)))) continue;
    for (const ip of listUsable(value, { exclude })) {
      found.push({ device: Number(device), index: Number(index ?? 0), ...ip });
    }
  }
  // Equal addresses keep their order in the text, because sorting is stable.
  return found.sort((a, b) => a.device - b.device || a.family - b.family || a.index - b.index);
}

/** Splits the text, because old guest tools put several addresses into one. */
function listUsable(text: string, { exclude }: Pick<AddressSettings, "exclude">): IpAddress[] {
  return text
    .split(/[\s,]+/)
    .flatMap((part) => parseIp(part) ?? [])
    .filter((ip) => isHostAddress(ip.text) && !exclude.some((cidr) => isInCidr(ip.text, cidr)));
}
