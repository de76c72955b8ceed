/**
 * When errors of a cluster's hosts count. An error of a management controller may pass within seconds, or be on all
 * hosts at once, and metal3 does not say since when it is there: the status of the SIPCluster does. Pure.
 * @module
 */
import { formatTime } from "../../../core/clock.ts";
import { type Key, toKey } from "../../../kube/cache/store.ts";
import type { HostStatus, Role } from "../resource/sip_cluster.ts";
import type { HostFacts } from "../schedule/types.ts";
import { IN_ERROR } from "./facts.ts";

/** Since when hosts are in error, by their keys, as a status writes it. */
export type ErrorTimes = ReadonlyMap<Key, string>;

/** Wall-clock time, and how long an error must last; in milliseconds. */
interface Grace {
  readonly nowMs: number;
  readonly graceMs: number;
}

/**
 * Since when hosts of a cluster are in error.
 *
 * @param before Its status. What it does not say begins now, and what it says of a time that is to come
 */
export function listErrorTimes(
  own: Iterable<HostFacts>,
  before: readonly HostStatus[] = [],
  nowMs: number,
): ErrorTimes {
  const known = new Map(before.map((host) => [toKey({ metadata: host }), host.errorSince]));
  const failing = Array.from(own).filter(({ trouble }) => trouble === IN_ERROR);
  const isPast = (since: string | undefined): since is string => Date.parse(since ?? "") <= nowMs;
  return new Map(
    failing.map(({ key }) => {
      const since = known.get(key);
      return [key, isPast(since) ? since : formatTime(nowMs)];
    }),
  );
}

/**
 * The hosts of a cluster as a decision sees them: errors younger than the grace are forgiven. Of the others that
 * nothing uses, one of each role counts, which is longest in error. When it is replaced, the grace of the others begins
 * again.
 */
export function forgiveErrors(
  own: readonly HostFacts[],
  times: ErrorTimes,
  grace: Grace,
): readonly HostFacts[] {
  const counted = new Map<Role | undefined, { readonly key: Key; readonly since: string }>();
  const due = own.flatMap(({ key, assigned, isInUse }) => {
    const since = times.get(key);
    return since === undefined || toPauseMs(since, grace) > 0
      ? []
      : [{ key, since, isInUse, role: assigned?.role }];
  });
  for (const { role, isInUse, ...one } of due) {
    const other = counted.get(role);
    const isFirst = other === undefined || toOrder(one) < toOrder(other);
    if (!isInUse && isFirst) counted.set(role, one);
  }
  const used = due.filter(({ isInUse }) => isInUse);
  const keys = new Set([...counted.values(), ...used].map(({ key }) => key));
  return own.map((host) =>
    times.has(host.key) && !keys.has(host.key) ? { ...host, isForgiven: true } : host,
  );
}

/** In how many milliseconds the next error counts. Infinity: none that does not count yet. */
export function findNextErrorMs(times: ErrorTimes, grace: Grace): number {
  const pauses = [...times.values()].map((since) => toPauseMs(since, grace));
  return Math.min(Infinity, ...pauses.filter((ms) => ms > 0));
}

/** What is left of a grace. A time that cannot be read is now. */
function toPauseMs(since: string, { nowMs, graceMs }: Grace): number {
  return (Date.parse(since) || nowMs) + graceMs - nowMs;
}

function toOrder({ key, since }: { readonly key: Key; readonly since: string }): string {
  return `${since} ${key}`;
}
