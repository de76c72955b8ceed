/**
 * The addresses of the machines of Vinos, as their guests must set them up.
 * @module
 */
import { type Key, type StoreReader, toKey } from "../../../kube/cache/store.ts";
import type { AddressAllocator, Addresses, MachineRequest } from "./types.ts";
import { checkVino } from "../resource/check_spec.ts";
import type { Vino, VinoSpec, VinoInterface, VinoNetwork, VinoRoute } from "../resource/vino.ts";
import type { IpPools } from "./ip_pools.ts";
import type { InterfaceAddresses } from "./ipam.ts";
import { formatOwner, parseOwner, type KnownInterface } from "./pools/pool_set.ts";
import { type ReadMacs, toSeenMacs } from "./macs.ts";
import type { OwnedNetwork } from "./subnets.ts";
import { formatCidr, parseCidr, parseIp, parseMaskedCidr } from "../../../core/net/ip.ts";
import type { GuestInterface, GuestRoute } from "../guest/types.ts";

/** Gives addresses to machines, for all Vinos of the cluster. */
export class VinoAddresses implements AddressAllocator {
  readonly #pools: Pick<IpPools, "allocate" | "listOwners" | "release">;
  readonly #vinoes: Pick<StoreReader<Vino>, "values">;
  /** What interfaces have, by the text of their owner. */
  readonly #known = new Map<string, KnownInterface>();
  /** The networks of each state of a Vino. */
  readonly #networks = new WeakMap<Vino, readonly OwnedNetwork[]>();

  constructor(
    pools: Pick<IpPools, "allocate" | "listOwners" | "release">,
    vinoes: Pick<StoreReader<Vino>, "values">,
  ) {
    this.#pools = pools;
    this.#vinoes = vinoes;
  }

  /** As {@linkcode AddressAllocator.assign}. */
  async assign(
    vino: Vino,
    { networks = [] }: VinoSpec,
    machines: readonly MachineRequest[],
    readMacs: ReadMacs,
    signal: AbortSignal,
  ): Promise<Addresses> {
    const { namespace = "", name, uid = "" } = vino.metadata;
    const request = { owner: { namespace, name, uid }, networks, machines };
    const facts = { networks: this.#listNetworks(vino, networks), known: this.#known };
    let given = await this.#pools.allocate(request, facts, signal);
    if (given.needsMacs) {
      const seen = toSeenMacs(await readMacs());
      given = await this.#pools.allocate(request, { ...facts, seen }, signal);
    }
    for (const [machine, addresses] of given.machines) this.#note(toKey(vino), machine, addresses);
    return {
      machines: new Map(
        machines.flatMap(({ name: machine, interfaces }) => {
          const addresses = given.machines.get(machine);
          if (addresses === undefined) return [];
          return [[machine, toGuestInterfaces({ networks, interfaces, addresses })] as const];
        }),
      ),
      problems: new Map([...given.problems].map(([machine, { message }]) => [machine, message])),
      restored: given.restored,
      differing: new Set(
        [...given.problems].flatMap(([machine, { isDifference }]) => (isDifference ? machine : [])),
      ),
      notices: given.notices.map(({ message }) => message),
    };
  }

  /** As {@linkcode AddressAllocator.listHolders}. */
  async listHolders(vino: Vino, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const key = toKey(vino);
    const owners = await this.#pools.listOwners(signal);
    return new Set(owners.flatMap((one) => (one.vino === key ? one.machine : [])));
  }

  /** As {@linkcode AddressAllocator.release}. */
  async release(vino: Vino, machines: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const key = toKey(vino);
    await this.#pools.release((one) => one.vino === key && machines.has(one.machine), signal);
    for (const text of this.#known.keys()) {
      const owner = parseOwner(text);
      if (owner?.vino === key && machines.has(owner.machine)) this.#known.delete(text);
    }
  }

  /** The networks of all Vinos: those of one must not overlap those of another. */
  #listNetworks(vino: Vino, networks: NonNullable<VinoSpec["networks"]>): readonly OwnedNetwork[] {
    const key = toKey(vino);
    const others = [...this.#vinoes.values()].filter((one) => toKey(one) !== key);
    return [
      ...networks.map((network) => ({ vino: key, network })),
      ...others.flatMap((one) => this.#readNetworks(one)),
    ];
  }

  /** Those of a Vino with a wrong spec do not count: no machine of it gets an address. */
  #readNetworks(vino: Vino): readonly OwnedNetwork[] {
    const known = this.#networks.get(vino);
    if (known !== undefined) return known;
    const checked = checkVino(vino);
    const networks = checked.isValid ? (checked.spec.networks ?? []) : [];
    const owned = networks.map((network) => ({ vino: toKey(vino), network }));
    this.#networks.set(vino, owned);
    return owned;
  }

  #note(vino: Key, machine: string, addresses: readonly InterfaceAddresses[]): void {
    for (const { name, mac, ip } of addresses) {
      const known = { mac, ...(ip !== undefined && { ip }) };
      this.#known.set(formatOwner({ vino, machine, interface: name }), known);
    }
  }
}

/** What is known of a machine. */
interface GuestInput {
  /** The networks of its Vino. */
  readonly networks: readonly VinoNetwork[];
  /** The interfaces of its role. */
  readonly interfaces: readonly VinoInterface[];
  /** What its interfaces have. */
  readonly addresses: readonly InterfaceAddresses[];
}

/** The interfaces of a guest, in the order of the addresses. */
export function toGuestInterfaces({
  networks,
  interfaces,
  addresses,
}: GuestInput): GuestInterface[] {
  const byName = new Map(networks.map((network) => [network.name, network]));
  const mtus = new Map(interfaces.map(({ name, mtu }) => [name, mtu]));
  return addresses.map(({ name, network, mac, ip, prefixLength }) => {
    const { dns_servers: servers = [], routes = [], subnet = "" } = byName.get(network) ?? {};
    const mtu = mtus.get(name);
    const isStatic = ip !== undefined && prefixLength !== undefined;
    return {
      name,
      network,
      mac,
      ...(mtu !== undefined && { mtu }),
      addresses: isStatic ? [{ ip, prefixLength }] : [],
      ...(!isStatic && parseCidr(subnet)?.family === 6 && { dhcp: 6 as const }),
      routes: routes.flatMap(toRoute),
      dnsServers: servers.flatMap((server) => parseIp(server)?.text ?? []),
    };
  });
}

/** Without routes that guests do not know: here is no bridge of a host, which old manifests name as the gateway. */
function toRoute({ network, netmask, gateway }: VinoRoute): GuestRoute[] {
  const [block, via] = [parseMaskedCidr(network, netmask), parseIp(gateway)];
  const isRoute = block !== undefined && via !== undefined && block.family === via.family;
  return isRoute ? [{ to: formatCidr(block), via: via.text }] : [];
}
