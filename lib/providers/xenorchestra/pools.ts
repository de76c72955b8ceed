/**
 * The pools whose Nodes are ours if another Landfall manages those of other pools (the setting `pools`), and pools that
 * Nodes or that setting name, but that Xen Orchestra has not shown since the start.
 *
 * The setting divides only Nodes. Landfall reads every pool, because any pool may hold the VM of one of our Nodes.
 * @module
 */
import type { Finding } from "../../cloud/inspection.ts";
import type { Coverage, Inventory } from "../../cloud/inventory/inventory.ts";
import type { Presence } from "../../cloud/provider.ts";
import type { Logger } from "../../core/log.ts";
import { findClosest } from "../../core/text/edit_distance.ts";
import { quote } from "../../core/text/printable.ts";
import { parseUuid } from "../../core/text/values.ts";
import { judgeConnections } from "./connections.ts";
import type { ServersReply } from "./client.ts";
import type { Identity } from "./identity.ts";

type Known = Pick<Inventory, "coverage" | "instances">;
type Shown = Pick<Inventory, "coverage">;

/** Maximum number of pools that only Nodes name, because a client that registers Nodes can name any pool. */
const NAMED_POOLS_MAX = 64;

/** Reason for a pool that was not shown since the start. */
export const NEVER_SHOWN: string =
  "Xen Orchestra has not shown the pool since Landfall started; its connection may be down";
/** Reason for an entry of `pools` that was not shown since the start. */
const NOT_SHOWN =
  'it is in "pools", but Xen Orchestra has not shown it since Landfall started: ' +
  "its connection may be down, or the name is wrong";
const NONE = "no pool that the user can see has this name or UUID";

/** The pools whose Nodes are ours. */
export class PoolScope {
  /** IDs in lower case, and names; absent: all pools. */
  readonly #wanted: ReadonlySet<string> | undefined;
  readonly #lastNames: ReadonlyMap<string, string>;
  readonly #log: Logger;
  /** The pools that are only named, as logged last. */
  #logged: ReadonlySet<string> = new Set();
  #hadNone = false;

  /**
   * @param pools IDs in any form, or names; absent: all pools
   * @param lastNames The last known names of pools, by ID. They keep the Nodes of a removed pool ours
   */
  constructor(
    pools: readonly string[] | undefined,
    lastNames: ReadonlyMap<string, string>,
    log: Logger,
  ) {
    this.#wanted = pools && new Set(pools.map((one) => parseUuid(one) ?? one));
    this.#lastNames = lastNames;
    this.#log = log;
  }

  /**
   * Returns `foreign` if a Node is not ours by its provider ID: the ID names a pool that is not ours, or it names no
   * pool and the VM is in none of our pools.
   */
  refuse(identity: Identity, known: Known): Presence | undefined {
    if (this.#wanted === undefined || identity.kind !== "providerId") return undefined;
    const { vmId, poolId = known.instances.get(vmId)?.region } = identity;
    if (poolId !== undefined && this.#owns(poolId, known)) return undefined;
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
    if (region === undefined || this.#owns(region, known)) return presence;
    const name = this.#findName(region, known) ?? region;
    const where = `VM ${id} is in pool ${name}, which is not in "pools"`;
    if (identity.kind !== "providerId") return toForeign(where);
    const caution = `${where}; Landfall keeps the Node: move the VM back, or add that pool to "pools"`;
    return { ...presence, caution };
  }

  /**
   * Adds pools to an inventory that our Nodes or the setting `pools` name. Logs each missing pool once, and logs once
   * if no pool is shown. Returns `inventory` itself if there are none.
   *
   * Only the provider IDs of Nodes whose VMs are not shown count. If a VM moves, its provider ID still names its first
   * pool, which may be gone. Region labels do not count, because any client can write one again and again.
   *
   * Such a pool protects its own Nodes and causes an alert. It does not protect the Nodes of other pools: it may have
   * been removed long ago, or belong to another Xen Orchestra, and Landfall cannot find out.
   */
  addNamed(inventory: Inventory, identities: readonly Identity[]): Inventory {
    const unknown = this.#listUnknown(inventory);
    const named = new Map(unknown.map((one) => [one, toNamed(NOT_SHOWN)]));
    for (const identity of identities) {
      if (named.size >= NAMED_POOLS_MAX + unknown.length) break;
      if (identity.kind !== "providerId" || identity.poolId === undefined) continue;
      const { vmId, poolId } = identity;
      if (inventory.coverage.has(poolId) || named.has(poolId)) continue;
      if (!this.#owns(poolId, inventory)) continue;
      if (inventory.instances.has(vmId) || inventory.undecodable.has(vmId)) continue;
      named.set(poolId, toNamed(NEVER_SHOWN));
    }
    this.#logNamed(named, inventory);
    if (named.size === 0) return inventory;
    return { ...inventory, coverage: new Map([...inventory.coverage, ...named]) };
  }

  #logNamed(named: ReadonlyMap<string, Coverage>, { coverage }: Shown): void {
    const hasNone = coverage.size === 0;
    if (hasNone && !this.#hadNone) {
      const advice = "check the connections of Xen Orchestra, and the user's right to read pools";
      this.#log.warn("Xen Orchestra shows no pool", { advice });
    }
    this.#hadNone = hasNone;
    for (const [pool, part] of named) {
      if (this.#logged.has(pool)) continue;
      const { reason } = part;
      const advice = isUnknownEntry(part)
        ? toEntryAdvice(pool, coverage)
        : "reconnect it; if it was removed for good, delete its Nodes";
      this.#log.warn("Xen Orchestra does not show a pool that a Node or a setting names", {
        pool,
        reason,
        advice,
      });
    }
    this.#logged = new Set(named.keys());
  }

  /** Lists the IDs and names for which no pool was shown since the start. */
  #listUnknown({ coverage }: Shown): string[] {
    const names = new Set([...coverage.values()].map(({ name }) => name));
    return [...(this.#wanted ?? [])].filter((one) => !coverage.has(one) && !names.has(one));
  }

  /**
   * Whether a pool is ours. A name counts only if the pool was shown since the start, because before that it is not
   * known.
   */
  #owns(poolId: string, known: Shown): boolean {
    if (this.#wanted === undefined || this.#wanted.has(poolId)) return true;
    const name = this.#findName(poolId, known);
    return name !== undefined && this.#wanted.has(name);
  }

  #findName(poolId: string, { coverage }: Shown): string | undefined {
    return coverage.get(poolId)?.name ?? this.#lastNames.get(poolId);
  }
}

function toNamed(reason: string): Coverage {
  return { complete: false, isOnlyNamed: true, reason };
}

function toForeign(message: string): Presence {
  return { kind: "foreign", message: `${message}: another Landfall manages this Node` };
}

/** Whether a part of the coverage is only an entry of `pools` that was not shown. */
function isUnknownEntry({ isOnlyNamed, reason }: Coverage): boolean {
  return isOnlyNamed === true && reason === NOT_SHOWN;
}

/** What to do about such an entry while its pool may exist. It suggests the pool with the closest name or UUID. */
function toEntryAdvice(entry: string, coverage: Shown["coverage"]): string {
  const closest = suggestPool(entry, coverage);
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
      const advice = toEntryAdvice(entry, pools);
      return { ...finding, message: `${message} Xen Orchestra does not show it: ${why}`, advice };
    }
    const closest = suggestPool(entry, pools);
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

function split(coverage: Shown["coverage"]): [entries: string[], pools: Map<string, Coverage>] {
  const { entries = [], pools = [] } = Object.groupBy(coverage, ([, part]) =>
    isUnknownEntry(part) ? "entries" : "pools",
  );
  return [entries.map(([entry]) => entry), new Map(pools)];
}

/** Names differ by case, too: that is the most common mistake. */
function suggestPool(entry: string, coverage: Shown["coverage"]): string | undefined {
  const pools = [...coverage].filter(([, { isOnlyNamed }]) => !isOnlyNamed);
  const words = pools.flatMap(([id, { name }]) => [...(name === undefined ? [] : [name]), id]);
  const lower = words.map((word) => word.toLowerCase());
  const closest = findClosest(entry.toLowerCase(), lower);
  return closest === undefined ? undefined : words[lower.indexOf(closest)];
}
