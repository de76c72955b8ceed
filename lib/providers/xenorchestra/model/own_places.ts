/**
 * Finds the region and zone labels of the settings `regions` and `zones`. Pure.
 * @module
 */
import { parseUuid } from "../../../core/text/uuid.ts";
import type { Host, Pool } from "../wire/schema.ts";

/** Labels by ID (lower case) or name of a pool or host. */
export type OwnNames = ReadonlyMap<string, string>;

/** The pools and hosts that entries may name. */
export interface Places {
  readonly pools: ReadonlyMap<string, Pool>;
  readonly hosts: ReadonlyMap<string, Host>;
}

/** Hosts, or pools, by ID. */
type Named = ReadonlyMap<string, { readonly name_label?: string | null | undefined }>;

/**
 * The label of a place. `none`: there is no entry for it. `unknown`: Landfall cannot check now whether there is one.
 */
type OwnName =
  { readonly kind: "named"; readonly label: string } | { readonly kind: "none" | "unknown" };

const NONE: OwnName = { kind: "none" };
const UNKNOWN: OwnName = { kind: "unknown" };

/** Finds the region of a pool in the settings. */
export function findOwnRegion(poolId: string, { pools }: Places, regions: OwnNames): OwnName {
  return findOwnName(poolId, pools, regions);
}

/** Finds the zone of a host in the settings: its own entry, then that of its pool. */
export function findOwnZone(
  hostId: string,
  poolId: string,
  { pools, hosts }: Places,
  zones: OwnNames,
): OwnName {
  const ofHost = findOwnName(hostId, hosts, zones);
  return ofHost.kind === "none" ? findOwnName(poolId, pools, zones) : ofHost;
}

/**
 * Finds the entry of a place. An entry by ID wins. If several places have a name, an entry with that name counts for
 * none.
 */
function findOwnName(id: string, places: Named, names: OwnNames): OwnName {
  const byId = names.get(id);
  if (byId !== undefined) return { kind: "named", label: byId };
  const name = places.get(id)?.name_label ?? undefined;
  // The name of the place is not known, so an entry may name it.
  if (name === undefined) return [...names.keys()].every(isId) ? NONE : UNKNOWN;
  const label = names.get(name);
  if (label === undefined) return NONE;
  return countMatches(name, places) === 1 ? { kind: "named", label } : UNKNOWN;
}

function isId(entry: string): boolean {
  return parseUuid(entry) === entry;
}

/** Counts the places that an entry names; by ID at most one. */
function countMatches(entry: string, places: Named): number {
  if (places.has(entry)) return 1;
  let count = 0;
  for (const { name_label } of places.values()) if (name_label === entry) count += 1;
  return count;
}

/** An entry that names no place or several. */
export interface UnfitEntry {
  readonly setting: "regions" | "zones";
  readonly entry: string;
  readonly isAmbiguous: boolean;
}

/** Lists entries that name no place, or several of one kind. */
export function listUnfitEntries(
  { pools, hosts }: Places,
  { regions, zones }: { readonly regions?: OwnNames; readonly zones?: OwnNames },
): UnfitEntry[] {
  return [
    ...judgeEntries("regions", regions, [pools]),
    ...judgeEntries("zones", zones, [hosts, pools]),
  ];
}

function judgeEntries(
  setting: UnfitEntry["setting"],
  names: OwnNames | undefined,
  kinds: readonly Named[],
): UnfitEntry[] {
  const unfit: UnfitEntry[] = [];
  for (const entry of names?.keys() ?? []) {
    const counts = kinds.map((places) => countMatches(entry, places));
    const isAmbiguous = counts.some((count) => count > 1);
    if (isAmbiguous || counts.every((count) => count === 0)) {
      unfit.push({ setting, entry, isAmbiguous });
    }
  }
  return unfit;
}
