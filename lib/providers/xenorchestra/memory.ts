/**
 * What Landfall remembers about one Xen Orchestra, besides the last inventory.
 * @module
 */
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import { LastSeen } from "../../cloud/inventory/last_seen.ts";
import { remember } from "../../core/remember.ts";
import { formatDuration } from "../../core/text/duration.ts";
import type { Vm } from "./client.ts";
import { ConnectionHistory, type RemovedPool } from "./connections.ts";
import type { OwnChanges } from "./machines/wire/own_changes.ts";
import { LastRuns } from "./power.ts";

const KNOWN_POOLS_MAX = 256;
const VMS_MAX = 10_000;

/**
 * The memory of a provider. It protects Nodes, because it knows what the server should show. So it is handed over after
 * a change of settings, unless they name another Xen Orchestra.
 */
export class Memory {
  readonly #knownPools = new Map<string, string>();
  readonly #noSuchVm = new Map<string, true>();
  readonly migrations: Migrations = new Migrations(VMS_MAX);
  readonly lastSeen: LastSeen = new LastSeen(VMS_MAX, ({ region }) => region);
  readonly runs: LastRuns = new LastRuns(VMS_MAX);
  readonly stays: Stays = new Stays(VMS_MAX);
  readonly connections: ConnectionHistory = new ConnectionHistory();
  /** Absent before a controller asks for machines: their code is loaded late. */
  ownChanges: OwnChanges | undefined;

  /**
   * Last known names of all pools that were ever shown, by ID. Beyond the limit it forgets the pool not shown for the
   * longest time.
   */
  get knownPools(): ReadonlyMap<string, string> {
    return this.#knownPools;
  }

  rememberPool(id: string, name: string): void {
    remember(this.#knownPools, id, name, KNOWN_POOLS_MAX);
  }

  /** Pools that were removed from Xen Orchestra for good, as far as Landfall knows now. */
  get removedPools(): readonly RemovedPool[] {
    return this.connections.removedPools.map((poolId) => {
      const name = this.#knownPools.get(poolId) ?? poolId;
      return { poolId, name, goneMs: this.connections.findGoneMs(poolId) ?? Infinity };
    });
  }

  /**
   * Records an inventory.
   *
   * @param options.copies VMs that may be copies of the Nodes' own VMs. They do not count as seen
   * @param options.answeredMs Time of the last answer to it, in monotonic milliseconds
   */
  noteInventory(
    inventory: Inventory,
    { copies, answeredMs }: { readonly copies: ReadonlySet<string>; readonly answeredMs: number },
  ): void {
    const { instances, lookedFor = new Set() } = inventory;
    this.lastSeen.noteList({ instances, lookedFor, copies });
    const { shown: migrating } = this.migrations;
    this.runs.noteList({ instances, lookedFor });
    this.runs.noteMigrating(migrating, inventory.observedAtMs);
    this.stays.note({ ...inventory, migrating, answeredMs });
  }

  /** Records the pool where a single read found a VM. */
  noteRead(vmId: string, poolId: string): void {
    this.lastSeen.note(vmId, poolId);
    this.stays.forget(vmId);
  }

  /** Whether Xen Orchestra had no VM with this system UUID. Then the byte-swapped form may count. */
  isNoVm(systemUuid: string): boolean {
    return this.#noSuchVm.has(systemUuid);
  }

  rememberNoVm(systemUuid: string, isNoVm: boolean): void {
    if (isNoVm) remember(this.#noSuchVm, systemUuid, true, VMS_MAX);
    else this.#noSuchVm.delete(systemUuid);
  }
}

/** XAPI's names for a migration to another pool and within a pool. */
const MIGRATIONS: ReadonlySet<unknown> = new Set(["migrate_send", "pool_migrate"]);

/** How long a VM that vanished during a migration does not count as missing. */
const DOUBT_MS = 600_000;

/**
 * Remembers migrating VMs up to a maximum. Beyond it, the VM not seen for the longest time is forgotten. Only memory:
 * no clock.
 */
export class Migrations {
  readonly #sizeMax: number;
  /** Time when each VM was last shown migrating. */
  readonly #seenMs = new Map<string, number>();
  /** VMs that the last list showed migrating. */
  #shown: ReadonlySet<string> = new Set();
  /** VMs that single reads showed migrating since then. */
  readonly #since = new Set<string>();

  /** @param sizeMax Maximum number of VMs to remember */
  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  /** IDs of the VMs that the last list showed migrating. */
  get shown(): ReadonlySet<string> {
    return this.#shown;
  }

  /**
   * Records a list. Forgets VMs that it shows without a migration.
   *
   * @param atMs Time of the request for the list, in monotonic milliseconds
   */
  note(vms: readonly Vm[], atMs: number): void {
    this.#since.clear();
    const shown = new Set<string>();
    for (const vm of vms) {
      if (isMigrating(vm)) shown.add(vm.id);
      else this.#seenMs.delete(vm.id);
    }
    this.#shown = shown;
    this.#note(shown, atMs);
  }

  /** Records single reads of some VMs. */
  noteSome(vms: readonly Vm[], atMs: number): void {
    for (const vm of vms) {
      if (isMigrating(vm)) this.#since.add(vm.id);
      else {
        this.#since.delete(vm.id);
        this.#seenMs.delete(vm.id);
      }
    }
    this.#note(
      vms.filter(({ id }) => this.#since.has(id)).map(({ id }) => id),
      atMs,
    );
  }

  /**
   * Records that a list is the same as the last one, even if single reads showed something else in between.
   *
   * @param listed The VMs of that list
   */
  noteUnchanged(atMs: number, listed: { has(id: string): boolean }): void {
    for (const id of this.#since) {
      if (listed.has(id) && !this.#shown.has(id)) this.#seenMs.delete(id);
    }
    this.#since.clear();
    this.#note(this.#shown, atMs);
  }

  #note(ids: Iterable<string>, atMs: number): void {
    for (const id of ids) remember(this.#seenMs, id, atMs, this.#sizeMax);
  }

  /** Whether a VM that a list lacks may be migrating. @param atMs Time of the list, in monotonic milliseconds */
  isMoving(vmId: string, atMs: number): boolean {
    const seenMs = this.#seenMs.get(vmId);
    return seenMs !== undefined && atMs - seenMs < DOUBT_MS;
  }
}

function isMigrating({ current_operations }: Vm): boolean {
  return Object.values(current_operations ?? {}).some((operation) => MIGRATIONS.has(operation));
}

/**
 * Minimum length of a stay, and of its part after another pool was last shown. It is more than twice the 66 s by which
 * Xen Orchestra's cache may lag.
 */
export const STAY_MS = 150_000;

const POOLS_MAX = 256;

/** An inventory, with more about its VMs. */
interface Listed extends Inventory {
  /** IDs of VMs that it shows migrating. */
  readonly migrating: ReadonlySet<string>;
  /** Time of the answer, in monotonic milliseconds. */
  readonly answeredMs: number;
}

/** A single read of a VM. */
interface ReadVm {
  readonly poolId: string;
  /** Whether it is migrating. */
  readonly isMoving: boolean;
  /** Time of the request, in monotonic milliseconds. */
  readonly atMs: number;
}

/** The last period in which every inventory showed a VM, now missing, in its pool. Monotonic milliseconds. */
export interface Stay {
  /** Time of the request for the first inventory of the unbroken series that showed it there and not migrating. */
  readonly sinceMs: number;
  /** Time of the request for the last inventory of the series. */
  readonly untilMs: number;
  /** Whether it was migrating or in another pool when it was last shown. */
  readonly isMoving: boolean;
}

/**
 * Says why a VM may have moved to a lost pool; `undefined` if it stayed in its own pool long enough after the loss.
 *
 * @param shownMs Time until which the other pool may have been visible, in monotonic milliseconds
 * @returns A clause for operators, without a full stop
 */
export function explainPossibleMove(stay: Stay | undefined, shownMs: number): string | undefined {
  if (stay === undefined) return "Landfall did not see when it left its own pool";
  if (stay.isMoving) return "it was migrating, or in another pool, when it was last shown";
  const isLong = stay.untilMs - stay.sinceMs >= STAY_MS;
  if (isLong && stay.untilMs - shownMs >= STAY_MS) return undefined;
  const span = formatDuration(STAY_MS);
  return `it was not in its own pool for ${span} without a break, and until ${span} after the other pool was lost`;
}

/**
 * Remembers the VMs of Nodes. VMs that stay in their pool need no memory. It keeps VMs that the last inventory lacks,
 * up to a maximum and until their Nodes are gone. It keeps VMs that appeared, moved or were migrating for 150 s.
 */
export class Stays {
  readonly #sizeMax: number;
  #last: Listed | undefined;
  /** Start of the series of inventories without a failure. */
  #sinceMs = Infinity;
  /** By pool, the time of the request for the first of its complete inventories in a row. */
  readonly #poolSinceMs = new Map<string, number>();
  /** By VM, the start of its series if later than that of its pool. The oldest come first. */
  readonly #vmSinceMs = new Map<string, number>();
  readonly #ended = new Map<string, Stay>();
  /** By pool, the time of the last answer that showed it in full. */
  readonly #shownMs = new Map<string, number>();
  #firstMs: number | undefined;

  /** @param sizeMax Maximum number of VMs to remember */
  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  /** Finds the last stay of a VM that the newest inventory lacks. */
  find(vmId: string): Stay | undefined {
    return this.#ended.get(vmId);
  }

  /** Time of the answer to the first inventory, in monotonic milliseconds; `Infinity` before it. */
  get firstMs(): number {
    return this.#firstMs ?? Infinity;
  }

  /**
   * Finds the time of the last answer that showed a pool in full, in monotonic milliseconds; `undefined` without one.
   */
  findShownMs(poolId: string): number | undefined {
    return this.#shownMs.get(poolId);
  }

  /** Records an inventory. */
  note(listed: Listed): void {
    const { observedAtMs, answeredMs, coverage, instances } = listed;
    this.#firstMs ??= answeredMs;
    this.#sinceMs = Math.min(this.#sinceMs, observedAtMs);
    for (const [poolId, { complete }] of coverage) {
      if (!complete) this.#poolSinceMs.delete(poolId);
      else {
        if (!this.#poolSinceMs.has(poolId)) this.#poolSinceMs.set(poolId, observedAtMs);
        remember(this.#shownMs, poolId, answeredMs, POOLS_MAX);
      }
    }
    if (this.#last !== undefined && instances !== this.#last.instances) {
      this.#compare(this.#last, listed);
    }
    for (const vmId of this.#ended.keys()) {
      if (!listed.lookedFor?.has(vmId)) this.#ended.delete(vmId);
    }
    for (const vmId of listed.migrating) this.#restart(vmId, observedAtMs);
    for (const [vmId, sinceMs] of this.#vmSinceMs) {
      if (observedAtMs - sinceMs <= STAY_MS) break;
      this.#vmSinceMs.delete(vmId);
    }
    this.#last = listed;
  }

  /** Records a failed inventory. Every series begins again with the next one. */
  noteFailure(): void {
    this.#sinceMs = Infinity;
  }

  /** Records a single read of a VM, which may be migrating, in another pool, or missing from the list. */
  noteRead(vmId: string, { poolId, isMoving, atMs }: ReadVm): void {
    this.forget(vmId);
    const isKnown = this.#last?.instances.get(vmId)?.region === poolId;
    if (!isKnown || isMoving) this.#restart(vmId, atMs);
  }

  /** Records that a VM exists that the last list lacks. */
  forget(vmId: string): void {
    this.#ended.delete(vmId);
  }

  #restart(vmId: string, atMs: number): void {
    remember(this.#vmSinceMs, vmId, atMs, this.#sizeMax);
  }

  #compare(before: Listed, after: Listed): void {
    for (const [vmId, { region }] of after.instances) {
      this.#ended.delete(vmId);
      if (before.instances.get(vmId)?.region !== region) this.#restart(vmId, after.observedAtMs);
    }
    for (const [vmId, { region: poolId }] of before.instances) {
      const isGone = !after.instances.has(vmId) && after.lookedFor?.has(vmId);
      if (!isGone || poolId === undefined) continue;
      const untilMs = before.observedAtMs;
      // If the series is broken, for example by the loss of the pool, it does not show what happened in between.
      const isWhole = this.#sinceMs <= untilMs && this.#isShown(poolId, untilMs);
      const sinceMs = isWhole ? this.#findSince(vmId, poolId) : untilMs;
      // Includes VMs that a single read showed since then migrating or in another pool.
      const isMoving =
        before.migrating.has(vmId) || (this.#vmSinceMs.get(vmId) ?? -Infinity) > untilMs;
      remember(this.#ended, vmId, { sinceMs, untilMs, isMoving }, this.#sizeMax);
    }
  }

  #isShown(poolId: string, untilMs: number): boolean {
    return (this.#poolSinceMs.get(poolId) ?? Infinity) <= untilMs;
  }

  #findSince(vmId: string, poolId: string): number {
    const ofPool = this.#poolSinceMs.get(poolId) ?? Infinity;
    return Math.max(this.#sinceMs, ofPool, this.#vmSinceMs.get(vmId) ?? -Infinity);
  }
}
