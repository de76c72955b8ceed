/**
 * The inventory as the debug pages show it.
 * @module
 */
import type { InventorySource } from "../../cloud/inventory/source.ts";
import type { Clock } from "../../core/clock.ts";
import { describeError } from "../../core/errors.ts";
import type { InventoryView } from "../../http/views.ts";

/** Describes the inventory in use, and its last refreshes. */
export function toInventoryView(source: InventorySource, clock: Clock): InventoryView {
  const { current, ageMs, lastError, lastDurationMs } = source;
  return {
    ageSeconds: ageMs === undefined ? null : Math.round(ageMs) / 1_000,
    ...(ageMs === undefined ? {} : { observedAt: new Date(clock.now() - ageMs).toISOString() }),
    coverage: [...(current?.coverage ?? [])].map(([id, part]) => ({ id, ...part })),
    counts: {
      instances: current?.instances.size ?? 0,
      undecodable: current?.undecodable.size ?? 0,
    },
    ...(lastError === undefined ? {} : { lastError: describeError(lastError) }),
    ...(lastDurationMs === undefined ? {} : { lastRefreshDurationMs: Math.round(lastDurationMs) }),
  };
}
