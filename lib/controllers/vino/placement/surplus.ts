/**
 * Chooses which machines of a role are too many. Pure.
 * @module
 */
import { wasComplete, type KnownMachine } from "./known.ts";

/** How many machines of a role may stay. */
export type SurplusLimit =
  | { readonly total: number }
  | {
      /** For each host. Machines without a known host stay, because they may be those that a host lacks. */
      readonly perHost: (hostId: string) => number;
      /** Whether no host may have any: then the others go, too. */
      readonly isNone: boolean;
    };

/**
 * Picks the machines that are too many, in the order in which they should go: those whose removal has begun; then those
 * that no object uses; then those that were never complete; then those on the host with the most; then the highest
 * index.
 */
export function pickSurplus(
  machines: readonly KnownMachine[],
  limit: SurplusLimit,
): KnownMachine[] {
  const removing = machines
    .filter(({ isRemoving }) => isRemoving)
    .toSorted((a, b) => b.index - a.index);
  const others = machines.filter(({ isRemoving }) => !isRemoving);
  if ("total" in limit) return [...removing, ...pick(others, others.length - limit.total)];
  const byHost = Map.groupBy(others, ({ hostId }) => hostId);
  const surplus = [...byHost].flatMap(([hostId, here]) => {
    const most = hostId === undefined ? (limit.isNone ? 0 : Infinity) : limit.perHost(hostId);
    return pick(here, here.length - most);
  });
  return [...removing, ...surplus.toSorted((a, b) => b.index - a.index)];
}

function pick(machines: readonly KnownMachine[], count: number): KnownMachine[] {
  const left = new Set(machines);
  const crowd = new Map<string, number>();
  for (const { hostId = "" } of left) crowd.set(hostId, (crowd.get(hostId) ?? 0) + 1);
  const picked: KnownMachine[] = [];
  while (picked.length < count) {
    let next: KnownMachine | undefined;
    for (const one of left) if (next === undefined || goesBefore(one, next, crowd)) next = one;
    if (next === undefined) break;
    left.delete(next);
    picked.push(next);
    const { hostId = "" } = next;
    crowd.set(hostId, (crowd.get(hostId) ?? 0) - 1);
  }
  return picked;
}

function goesBefore(a: KnownMachine, b: KnownMachine, crowd: ReadonlyMap<string, number>): boolean {
  const ranks = [a, b].map((one) => [
    one.isConsumed ? 1 : 0,
    one.machine !== undefined && wasComplete(one) ? 1 : 0,
    -(crowd.get(one.hostId ?? "") ?? 0),
    -one.index,
  ]);
  const [of = [], than = []] = ranks;
  for (const [at, rank] of of.entries()) {
    const other = than[at] ?? 0;
    if (rank !== other) return rank < other;
  }
  return false;
}
