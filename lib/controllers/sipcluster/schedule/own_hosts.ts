/**
 * The hosts that a cluster has, by what may be done with them, and which of them stand by. Pure.
 * @module
 */
import { ROLES, type Role } from "../resource/sip_cluster.ts";
import type { HostFacts, ScheduleInput } from "./types.ts";

/** A host of the cluster. */
export interface OwnHost extends HostFacts {
  readonly assigned: NonNullable<HostFacts["assigned"]>;
}

/** Hosts of one role. Each list is in the order of keys. */
export interface RoleHosts {
  /** Not in use, and fit to be kept. */
  readonly loose: readonly OwnHost[];
  /** In use: they stay, broken or not, unless the spec lets them go. */
  readonly used: readonly OwnHost[];
  /** Their labels may not be changed. */
  readonly untouchable: readonly OwnHost[];
  /** Neither in use nor fit to be kept: each is given back when the cluster does not need it, or has another one. */
  readonly broken: readonly OwnHost[];
}

/** The input's hosts. */
export interface SortedHosts {
  readonly own: ReadonlyMap<Role, RoleHosts>;
  /** Hosts of no cluster, in the order of the input. */
  readonly free: readonly HostFacts[];
}

/** Sorts the hosts of an input. Hosts of other clusters are left out. */
export function sortHosts({ cluster, hosts }: ScheduleInput): SortedHosts {
  const own: OwnHost[] = [];
  const free: HostFacts[] = [];
  for (const host of hosts) {
    if (!isOwn(host)) free.push(host);
    else if (host.assigned.cluster === cluster) own.push(host);
  }
  own.sort(byKey);
  const ofRole = (role: Role): RoleHosts =>
    sortRole(own.filter(({ assigned }) => assigned.role === role));
  return { own: new Map(ROLES.map((role) => [role, ofRole(role)])), free };
}

/** Hosts of a role that count, unless there are too many. */
export function listKeepable(hosts: RoleHosts | undefined): readonly OwnHost[] {
  return hosts ? [...hosts.untouchable, ...hosts.used, ...hosts.loose] : [];
}

/** The order of hosts wherever nothing else decides. */
export function byKey(one: { readonly key: string }, other: { readonly key: string }): number {
  return one.key < other.key ? -1 : Number(one.key > other.key);
}

function isOwn(host: HostFacts): host is OwnHost {
  return host.assigned !== undefined;
}

function sortRole(hosts: readonly OwnHost[]): RoleHosts {
  const movable = hosts.filter(({ isUntouchable }) => isUntouchable !== true);
  const idle = movable.filter(({ isInUse }) => !isInUse);
  return {
    loose: idle.filter((host) => !isBroken(host)),
    used: movable.filter(({ isInUse }) => isInUse),
    untouchable: hosts.filter(({ isUntouchable }) => isUntouchable === true),
    broken: idle.filter(isBroken),
  };
}

/** Whether a host has a trouble that counts. */
function isBroken({ trouble, isForgiven }: HostFacts): boolean {
  return trouble !== undefined && isForgiven !== true;
}

/** A host of a role, and whether it stands by. */
export interface Rated {
  readonly host: HostFacts;
  readonly standby: boolean;
}

/**
 * Says for each host of a role whether it is active or stands by, so that few labels change.
 *
 * The active places are filled first: where hosts are missing, standby hosts become active. They go to hosts in use
 * before idle ones, to fit ones before broken ones, then to those that are active now, then to new ones. A host in
 * use that is active stays so, even beyond `active`. An untouchable host stays what it is, and one
 * in doubt takes no place.
 */
export function rateHosts(hosts: readonly HostFacts[], active: number): readonly Rated[] {
  const fixed = hosts.filter(({ isUntouchable }) => isUntouchable === true);
  const others = hosts.filter(({ isUntouchable }) => isUntouchable !== true);
  const places = active - fixed.filter((host) => isActive(host) && !host.isDoubtful).length;
  const rated = others
    .sort((one, other) => rank(one) - rank(other) || byKey(one, other))
    .map((host, at) => ({
      host,
      standby: at >= places && !(host.isInUse && isActive(host)),
    }));
  return [...fixed.map((host) => ({ host, standby: isStandby(host) })), ...rated];
}

function isStandby({ assigned }: HostFacts): boolean {
  return assigned?.standby === true;
}

function isActive({ assigned }: HostFacts): boolean {
  return assigned?.standby === false;
}

/** The lower, the sooner active. */
function rank(host: HostFacts): number {
  const kind = isActive(host) ? 0 : isStandby(host) ? 2 : 1;
  return (host.isInUse ? 0 : 8) + (isBroken(host) ? 4 : 0) + kind;
}
