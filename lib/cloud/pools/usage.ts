/**
 * How full address pools are.
 * @module
 */
import type { Allocations } from "./allocations.ts";
import { countAddresses, FAMILIES } from "./pool.ts";

/** The addresses of one family of a pool. */
export interface PoolUsage {
  readonly pool: string;
  readonly family: "IPv4" | "IPv6";
  /** Addresses that some Service has or gets. */
  readonly used: number;
  /** All addresses. Above 2^53, as IPv6 pools may have them, the nearest number that there is. */
  readonly total: number;
}

/** Counts, for each pool and each family that it has addresses of, in the order of the settings. Pure. */
export function listUsage(allocations: Pick<Allocations, "countUsed" | "pools">): PoolUsage[] {
  return allocations.pools.pools.flatMap((pool) =>
    FAMILIES.flatMap((family): PoolUsage[] => {
      const total = Number(countAddresses(pool, family));
      if (total === 0) return [];
      const used = allocations.countUsed(pool, family);
      return [{ pool: pool.name, family: `IPv${family}`, used, total }];
    }),
  );
}
