/**
 * Which hosts the roles could take, before anti-affinity, and why not the others.
 * @module
 */
import type { Key } from "../../../kube/cache/store.ts";
import type { NodeSet, Role } from "../resource/sip_cluster.ts";
import type { Domains } from "./domains.ts";
import { readLabel, toMatcher } from "./label_selector.ts";
import type { Demand, Group, Problem } from "./matching/problem.ts";
import type { HostFacts } from "./types.ts";

/** What a role still needs. */
export interface Wish {
  readonly role: Role;
  readonly set: NodeSet | undefined;
  readonly need: number;
}

/** Why a host does not suit a role: short, the same for all hosts with it. Undefined: it suits. */
export type FindRefusal = (host: HostFacts) => string | undefined;

/** Judges hosts for a role. */
export function toFindRefusal(set: NodeSet | undefined): FindRefusal {
  const matches = toMatcher(set?.labelSelector);
  return (host) => {
    if (!matches(host.labels)) return UNMATCHED;
    if (host.trouble !== undefined) return host.trouble;
    if (host.isUntouchable === true) return "untouchable";
    // Of a host without a cluster, its trouble says so: one that another program provisioned may be taken.
    return host.claim !== undefined && host.isInUse ? "in use" : undefined;
  };
}

/** The refusal of most hosts. */
export const UNMATCHED = "not matched by the selector";

/** For whom hosts are grouped. */
export interface GroupingOptions {
  readonly wishes: readonly Wish[];
  readonly domains: Domains;
  /** Hosts that come after all others. @default {none} */
  readonly last?: ReadonlySet<HostFacts>;
}

/**
 * Groups the hosts that suit these roles by what decides about them. First come hosts that the cluster would give back,
 * which then only change their role; then hosts with the topology labels of these roles, before those of which the
 * place is not known; then the order of the input counts.
 */
export function groupHosts(
  hosts: readonly HostFacts[],
  { wishes, domains, last = new Set() }: GroupingOptions,
): Pick<Problem, "groups" | "orders"> {
  const judges = wishes.map(({ set, need }) => (need > 0 ? toFindRefusal(set) : undefined));
  const byName = new Map<string, { readonly group: HostGroup; readonly number: number }>();
  const keysOf = new Map<string, readonly string[]>();
  const groups: HostGroup[] = [];
  const ranked: number[][][] = [0, 1, 2, 3, 4, 5].map(() => wishes.map((): number[] => []));
  for (const host of hosts) {
    let suits = "";
    for (const judge of judges) suits += judge && judge(host) === undefined ? "y" : "n";
    if (!suits.includes("y")) continue;
    let rank = last.has(host) ? 4 : host.claim ? 0 : 2;
    let name = `${rank}${suits}`;
    let keys = keysOf.get(suits);
    if (keys === undefined) keysOf.set(suits, (keys = listKeys(suits, wishes, domains)));
    for (const key of keys) {
      const value = readLabel(host.labels, key);
      // No value of a label has a blank.
      name += value === undefined ? " -" : ` =${value}`;
      if (value === undefined) rank |= 1;
    }
    let known = byName.get(name);
    if (known === undefined) {
      const roles = wishes.map(({ role }, at) => (suits[at] === "y" ? role : undefined));
      known = { group: new HostGroup(host, roles, domains), number: groups.length };
      byName.set(name, known);
      groups.push(known.group);
    }
    known.group.hosts.push(host.key);
    for (let at = 0; at < suits.length; at += 1) {
      if (suits[at] === "y") ranked[rank]?.[at]?.push(known.number);
    }
  }
  return { groups, orders: wishes.map((_, at) => ranked.flatMap((ofRole) => ofRole[at] ?? [])) };
}

/** The topology keys that decide for a host which suits these roles. */
function listKeys(suits: string, wishes: readonly Wish[], domains: Domains): readonly string[] {
  return [
    ...new Set(wishes.flatMap(({ role }, at) => (suits[at] === "y" ? domains.listKeys(role) : []))),
  ];
}

/**
 * Hosts that suit the same roles, with the same values of the topology labels that decide. Most groups are never asked
 * for their demands.
 */
class HostGroup implements Group {
  readonly hosts: Key[] = [];
  readonly #first: HostFacts;
  readonly #roles: readonly (Role | undefined)[];
  readonly #domains: Domains;
  #demands: readonly (Demand | undefined)[] | undefined;

  constructor(first: HostFacts, roles: readonly (Role | undefined)[], domains: Domains) {
    this.#first = first;
    this.#roles = roles;
    this.#domains = domains;
  }

  get demands(): readonly (Demand | undefined)[] {
    this.#demands ??= this.#roles.map((role) =>
      role === undefined ? undefined : this.#domains.toDemand({ host: this.#first, role }),
    );
    return this.#demands;
  }
}
