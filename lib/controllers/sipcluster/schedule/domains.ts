/**
 * Topology domains: which hosts may not be chosen together.
 * @module
 */
import type { Key } from "../../../kube/cache/store.ts";
import { type NodeSet, type Role, ROLES, type Scheduling } from "../resource/sip_cluster.ts";
import { readLabel } from "./label_selector.ts";
import type { Demand } from "./matching/problem.ts";
import type { Breach, HostFacts } from "./types.ts";

/** A host in a role; without one, its label names no role. */
export interface Member {
  readonly host: HostFacts;
  readonly role?: Role;
}

/** The topology keys of a role, each once. An empty key is none. */
export function listTopologyKeys(set: NodeSet | undefined): readonly string[] {
  const keys = [set?.topologyKey ?? "", ...(set?.topologyKeys ?? [])];
  return [...new Set(keys)].filter((key) => key !== "");
}

/**
 * The domains of one cluster, numbered. A domain is a value of a topology key. A host must be alone in the domains of
 * its role's keys: no other host of the role may be in them, and with `spreadAcrossRoles` no host of any role.
 * A host without the label is in no domain of that key.
 */
export class Domains {
  readonly #keys: ReadonlyMap<Role, readonly string[]>;
  readonly #spreadsAcrossRoles: boolean;
  /** Numbers of domains, by scope and key, then by value. */
  readonly #numbers = new Map<string, Map<string, number>>();
  /** By number. */
  readonly #names: string[] = [];

  constructor(
    nodes: Readonly<Partial<Record<Role, NodeSet>>>,
    { spreadAcrossRoles = false }: Scheduling = {},
  ) {
    this.#keys = new Map(ROLES.map((role) => [role, listTopologyKeys(nodes[role])]));
    this.#spreadsAcrossRoles = spreadAcrossRoles;
  }

  /** How many have a number: all numbers are below. */
  get count(): number {
    return this.#names.length;
  }

  /** The topology key of a domain. */
  toKey(domain: number): string {
    return this.#names[domain] ?? "";
  }

  /** Which keys of roles are the same: equal where roles share domains, in the order of the role's keys. */
  listScopes(role: Role): readonly string[] {
    return this.keysOf(role).map((key) => this.#toScope(key, role));
  }

  /** In the domains of these keys, a host of the role must be alone. */
  keysOf(role: Role): readonly string[] {
    return this.#keys.get(role) ?? [];
  }

  /** The domains that a host takes in a role. A host without a role only stands in those of the roles' keys. */
  toDemand({ host, role }: Member): Demand {
    const own = role === undefined ? [] : this.keysOf(role);
    const alone = own.map((key) => this.#toNumber(key, role, host));
    if (!this.#spreadsAcrossRoles) return { alone, beside: [] };
    const others = [...new Set([...this.#keys.values()].flat())].filter(
      (key) => !own.includes(key),
    );
    const beside = others.map((key) => this.#toNumber(key, undefined, host));
    return { alone, beside: beside.filter((number) => number >= 0) };
  }

  /** Which of these hosts share a domain that one of them should be alone in. */
  listBreaches(members: readonly Member[]): readonly Breach[] {
    const found = new Map<number, { key: string; value: string; hosts: Key[]; alone: number }>();
    for (const { host, role } of members) {
      for (const [key, value] of this.#listPlaces(host)) {
        const isOwn = role !== undefined && this.keysOf(role).includes(key);
        if (!isOwn && !this.#spreadsAcrossRoles) continue;
        const number = this.#toNumber(key, role, host);
        const place = found.get(number) ?? { key, value, hosts: [], alone: 0 };
        place.hosts.push(host.key);
        place.alone += isOwn ? 1 : 0;
        found.set(number, place);
      }
    }
    return [...found.values()]
      .filter(({ hosts, alone }) => hosts.length > 1 && alone > 0)
      .map(({ key, value, hosts }) => ({ topologyKey: key, value, hosts: hosts.sort() }))
      .sort((one, other) => (toOrder(one) < toOrder(other) ? -1 : 1));
  }

  *#listPlaces(host: HostFacts): Iterable<[string, string]> {
    for (const key of new Set([...this.#keys.values()].flat())) {
      const value = readLabel(host.labels, key);
      if (value !== undefined) yield [key, value];
    }
  }

  /** -1 for a host without the label. */
  #toNumber(key: string, role: Role | undefined, { labels }: HostFacts): number {
    const value = readLabel(labels, key);
    if (value === undefined) return -1;
    const scope = this.#toScope(key, role);
    let numbers = this.#numbers.get(scope);
    if (numbers === undefined) this.#numbers.set(scope, (numbers = new Map<string, number>()));
    let number = numbers.get(value);
    if (number === undefined) numbers.set(value, (number = this.#names.push(key) - 1));
    return number;
  }

  #toScope(key: string, role: Role | undefined): string {
    return this.#spreadsAcrossRoles ? key : `${role ?? ""} ${key}`;
  }
}

function toOrder({ topologyKey, value, hosts }: Breach): string {
  return `${topologyKey}=${value} ${hosts[0] ?? ""}`;
}
