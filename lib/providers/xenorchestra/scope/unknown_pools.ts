/**
 * Reports entries of the setting `pools` that name no pool. Pure.
 * @module
 */
import type { Finding } from "../../../cloud/inspection.ts";
import type { Coverage, Inventory } from "../../../cloud/inventory/inventory.ts";
import { findClosest } from "../../../core/text/edit_distance.ts";
import { quote } from "../../../core/text/printable.ts";
import { judgeConnections, type ServersReply } from "../proof/connections.ts";

type Shown = Pick<Inventory, "coverage">;

/** Why such an entry is not covered. */
export const NOT_SHOWN: string =
  'it is in "pools", but Xen Orchestra has not shown it since Landfall started: ' +
  "its connection may be down, or the name is wrong";

const NONE = "no pool that the user can see has this name or UUID";

/** Whether a part of the coverage is only an entry of `pools`. */
export function isUnknownEntry({ isOnlyNamed, reason }: Coverage): boolean {
  return isOnlyNamed === true && reason === NOT_SHOWN;
}

/** What to do about such an entry while its pool may exist. It suggests the pool with the closest name or UUID. */
export function toEntryAdvice(entry: string, shown: Shown): string {
  const closest = suggestPool(entry, shown);
  const hint = closest === undefined ? "" : ` (did you mean ${closest}?)`;
  return `correct it in "pools"${hint}, or reconnect the pool`;
}

/**
 * Returns such entries as findings, for an operator who sets up the cloud.
 *
 * @param servers The connections to pools. Absent: there is no answer
 */
export function listUnknownEntryFindings(
  { coverage }: Shown,
  servers: ServersReply | undefined,
): Finding[] {
  const [entries, pools] = split(coverage);
  const isWhole = servers !== undefined && isEveryPoolShown(servers, pools);
  return entries.map((entry): Finding => {
    const finding = { level: "warning", code: "unknownPool" } as const;
    const message = `pool ${quote(entry)} is in "pools", but`;
    if (!isWhole) {
      const why = "its connection may be down, or the name is wrong";
      const advice = toEntryAdvice(entry, { coverage: pools });
      return { ...finding, message: `${message} Xen Orchestra does not show it: ${why}`, advice };
    }
    const closest = suggestPool(entry, { coverage: pools });
    const hint = closest === undefined ? "" : `; did you mean ${closest}?`;
    const advice = `correct it in "pools"${hint}`;
    return { ...finding, message: `${message} ${NONE}`, advice };
  });
}

/** Returns an inventory without such entries. */
export function withoutUnknownEntries<T extends Shown>(inventory: T): T {
  const [entries, coverage] = split(inventory.coverage);
  return entries.length === 0 ? inventory : { ...inventory, coverage };
}

/** The pool of a disabled connection is in no list, so only a list without such connections is whole. */
function isEveryPoolShown(servers: ServersReply, coverage: Inventory["coverage"]): boolean {
  if (typeof servers === "string" || servers.objects.some((one) => one.enabled === false)) {
    return false;
  }
  return judgeConnections(servers, coverage).kind === "clear";
}

function split(coverage: Inventory["coverage"]): [entries: string[], pools: Map<string, Coverage>] {
  const entries = [...coverage].filter(([, part]) => isUnknownEntry(part));
  const pools = [...coverage].filter(([, part]) => !isUnknownEntry(part));
  return [entries.map(([entry]) => entry), new Map(pools)];
}

/** Names differ by case, too: that is the most common mistake. */
function suggestPool(entry: string, { coverage }: Shown): string | undefined {
  const pools = [...coverage].filter(([, { isOnlyNamed }]) => !isOnlyNamed);
  const words = pools.flatMap(([id, { name }]) => [...(name === undefined ? [] : [name]), id]);
  const lower = words.map((word) => word.toLowerCase());
  const closest = findClosest(entry.toLowerCase(), lower);
  return closest === undefined ? undefined : words[lower.indexOf(closest)];
}
