/**
 * Decides which Nodes are ours if another Landfall manages the Nodes of other pools: the setting `pools`.
 *
 * The setting divides only Nodes. Landfall reads every pool, because any pool may hold the VM of one of our Nodes.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import type { Presence } from "../../../cloud/provider.ts";
import { parseUuid } from "../../../core/text/uuid.ts";
import type { Identity } from "../model/identity.ts";

type Known = Pick<Inventory, "coverage" | "instances">;

/** The pools whose Nodes are ours. */
export class PoolScope {
  /** IDs in lower case, and names; absent: all pools. */
  readonly #wanted: ReadonlySet<string> | undefined;
  readonly #lastNames: ReadonlyMap<string, string>;

  /**
   * @param pools IDs in any form, or names; absent: all pools
   * @param lastNames The last known names of pools, by ID. They keep the Nodes of a removed pool ours
   */
  constructor(pools: readonly string[] | undefined, lastNames: ReadonlyMap<string, string>) {
    this.#wanted = pools && new Set(pools.map((one) => parseUuid(one) ?? one));
    this.#lastNames = lastNames;
  }

  /**
   * Whether a pool is ours. A name counts only if the pool was shown since the start, because before that it is not
   * known.
   */
  owns(poolId: string, known: Pick<Known, "coverage">): boolean {
    if (this.#wanted === undefined || this.#wanted.has(poolId)) return true;
    const name = this.#findName(poolId, known);
    return name !== undefined && this.#wanted.has(name);
  }

  /** Lists the IDs and names for which no pool was shown since the start. */
  listUnknown({ coverage }: Pick<Known, "coverage">): string[] {
    if (this.#wanted === undefined) return [];
    const names = new Set([...coverage.values()].map(({ name }) => name));
    return [...this.#wanted].filter((one) => !coverage.has(one) && !names.has(one));
  }

  /**
   * Returns `foreign` if a Node is not ours by its provider ID: the ID names a pool that is not ours, or it names no
   * pool and the VM is in none of our pools.
   */
  refuse(identity: Identity, known: Known): Presence | undefined {
    if (this.#wanted === undefined || identity.kind !== "providerId") return undefined;
    const { vmId, poolId = known.instances.get(vmId)?.region } = identity;
    if (poolId !== undefined && this.owns(poolId, known)) return undefined;
    const pool =
      poolId === undefined ? "no pool" : `pool ${this.#findName(poolId, known) ?? poolId}`;
    return toForeign(`its provider ID names ${pool}, which is not in "pools"`);
  }

  /**
   * Judges the pool where a VM was found. If the VM of a Node without a provider ID is in another pool, the Node is not
   * ours. If the VM of one of our Nodes is in another pool, the Node stays ours, and the result has a caution.
   */
  place(identity: Identity, presence: Presence, known: Known): Presence {
    if (presence.kind !== "present") return presence;
    const { region, id } = presence.instance;
    if (region === undefined || this.owns(region, known)) return presence;
    const name = this.#findName(region, known) ?? region;
    const where = `VM ${id} is in pool ${name}, which is not in "pools"`;
    if (identity.kind !== "providerId") return toForeign(where);
    const caution = `${where}; Landfall keeps the Node: move the VM back, or add that pool to "pools"`;
    return { ...presence, caution };
  }

  #findName(poolId: string, { coverage }: Pick<Known, "coverage">): string | undefined {
    return coverage.get(poolId)?.name ?? this.#lastNames.get(poolId);
  }
}

function toForeign(message: string): Presence {
  return { kind: "foreign", message: `${message}: another Landfall manages this Node` };
}
