/**
 * Pools that only Nodes tell of: nothing shows them since the start, but provider IDs name them.
 *
 * Only the provider IDs of Nodes whose VMs are not shown count. That of a VM that moved names its first pool for ever,
 * and that pool may be gone. Region labels do not count: anybody may write one, again and again.
 *
 * Such a pool keeps its own Nodes safe and is worth an alert. It is no reason to keep the Nodes of other pools: it may
 * have been removed long ago, or be in another Xen Orchestra, and nobody could ever tell.
 * @module
 */
import type { Coverage, Inventory } from "../../cloud/inventory.ts";
import type { Logger } from "../../core/log.ts";
import type { Identity } from "./identity.ts";

/** Most such pools in one inventory: whoever registers Nodes may name any. */
const NAMED_POOLS_MAX = 64;

/** What is to be said of a pool that was not shown since the start. */
export const NEVER_SHOWN: string =
  "it was not shown since Landfall started, so its connection may be down";

/** Adds the pools that Nodes name to an inventory. Returns `inventory` itself when there are none. */
export function withNamedPools(inventory: Inventory, identities: readonly Identity[]): Inventory {
  const named = new Map<string, Coverage>();
  for (const identity of identities) {
    if (named.size === NAMED_POOLS_MAX) break;
    if (identity.kind !== "providerId" || identity.poolId === undefined) continue;
    const { vmId, poolId } = identity;
    if (inventory.coverage.has(poolId) || named.has(poolId)) continue;
    if (inventory.instances.has(vmId) || inventory.undecodable.has(vmId)) continue;
    named.set(poolId, { complete: false, isOnlyNamed: true, reason: NEVER_SHOWN });
  }
  if (named.size === 0) return inventory;
  return { ...inventory, coverage: new Map([...inventory.coverage, ...named]) };
}

/** Says once of each such pool that it is missing, and once that no pool is shown at all. */
export class NamedPoolsLog {
  readonly #log: Logger;
  #told: ReadonlySet<string> = new Set();
  #hadNone = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Takes in an inventory, as {@linkcode withNamedPools} gives it. */
  note({ coverage }: Inventory): void {
    const named = [...coverage].filter(([, { isOnlyNamed }]) => isOnlyNamed).map(([id]) => id);
    const hasNone = coverage.size === named.length;
    if (hasNone && !this.#hadNone) {
      const advice = "check the connections of Xen Orchestra, and that the user may read pools";
      this.#log.warn("Xen Orchestra shows no pool", { advice });
    }
    this.#hadNone = hasNone;
    if (named.length === 0 && this.#told.size === 0) return;
    for (const poolId of named) {
      if (this.#told.has(poolId)) continue;
      const advice = "mend its connection; if it was removed for good, delete the Nodes";
      this.#log.warn("Nodes name a pool that is not shown", {
        poolId,
        reason: NEVER_SHOWN,
        advice,
      });
    }
    this.#told = new Set(named);
  }
}
