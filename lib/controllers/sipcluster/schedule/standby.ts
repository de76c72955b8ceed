/**
 * Which hosts of a role are active, and which stand by.
 * @module
 */
import { byKey, isBroken } from "./own_hosts.ts";
import type { HostFacts } from "./types.ts";

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
 * use that is active stays so, even beyond `active`. An untouchable host stays what it is.
 */
export function rateHosts(hosts: readonly HostFacts[], active: number): readonly Rated[] {
  const fixed = hosts.filter(({ isUntouchable }) => isUntouchable === true);
  const others = hosts.filter(({ isUntouchable }) => isUntouchable !== true);
  const places = active - fixed.filter(isActive).length;
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
