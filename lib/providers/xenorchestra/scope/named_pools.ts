/**
 * Adds pools to an inventory that Xen Orchestra has not shown since the start, but that provider IDs of Nodes or the
 * setting `pools` name.
 *
 * Only the provider IDs of Nodes whose VMs are not shown count. If a VM moves, its provider ID still names its first
 * pool, which may be gone. Region labels do not count, because any client can write one again and again.
 *
 * Such a pool protects its own Nodes and causes an alert. It does not protect the Nodes of other pools: it may have
 * been removed long ago, or belong to another Xen Orchestra, and Landfall cannot find out.
 * @module
 */
import type { Coverage, Inventory } from "../../../cloud/inventory/inventory.ts";
import type { Logger } from "../../../core/log.ts";
import type { Identity } from "../model/identity.ts";
import type { PoolScope } from "./pool_scope.ts";
import { isUnknownEntry, NOT_SHOWN, toEntryAdvice } from "./unknown_pools.ts";

/** Maximum number of such pools in one inventory, because a client that registers Nodes can name any pool. */
const NAMED_POOLS_MAX = 64;

/** Reason for a pool that was not shown since the start. */
export const NEVER_SHOWN: string =
  "Xen Orchestra has not shown the pool since Landfall started; its connection may be down";

/**
 * Adds pools to an inventory that our Nodes or the setting `pools` name. Returns `inventory` itself if there are none.
 */
export function withNamedPools(
  inventory: Inventory,
  identities: readonly Identity[],
  scope: PoolScope,
): Inventory {
  const unknown = scope.listUnknown(inventory);
  const named = new Map<string, Coverage>(
    unknown.map((one) => [one, { complete: false, isOnlyNamed: true, reason: NOT_SHOWN }]),
  );
  for (const identity of identities) {
    if (named.size >= NAMED_POOLS_MAX + unknown.length) break;
    if (identity.kind !== "providerId" || identity.poolId === undefined) continue;
    const { vmId, poolId } = identity;
    if (inventory.coverage.has(poolId) || named.has(poolId)) continue;
    if (!scope.owns(poolId, inventory)) continue;
    if (inventory.instances.has(vmId) || inventory.undecodable.has(vmId)) continue;
    named.set(poolId, { complete: false, isOnlyNamed: true, reason: NEVER_SHOWN });
  }
  if (named.size === 0) return inventory;
  return { ...inventory, coverage: new Map([...inventory.coverage, ...named]) };
}

/** Adds such pools to each inventory. Logs each missing pool once, and logs once if no pool is shown. */
export class NamedPools {
  readonly #scope: PoolScope;
  readonly #log: Logger;
  #logged: ReadonlySet<string> = new Set();
  #hadNone = false;

  /** @param scope The pools whose Nodes are ours */
  constructor(scope: PoolScope, log: Logger) {
    this.#scope = scope;
    this.#log = log;
  }

  /** Adds to an inventory, as {@linkcode withNamedPools}. */
  addTo(inventory: Inventory, identities: readonly Identity[]): Inventory {
    const whole = withNamedPools(inventory, identities, this.#scope);
    this.#logPools(whole);
    return whole;
  }

  #logPools({ coverage }: Inventory): void {
    const named = [...coverage].filter(([, { isOnlyNamed }]) => isOnlyNamed);
    const hasNone = coverage.size === named.length;
    if (hasNone && !this.#hadNone) {
      const advice = "check the connections of Xen Orchestra, and the user's right to read pools";
      this.#log.warn("Xen Orchestra shows no pool", { advice });
    }
    this.#hadNone = hasNone;
    if (named.length === 0 && this.#logged.size === 0) return;
    for (const [pool, part] of named) {
      if (this.#logged.has(pool)) continue;
      const { reason } = part;
      const advice = isUnknownEntry(part)
        ? toEntryAdvice(pool, { coverage })
        : "reconnect it; if it was removed for good, delete its Nodes";
      this.#log.warn("Xen Orchestra does not show a pool that a Node or a setting names", {
        pool,
        reason,
        advice,
      });
    }
    this.#logged = new Set(named.map(([pool]) => pool));
  }
}
