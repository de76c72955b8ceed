/**
 * Finds the values of the region and zone labels of a VM's Node. Pure.
 * @module
 */
import { toLabelValue } from "../../../core/text/label.ts";
import type { XenOrchestraSettings } from "../settings/config.ts";
import { findTagValue } from "./instance_type.ts";
import { findOwnRegion, findOwnZone, type Places } from "./own_places.ts";

type ZoneSettings = Pick<XenOrchestraSettings, "zoneLabelFrom" | "zones">;

/**
 * Finds the value of `Instance.regionLabel`.
 *
 * @returns `undefined` if the region is the ID of the pool
 */
export function findRegionLabel(
  poolId: string,
  places: Places,
  { regions }: Pick<XenOrchestraSettings, "regions">,
): string | undefined {
  if (regions === undefined) return undefined;
  const own = findOwnRegion(poolId, places, regions);
  if (own.kind === "named") return own.label;
  return own.kind === "unknown" ? "" : undefined;
}

/**
 * Finds the zone of a VM.
 *
 * @param place Without a host for a VM that is off. It may start on any host of its pool, so its zone is known only if
 * all hosts have the same zone
 * @returns `undefined` if it is not known, or `zoneLabelFrom` is `none`
 */
export function findZone(
  { hostId, poolId }: { readonly hostId: string | undefined; readonly poolId: string },
  places: Places,
  settings: ZoneSettings,
): string | undefined {
  const { zones, zoneLabelFrom } = settings;
  if (zones === undefined || zoneLabelFrom.kind === "none") {
    return findUsualZone(hostId, poolId, places, settings);
  }
  const findOne = (id: string): string | undefined => {
    const own = findOwnZone(id, poolId, places, zones);
    if (own.kind === "named") return own.label;
    return own.kind === "none" ? findUsualZone(id, poolId, places, settings) : undefined;
  };
  if (hostId !== undefined) return findOne(hostId);
  const ofPool = [...places.hosts.values()].filter(({ $pool }) => $pool === poolId);
  const [zone, ...others] = new Set(ofPool.map(({ id }) => findOne(id)));
  return others.length === 0 ? zone : undefined;
}

/** Finds the zone without an entry in `zones`. */
function findUsualZone(
  hostId: string | undefined,
  poolId: string,
  { hosts }: Places,
  { zoneLabelFrom }: ZoneSettings,
): string | undefined {
  if (zoneLabelFrom.kind === "none") return undefined;
  if (zoneLabelFrom.kind === "pool") return poolId;
  if (zoneLabelFrom.kind === "host") return hostId;
  const tags = hosts.get(hostId ?? "")?.tags ?? [];
  return toLabelValue(findTagValue(tags, zoneLabelFrom.prefix) ?? "") || undefined;
}
