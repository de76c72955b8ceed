/**
 * Which hosts a role gives back when it has too many.
 * @module
 */
import type { NodeSet } from "../resource/sip_cluster.ts";
import { listTopologyKeys } from "./domains.ts";
import { readLabel, toMatcher } from "./label_selector.ts";
import { listKeepable, type OwnHost, type RoleHosts } from "./own_hosts.ts";
import { type HostFacts, LATE } from "./types.ts";

/** What a role keeps, before it takes others. */
export interface Contraction {
  readonly stay: readonly OwnHost[];
  readonly leave: readonly OwnHost[];
  /** As many of those that stay as are too many: they would leave next. */
  readonly blocked: readonly OwnHost[];
}

/** Counts of hosts that a role wants. */
interface Wanted {
  readonly active: number;
  readonly standby: number;
}

/** How hosts leave. */
export interface ContractionOptions {
  readonly set: NodeSet | undefined;
  /** Whether hosts in use may leave, too. */
  readonly releasesUsed: boolean;
  /** Hosts of other roles that crowd the same domains. */
  readonly neighbours: readonly OwnHost[];
  /** Hosts that another role needs. @default {none} */
  readonly needed?: ReadonlySet<HostFacts>;
}

/** What a role wants. An absent role wants none. */
export function toWanted(set: NodeSet | undefined): Wanted {
  return {
    active: Math.max(0, set?.count?.active ?? 0),
    standby: Math.max(0, set?.count?.standby ?? 0),
  };
}

/**
 * Chooses the hosts that leave, one after the other: first those that Cluster API does not reserve; then those not in
 * use; then those in error; then those that another role needs; then those that the selector does not match any more;
 * then of the kind of which there are too many, standby before active; then in the most crowded domain; then the last
 * by key. Hosts in use leave only if `releasesUsed` allows it, untouchable ones never. None leaves for a host in doubt.
 */
export function planContraction(
  hosts: RoleHosts | undefined,
  options: ContractionOptions,
): Contraction {
  const { set, releasesUsed, neighbours, needed = new Set() } = options;
  const wanted = toWanted(set);
  const { loose = [], used = [], untouchable = [] } = hosts ?? {};
  const surplus = loose.length + used.length + untouchable.length - wanted.active - wanted.standby;
  const all = new Set(listKeepable(hosts));
  const matches = toMatcher(set?.labelSelector);
  const crowd: Crowd = {
    stay: all,
    wanted,
    keys: listTopologyKeys(set),
    neighbours,
    needed,
    unmatched: new Set([...all].filter(({ labels }) => !matches(labels))),
  };
  const doubtful = untouchable.filter(({ isDoubtful }) => isDoubtful);
  const mayLeave = [...loose, ...(releasesUsed ? used : [])];
  const leave = removeSome(crowd, mayLeave, surplus - doubtful.length);
  const stay = [...crowd.stay];
  const blocked: OwnHost[] = [];
  for (const hosts of [doubtful, used, untouchable])
    blocked.push(...removeSome(crowd, hosts, surplus - leave.length - blocked.length));
  return { stay, leave, blocked };
}

/** The hosts of a role from which one leaves after the other. */
interface Crowd {
  readonly stay: Set<OwnHost>;
  readonly wanted: Wanted;
  readonly keys: readonly string[];
  readonly neighbours: readonly OwnHost[];
  readonly needed: ReadonlySet<HostFacts>;
  readonly unmatched: ReadonlySet<HostFacts>;
}

/** Removes up to `count` of these hosts from a crowd, and returns them. */
function removeSome(crowd: Crowd, hosts: readonly OwnHost[], count: number): readonly OwnHost[] {
  const mayLeave = new Set(hosts.filter((host) => crowd.stay.has(host)));
  const removed: OwnHost[] = [];
  while (removed.length < count) {
    const next = chooseLeaver(crowd, mayLeave);
    if (next === undefined) break;
    mayLeave.delete(next);
    crowd.stay.delete(next);
    removed.push(next);
  }
  return removed;
}

function chooseLeaver(crowd: Crowd, mayLeave: ReadonlySet<OwnHost>): OwnHost | undefined {
  const { stay, wanted, keys, neighbours } = crowd;
  const standby = [...stay].filter(({ assigned }) => assigned.standby).length;
  const hasTooMany = {
    standby: standby > wanted.standby,
    active: stay.size - standby > wanted.active,
  };
  const counts = keys.map((key) => countByValue([...stay, ...neighbours], key));
  const countIn = ({ labels }: OwnHost): number =>
    Math.max(0, ...keys.map((key, at) => counts[at]?.get(readLabel(labels, key)) ?? 0));
  const rank = (host: OwnHost): readonly number[] => [
    host.late === LATE.reserved ? 1 : 0,
    host.isInUse ? 1 : 0,
    host.isForgiven === true ? 0 : 1,
    crowd.needed.has(host) ? 0 : 1,
    crowd.unmatched.has(host) ? 0 : 1,
    hasTooMany[host.assigned.standby ? "standby" : "active"] ? 0 : 1,
    host.assigned.standby ? 0 : 1,
    -countIn(host),
  ];
  let best: Ranked | undefined;
  for (const host of mayLeave) {
    const next = { host, rank: rank(host) };
    if (best === undefined || compare(next, best) < 0) best = next;
  }
  return best?.host;
}

interface Ranked {
  readonly host: OwnHost;
  readonly rank: readonly number[];
}

function compare(one: Ranked, other: Ranked): number {
  for (const [at, value] of one.rank.entries()) {
    const difference = value - (other.rank[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return one.host.key > other.host.key ? -1 : 1;
}

/** Hosts without the label crowd nothing. */
function countByValue(
  hosts: readonly OwnHost[],
  key: string,
): ReadonlyMap<string | undefined, number> {
  const counts = new Map<string | undefined, number>();
  for (const { labels } of hosts) {
    const value = readLabel(labels, key);
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}
