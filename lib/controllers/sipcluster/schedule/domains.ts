/**
 * Topology domains: which hosts may not be chosen together.
 * @module
 */
import type { Key } from "../../../kube/cache/store.ts";
import { type NodeSet, type Role, ROLES, type Scheduling } from "../resource/sip_cluster.ts";
import { readLabel } from "./label_selector.ts";
import type { Demand } from "./matching.ts";
import type { Breach, HostFacts } from "./types.ts";

/** A host in a role; without one, its label names no role. */
export interface AssignedHost {
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
  /** The topology keys of all roles. */
  readonly #keys: readonly string[];
  /** For each key: no domain. */
  readonly #none: readonly number[];
  /** By role: which of the keys are its own. */
  readonly #own: ReadonlyMap<Role | undefined, readonly number[]>;
  readonly #others: ReadonlyMap<Role | undefined, readonly number[]>;
  readonly #spreadsAcrossRoles: boolean;
  /** Numbers of values, by key. */
  readonly #values: readonly Map<string, number>[];
  /** The key by the number of the value. */
  readonly #keyOf: number[] = [];

  constructor(
    nodes: Readonly<Partial<Record<Role, NodeSet>>>,
    { spreadAcrossRoles = false }: Scheduling = {},
  ) {
    const keys = [...new Set(ROLES.flatMap((role) => listTopologyKeys(nodes[role])))];
    const roles = [...ROLES, undefined];
    const own = roles.map((role) => {
      const ofRole = role === undefined ? [] : listTopologyKeys(nodes[role]);
      return [role, ofRole.map((key) => keys.indexOf(key))] as const;
    });
    this.#keys = keys;
    this.#none = keys.map(() => -1);
    this.#own = new Map(own);
    this.#others = new Map(
      own.map(([role, ofRole]) => [
        role,
        spreadAcrossRoles ? [...keys.keys()].filter((at) => !ofRole.includes(at)) : [],
      ]),
    );
    this.#spreadsAcrossRoles = spreadAcrossRoles;
    this.#values = keys.map(() => new Map<string, number>());
  }

  /** The topology key of a domain. */
  toKey(domain: number): string {
    return this.#keys[this.#keyOf[Math.floor(domain / (ROLES.length + 1))] ?? -1] ?? "";
  }

  /** The topology keys of which a host's domains count in a role, by their numbers. */
  listKeys(role: Role): readonly number[] {
    return [...(this.#own.get(role) ?? []), ...(this.#others.get(role) ?? [])];
  }

  /** The number of a host's value of the topology key with this number, the same for equal values. -1: it has none. */
  numberValue(key: number, { labels }: HostFacts): number {
    const label = readLabel(labels, this.#keys[key] ?? "");
    const values = this.#values[key];
    if (label === undefined || values === undefined) return -1;
    let value = values.get(label);
    if (value === undefined) values.set(label, (value = this.#keyOf.push(key) - 1));
    return value;
  }

  /** The values of each topology key with which a host cannot join these in a role. */
  listClosed(
    role: Role,
    members: readonly AssignedHost[],
  ): ReadonlyMap<string, ReadonlySet<string>> {
    const closed = new Map(this.#keys.map((key) => [key, new Set<string>()]));
    const own = this.#own.get(role) ?? [];
    for (const member of members) {
      const others = this.#own.get(member.role) ?? [];
      const isBound = this.#spreadsAcrossRoles || member.role === role;
      for (const [at, key] of this.#keys.entries()) {
        const value = readLabel(member.host.labels, key);
        if (value === undefined || !isBound || !(own.includes(at) || others.includes(at))) continue;
        closed.get(key)?.add(value);
      }
    }
    return closed;
  }

  /** The domains that a host takes in a role. A host without a role is only in those of other hosts. */
  toDemand({ host, role }: AssignedHost): Demand {
    return this.toDemandOf(
      this.#keys.map((_, key) => this.numberValue(key, host)),
      role,
    );
  }

  /** The same for a host with these values, as {@linkcode numberValue} numbers them, by the number of the key. */
  toDemandOf(values: readonly number[], role: Role | undefined): Demand {
    const isShared = this.#spreadsAcrossRoles || role === undefined;
    const offset = isShared ? ROLES.length : ROLES.indexOf(role);
    const alone = this.#none.slice();
    const beside: number[] = [];
    for (const key of this.#own.get(role) ?? []) {
      const value = values[key] ?? -1;
      if (value >= 0) alone[key] = value * (ROLES.length + 1) + offset;
    }
    for (const key of this.#others.get(role) ?? []) {
      const value = values[key] ?? -1;
      if (value >= 0) beside.push(value * (ROLES.length + 1) + offset);
    }
    return { alone, beside };
  }

  /** Which of these hosts share a domain that one of them should be alone in. */
  listBreaches(members: readonly AssignedHost[]): readonly Breach[] {
    const found = new Map<number, { hosts: Key[]; isAlone: boolean; value: string }>();
    for (const { host, role } of members) {
      const { alone, beside } = this.toDemand({ host, ...(role && { role }) });
      for (const domain of [...alone.filter((one) => one >= 0), ...beside]) {
        const value = readLabel(host.labels, this.toKey(domain)) ?? "";
        const place = found.get(domain) ?? { hosts: [], isAlone: false, value };
        place.hosts.push(host.key);
        place.isAlone ||= alone.includes(domain);
        found.set(domain, place);
      }
    }
    return [...found]
      .filter(([, { hosts, isAlone }]) => hosts.length > 1 && isAlone)
      .map(([domain, { hosts, value }]) => {
        return { topologyKey: this.toKey(domain), value, hosts: hosts.sort() };
      })
      .sort((one, other) => (toOrder(one) < toOrder(other) ? -1 : 1));
  }
}

function toOrder({ topologyKey, value, hosts }: Breach): string {
  return `${topologyKey}=${value} ${hosts[0] ?? ""}`;
}
