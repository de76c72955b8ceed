/**
 * Who has which address: Nodes and their machines, Services, and the address pools of Landfall.
 * @module
 */
import { type AddressPool, PoolMap } from "../cloud/pools/pool.ts";
import { KUBE_VIP_IPS } from "../cloud/pools/words.ts";
import type { InstanceAddress } from "../cloud/instance.ts";
import type { Presence } from "../cloud/provider.ts";
import { Claims } from "../core/maps.ts";
import { isHostAddress, parseIp } from "../core/net/ip.ts";
import type { Key } from "../kube/cache/store.ts";
import type { Node } from "../kube/kinds/node.ts";
import type { Service } from "../kube/kinds/service.ts";
import {
  type AddressUses,
  listIps,
  listNodeIps,
  listReportedIps,
  readNodeIps,
} from "./addresses.ts";

/** What an {@linkcode AddressIndex} asks for. */
interface AddressIndexSources {
  readonly getNode: (name: string) => Node | undefined;
  /** What the cloud says about the machine of a Node. Reads only memory. */
  readonly findPresence: (node: Node) => Presence;
  /** The same list while none changes. */
  readonly findPools: () => readonly AddressPool[];
  /** Whether all Services are known. */
  readonly hasServices: () => boolean;
}

/**
 * Most other Nodes that are looked at because of one address. Interfaces of networks without a router may have the same
 * address on every machine.
 */
const LOOKS_MAX = 8;

/** Most addresses of one Service that count, so that no user fills the memory with them. */
const SERVICE_IPS_MAX = 64;

/** Keeps only addresses. One look takes as long with thousands of Nodes and Services as with a few. */
export class AddressIndex implements AddressUses {
  readonly #sources: AddressIndexSources;
  /** What Nodes have and what their machines report. */
  readonly #nodes = new Claims();
  /** What Landfall is writing to Nodes, by their names. */
  readonly #held = new Map<string, readonly string[]>();
  readonly #named = new Claims();
  readonly #shown = new Claims();
  /** Addresses that no Service has any more, but that machines still report. */
  readonly #former = new Set<string>();
  /** Absent as long as there are none. */
  #pools: PoolMap | undefined;

  constructor(sources: AddressIndexSources) {
    this.#sources = sources;
  }

  /**
   * Takes the newest state of a Node and its machine.
   *
   * @param node Absent if it is gone
   * @returns Other Nodes that the change may concern
   */
  noteNode(name: string, node: Node | undefined): readonly Key[] {
    const presence = node && this.#sources.findPresence(node);
    const reported = presence?.kind === "present" ? listReportedIps(presence.instance) : [];
    const own = node === undefined ? [] : listNodeIps(node);
    const isReported = own.every((ip) => reported.includes(ip));
    const all = isReported ? reported : [...new Set([...own, ...reported])];
    const changed = this.#nodes.replace(name, all);
    for (const ip of changed) if (this.#isUnclaimed(ip)) this.#former.delete(ip);
    return this.#listClaimants(changed).filter((one) => one !== name);
  }

  /** Takes the newest state of a Service. @returns Nodes that the change may concern */
  noteService(key: Key, service: Service | undefined): readonly Key[] {
    const changed = [
      ...this.#named.replace(key, listNamedIps(service)),
      ...this.#shown.replace(key, listShownIps(service)),
    ];
    for (const ip of changed) if (!this.#isUnclaimed(ip)) this.#former.add(ip);
    return this.#listClaimants(changed);
  }

  /** Counts addresses as those of a Node until the end of the write to it, so that no other Node gets one. */
  hold(name: string, addresses: readonly InstanceAddress[]): Disposable {
    this.#held.set(name, listIps(addresses));
    return { [Symbol.dispose]: () => this.#held.delete(name) };
  }

  findPool(ip: string): string | undefined {
    const pools = this.#sources.findPools();
    if (pools.length === 0) return undefined;
    if (pools !== this.#pools?.pools) this.#pools = new PoolMap(pools);
    const pool = this.#pools.find(ip);
    return pool && `the address pool ${pool.name}`;
  }

  findService(ip: string): ReturnType<AddressUses["findService"]> {
    const [named] = this.#named.claimants(ip);
    const [shown] = this.#shown.claimants(ip);
    const key = shown ?? named;
    if (key === undefined) return undefined;
    const who = `the Service ${key}`;
    return { who, isNamed: named !== undefined, isShown: shown !== undefined };
  }

  mayBeAnnounced(ip: string): boolean {
    return (
      !this.#sources.hasServices() || this.#former.has(ip) || this.findService(ip) !== undefined
    );
  }

  findNode(ip: string, self: string): ReturnType<AddressUses["findNode"]> {
    let possible: string | undefined;
    for (const name of this.#nodes.others(ip, self).take(LOOKS_MAX)) {
      const who = `the Node ${name}`;
      const claim = this.#judge(name, ip);
      if (claim === "certain") return { who, isCertain: true };
      if (claim === "possible") possible ??= who;
    }
    return possible === undefined ? undefined : { who: possible, isCertain: false };
  }

  findNodeIp(ip: string, self: string): string | undefined {
    const others = this.#nodes.others(ip, self).take(LOOKS_MAX);
    const name = others.find((one) => this.#judge(one, ip) === "named");
    return name && `the Node ${name}`;
  }

  #judge(name: string, ip: string): "certain" | "named" | "none" | "possible" {
    const node = this.#sources.getNode(name);
    if (node === undefined) return "none";
    const presence = this.#sources.findPresence(node);
    if (presence.kind !== "present") return "none";
    const { instance } = presence;
    const hasIt = listNodeIps(node).includes(ip) || this.#held.get(name)?.includes(ip) === true;
    const reported = listReportedIps(instance);
    if (reported.includes(ip)) return hasIt ? "certain" : "possible";
    // A machine that is off reports nothing, and its kubelet writes nothing.
    if (!hasIt) return "none";
    if (instance.state === "stopped" && reported.length === 0) return "possible";
    const nodeIps = readNodeIps(node);
    return typeof nodeIps !== "string" && nodeIps.includes(ip) ? "named" : "none";
  }

  #isUnclaimed(ip: string): boolean {
    return this.#nodes.claimants(ip).next().done === true;
  }

  #listClaimants(ips: readonly string[]): Key[] {
    return ips.flatMap((ip) => [...this.#nodes.claimants(ip).take(LOOKS_MAX)]);
  }
}

/** The addresses that the spec or an annotation of a Service names. Any user of the Service can write them. */
function listNamedIps({ metadata, spec }: Partial<Service> = {}): string[] {
  const announced = metadata?.annotations?.[KUBE_VIP_IPS]?.split(",", SERVICE_IPS_MAX) ?? [];
  return toIps([...(spec?.externalIPs?.slice(0, SERVICE_IPS_MAX) ?? []), ...announced]);
}

/** The addresses that the status of a Service shows. */
function listShownIps({ status }: Partial<Service> = {}): string[] {
  const ingress = status?.loadBalancer?.ingress?.slice(0, SERVICE_IPS_MAX) ?? [];
  // Others wrote it: a field may be `null`.
  return toIps(ingress.flatMap(({ ip }) => ip ?? []));
}

/** In canonical form, without duplicates. */
function toIps(texts: readonly string[]): string[] {
  const ips = texts.flatMap((text) => parseIp(text)?.text ?? []);
  return [...new Set(ips.filter(isHostAddress))];
}
