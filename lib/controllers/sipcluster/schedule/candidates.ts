/**
 * Which hosts the roles could take, before anti-affinity, and why not the others.
 * @module
 */
import type { Key } from "../../../kube/cache/store.ts";
import type { NodeSet, Role } from "../resource/sip_cluster.ts";
import type { Domains } from "./domains.ts";
import { toMatcher } from "./label_selector.ts";
import type { Demand, Group, Problem } from "./matching.ts";
import { type HostFacts, LATE } from "./types.ts";

/** What a role still needs. */
export interface RoleNeed {
  readonly role: Role;
  readonly set: NodeSet | undefined;
  readonly need: number;
}

/** Why a host does not suit a role: short, the same for all hosts with it. Undefined: it suits. */
type FindRefusal = (host: HostFacts) => string | undefined;

/** Judges hosts for a role. */
export function toFindRefusal(set: NodeSet | undefined): FindRefusal {
  const matches = toMatcher(set?.labelSelector);
  return (host) => {
    if (!matches(host.labels)) return UNMATCHED;
    if (host.trouble !== undefined) return host.trouble;
    if (host.isUntouchable === true) return "untouchable";
    // Of a host without a cluster, its trouble says so: one that another program provisioned may be taken.
    return host.assigned !== undefined && host.isInUse ? "in use" : undefined;
  };
}

/** The refusal of most hosts. */
export const UNMATCHED = "not matched by the selector";

/** For whom hosts are grouped. */
interface GroupingOptions {
  readonly needs: readonly RoleNeed[];
  readonly domains: Domains;
  /** Hosts that come after all others. @default {none} */
  readonly last?: ReadonlySet<HostFacts>;
}

/**
 * Groups the hosts that suit these roles by what decides about them. First come hosts that the cluster would give back,
 * which then only change their role; then free hosts in the order of {@linkcode LATE}. Of these, hosts with the
 * topology labels of these roles come before those of which the place is not known; then the order of the input counts.
 */
export function groupHosts(
  hosts: readonly HostFacts[],
  { needs, domains, last = new Set() }: GroupingOptions,
): Pick<Problem, "groups" | "orders"> {
  const judges = needs.map(({ set, need }) => (need > 0 ? toFindRefusal(set) : undefined));
  const hasLast = last.size > 0;
  const suitings = new Map<number, Suiting>();
  const names = new Names();
  const groups: HostGroup[] = [];
  /** By their names. */
  const numbers: number[] = [];
  /** Of the host at hand, by the number of the topology key. */
  const values: number[] = [];
  const ranked: number[][][] = Array.from({ length: RANKS }, () => needs.map((): number[] => []));
  for (const host of hosts) {
    // A bit for each role.
    let suits = 0;
    for (let at = 0; at < judges.length; at += 1) {
      if (judges[at]?.(host) === undefined && judges[at] !== undefined) suits |= 1 << at;
    }
    if (suits === 0) continue;
    const late = host.late ?? (host.assigned ? -1 : 0);
    let rank = 2 + 2 * (hasLast && last.has(host) ? Math.max(late, LATE.missed) : late);
    let name = names.toLonger(rank, suits);
    let suiting = suitings.get(suits);
    if (suiting === undefined) {
      suitings.set(suits, (suiting = toSuiting(suits, needs, domains)));
    }
    for (const key of suiting.keys) {
      const value = domains.numberValue(key, host);
      values[key] = value;
      name = names.toLonger(name, value + 1);
      if (value < 0) rank |= 1;
    }
    let number = numbers[name];
    if (number === undefined) {
      number = groups.push(new HostGroup(values.slice(), suiting.roles, domains)) - 1;
      numbers[name] = number;
    }
    groups[number]?.hosts.push(host.key);
    for (let at = 0; at < judges.length; at += 1) {
      if ((suits & (1 << at)) !== 0) ranked[rank]?.[at]?.push(number);
    }
  }
  return { groups, orders: needs.map((_, at) => ranked.flatMap((ofRole) => ofRole[at] ?? [])) };
}

/** What is the same for all hosts that suit the same roles. */
interface Suiting {
  /** By the index of the role; undefined if they do not suit it. */
  readonly roles: readonly (Role | undefined)[];
  /** The topology keys that decide for them, by their numbers. */
  readonly keys: readonly number[];
}

function toSuiting(suits: number, needs: readonly RoleNeed[], domains: Domains): Suiting {
  const roles = needs.map(({ role }, at) => ((suits & (1 << at)) === 0 ? undefined : role));
  const keys = roles.flatMap((role) => (role === undefined ? [] : domains.listKeys(role)));
  return { roles, keys: [...new Set(keys)] };
}

/** Names for sequences of numbers. Without a compiler, numbers are faster than texts that are put together. */
class Names {
  readonly #ids = new Map<number, number>();

  /** The name of a sequence that is one number longer than the one with this name. */
  toLonger(name: number, number: number): number {
    const both = name * NUMBERS_MAX + number;
    let id = this.#ids.get(both);
    if (id === undefined) this.#ids.set(both, (id = this.#ids.size + RANKS));
    return id;
  }
}

/** More than there can be hosts. */
const NUMBERS_MAX = 2 ** 24;
/** Two for each value of {@linkcode LATE}, and for none. The first names are ranks. */
const RANKS = 12;

/**
 * Hosts that suit the same roles, with the same values of the topology labels that decide. Most groups are never asked
 * for their demands.
 */
class HostGroup implements Group {
  readonly hosts: Key[] = [];
  readonly #values: readonly number[];
  readonly #roles: readonly (Role | undefined)[];
  readonly #domains: Domains;
  #demands: readonly (Demand | undefined)[] | undefined;

  constructor(values: readonly number[], roles: readonly (Role | undefined)[], domains: Domains) {
    this.#values = values;
    this.#roles = roles;
    this.#domains = domains;
  }

  get demands(): readonly (Demand | undefined)[] {
    if (this.#demands === undefined) {
      const demands: (Demand | undefined)[] = [];
      for (const role of this.#roles) {
        demands.push(role && this.#domains.toDemandOf(this.#values, role));
      }
      this.#demands = demands;
    }
    return this.#demands;
  }
}
