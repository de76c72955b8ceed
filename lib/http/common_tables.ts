/**
 * Tables for terminals that the pages of several kinds have.
 * @module
 */
import { formatTable } from "./text_table.ts";
import type { ConditionView, PoolUsageView } from "./views.ts";

const CONDITION_TITLES = ["CONDITION", "STATUS", "REASON", "MESSAGE"];
const POOL_TITLES = ["POOL", "FAMILY", "USED", "TOTAL"];

/** The conditions of an object. */
export function formatConditions(conditions: readonly ConditionView[]): string {
  const rows = conditions.map(({ type, status, reason, message }) => [
    type,
    status,
    reason,
    message,
  ]);
  return formatTable(CONDITION_TITLES, rows);
}

/** How full address pools are. */
export function formatPools(pools: readonly PoolUsageView[]): string {
  const rows = pools.map(({ pool, family, used, total }) => [
    pool,
    family,
    String(used),
    String(total),
  ]);
  return formatTable(POOL_TITLES, rows);
}
