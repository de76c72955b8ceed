/**
 * Which hosts a role gives back when it has too many.
 * @module
 */
import { Heap } from "../../../core/heap.ts";
import type { NodeSet } from "../resource/sip_cluster.ts";
import { listTopologyKeys } from "./domains.ts";
import { readLabel, toMatcher } from "./label_selector.ts";
import { byKey, listKeepable, type OwnHost, type RoleHosts } from "./own_hosts.ts";
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
  const { set, releasesUsed } = options;
  const wanted = toWanted(set);
  const { loose = [], used = [], untouchable = [] } = hosts ?? {};
  const surplus = loose.length + used.length + untouchable.length - wanted.active - wanted.standby;
  const crowd = toCrowd(listKeepable(hosts), options);
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
  /** Of those that stay, how many stand by. */
  standby: number;
  /** How many hosts are in a domain, those of other roles that crowd it included. */
  readonly counts: Map<string, number>;
  readonly listDomains: (host: HostFacts) => readonly string[];
  /** What of the order of hosts never changes: the lower, the sooner one leaves. */
  readonly rank: (host: OwnHost) => number;
}

function toCrowd(
  hosts: readonly OwnHost[],
  { set, neighbours, needed = new Set() }: ContractionOptions,
): Crowd {
  const keys = listTopologyKeys(set);
  const matches = toMatcher(set?.labelSelector);
  const crowd: Crowd = {
    stay: new Set(hosts),
    wanted: toWanted(set),
    standby: hosts.filter(({ assigned }) => assigned.standby).length,
    counts: new Map(),
    // Hosts without the label crowd nothing.
    listDomains: ({ labels }) =>
      keys.flatMap((key) => {
        const value = readLabel(labels, key);
        return value === undefined ? [] : [JSON.stringify([key, value])];
      }),
    rank: (host) =>
      [
        host.late === LATE.reserved,
        host.isInUse,
        host.isForgiven !== true,
        !needed.has(host),
        matches(host.labels),
      ].reduce((rank, isLater) => 2 * rank + Number(isLater), 0),
  };
  for (const host of [...hosts, ...neighbours]) count(crowd, host, 1);
  return crowd;
}

function count({ counts, listDomains }: Crowd, host: HostFacts, by: number): void {
  for (const domain of listDomains(host)) counts.set(domain, (counts.get(domain) ?? 0) + by);
}

/** Hosts of one domain between which only their keys decide, in the order of these. */
interface Peers {
  readonly rank: number;
  readonly domain: string;
  readonly isStandby: boolean;
  readonly hosts: OwnHost[];
}

/** The host of its peers that leaves next, and when, compared with others: the lower the ranks, the sooner. */
interface Leaver {
  readonly peers: Peers;
  readonly host: OwnHost;
  readonly ranks: readonly number[];
}

/**
 * Removes up to `limit` of these hosts from a crowd, and returns them. A tenant may give back thousands at once, so
 * nothing is counted again for each: a host never leaves sooner because another one left, so that only the first of the
 * heap is judged again.
 */
function removeSome(crowd: Crowd, hosts: readonly OwnHost[], limit: number): readonly OwnHost[] {
  const { stay } = crowd;
  const removed: OwnHost[] = [];
  if (limit <= 0) return removed;
  const heap = new Heap(compare);
  const push = (peers: Peers): void => {
    const next = findLeaver(crowd, peers);
    if (next !== undefined) heap.push(next);
  };
  for (const peers of groupPeers(crowd, hosts)) push(peers);
  while (removed.length < limit) {
    const first = heap.pop();
    if (first === undefined) break;
    const { peers, host } = first;
    const now = findLeaver(crowd, peers);
    if (now?.host === host && compare(now, first) === 0) {
      stay.delete(host);
      count(crowd, host, -1);
      if (peers.isStandby) crowd.standby -= 1;
      removed.push(host);
    }
    push(peers);
  }
  return removed;
}

function groupPeers(crowd: Crowd, hosts: readonly OwnHost[]): Iterable<Peers> {
  const all = new Map<string, Peers>();
  for (const host of hosts.toSorted(byKey)) {
    if (!crowd.stay.has(host)) continue;
    const rank = crowd.rank(host);
    const isStandby = host.assigned.standby;
    const domains = crowd.listDomains(host);
    for (const domain of domains.length === 0 ? [""] : domains) {
      const name = `${rank} ${isStandby} ${domain}`;
      const peers = all.get(name) ?? { rank, domain, isStandby, hosts: [] };
      all.set(name, peers);
      peers.hosts.push(host);
    }
  }
  return all.values();
}

function findLeaver({ stay, wanted, standby, counts }: Crowd, peers: Peers): Leaver | undefined {
  const { rank, domain, isStandby, hosts } = peers;
  // A host is in several domains.
  let host = hosts.at(-1);
  while (host !== undefined && !stay.has(host)) {
    hosts.pop();
    host = hosts.at(-1);
  }
  if (host === undefined) return undefined;
  const surplus = isStandby ? standby - wanted.standby : stay.size - standby - wanted.active;
  const ranks = [rank, surplus > 0 ? 0 : 1, isStandby ? 0 : 1, -(counts.get(domain) ?? 0)];
  return { peers, host, ranks };
}

function compare(one: Leaver, other: Leaver): number {
  for (const [at, rank] of one.ranks.entries()) {
    const difference = rank - (other.ranks[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return byKey(other.host, one.host);
}
