/**
 * What Landfall remembers about one Xen Orchestra, besides the last inventory.
 * @module
 */
import { type Inventory, LastSeen } from "../../cloud/inventory/inventory.ts";
import type { Instance } from "../../cloud/instance.ts";
import { remember } from "../../core/maps.ts";
import { formatDuration } from "../../core/text/values.ts";
import type { Vm } from "./client.ts";
import { PoolHistory } from "./pools.ts";
import type { OwnChanges } from "./machines/wire/own_changes.ts";

/** Maximum number of VMs in each of these maps. Beyond it, it forgets the one not recorded for the longest time. */
const VMS_MAX = 10_000;

function rememberVm<V>(map: Map<string, V>, id: string, value: V): void {
  remember(map, id, value, VMS_MAX);
}

/**
 * The memory of a provider. It protects Nodes, because it knows what the server should show. So it is handed over after
 * a change of settings, unless they name another Xen Orchestra.
 */
export class Memory {
  readonly #noSuchVm = new Map<string, true>();
  readonly migrations: Migrations = new Migrations();
  readonly lastSeen: LastSeen = new LastSeen(VMS_MAX, ({ region }) => region);
  readonly runs: LastRuns = new LastRuns();
  readonly stays: Stays = new Stays();
  readonly pools: PoolHistory = new PoolHistory();
  /** Absent before a controller asks for machines: their code is loaded late. */
  ownChanges: OwnChanges | undefined;

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
    this.runs.noteList({ instances, lookedFor });
    this.stays.note({ ...inventory, migrating: this.migrations.shown, answeredMs });
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
    if (isNoVm) rememberVm(this.#noSuchVm, systemUuid, true);
    else this.#noSuchVm.delete(systemUuid);
  }
}

/** XAPI's names for a migration to another pool and within a pool. */
const MIGRATIONS: ReadonlySet<unknown> = new Set(["migrate_send", "pool_migrate"]);

/** How long a VM that vanished or halted during a migration does not count as missing or off. */
const DOUBT_MS = 600_000;

/**
 * Remembers migrating VMs up to a maximum. Beyond it, the VM not seen for the longest time is forgotten. Only memory:
 * no clock.
 */
class Migrations {
  /** Time when each VM was last shown migrating, unless it was shown without a migration since. */
  readonly #seenMs = new Map<string, number>();
  /** The same, for VMs that were shown without a migration since, too. The oldest come first. */
  readonly #everSeenMs = new Map<string, number>();
  /** VMs that the last list showed migrating. */
  #shown: ReadonlySet<string> = new Set();
  /** VMs that single reads showed migrating since then. */
  readonly #since = new Set<string>();

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
    for (const id of ids) {
      rememberVm(this.#seenMs, id, atMs);
      rememberVm(this.#everSeenMs, id, atMs);
    }
    for (const id of this.#everSeenMs.keys()) {
      if (this.wasMigrated(id, atMs)) break;
      this.#everSeenMs.delete(id);
    }
  }

  /** Whether a VM that a list lacks may be migrating. @param atMs Time of the list, in monotonic milliseconds */
  isMoving(vmId: string, atMs: number): boolean {
    return isRecent(this.#seenMs.get(vmId), atMs);
  }

  /** Whether a VM was migrating in the ten minutes before `nowMs` (monotonic). Later lists do not change that. */
  wasMigrated(vmId: string, nowMs: number): boolean {
    return isRecent(this.#everSeenMs.get(vmId), nowMs);
  }
}

/** Whether a time in monotonic milliseconds is so recent that a migration may still explain what is shown. */
function isRecent(seenMs: number | undefined, nowMs: number): boolean {
  return seenMs !== undefined && nowMs - seenMs < DOUBT_MS;
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
    rememberVm(this.#vmSinceMs, vmId, atMs);
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
      const seriesMs = Math.max(this.#sinceMs, this.#poolSinceMs.get(poolId) ?? Infinity);
      const ofVmMs = this.#vmSinceMs.get(vmId) ?? -Infinity;
      // If the series is broken, for example by the loss of the pool, it does not show what happened in between.
      const sinceMs = seriesMs <= untilMs ? Math.max(seriesMs, ofVmMs) : untilMs;
      // Includes VMs that a single read showed since then migrating or in another pool.
      const isMoving = before.migrating.has(vmId) || ofVmMs > untilMs;
      rememberVm(this.#ended, vmId, { sinceMs, untilMs, isMoving });
    }
  }
}

/** The VMs of an inventory. */
type ListedVms = Required<Pick<Inventory, "instances" | "lookedFor">>;

/** The place where a VM ran. */
export interface Run {
  readonly poolId: string;
  readonly hostId: string | undefined;
}

/**
 * Remembers where this process last saw each VM of a Node running. If Xen Orchestra shows a VM as halted, that proves
 * that it is off only if it is the VM that ran: not a copy in another pool, and not a VM whose host is gone.
 *
 * Only memory: no clock. The last list is in memory anyway, so only VMs that stopped since then need more memory. It
 * forgets a VM after two lists in a row that no Node of the VM asked for.
 * It records nothing before {@linkcode follow}, so it costs nothing if no controller asks.
 */
class LastRuns {
  #isFollowed = false;
  #listed: ListedVms = { instances: new Map(), lookedFor: new Set() };
  /** VMs that the last list does not show running, and VMs that single reads showed since. */
  readonly #apart = new Map<string, Run>();

  /** Remembers what is recorded from now on. */
  follow(): void {
    this.#isFollowed = true;
  }

  /** Finds the place where a VM last ran; `undefined` if this process never saw it running. */
  find(vmId: string): Run | undefined {
    return this.#apart.get(vmId) ?? toRun(this.#listed.instances.get(vmId));
  }

  /** Records a list. */
  noteList(listed: ListedVms): void {
    if (!this.#isFollowed) return;
    const { instances, lookedFor } = listed;
    const before = this.#listed.lookedFor;
    for (const ids of [lookedFor, before]) {
      for (const id of ids) {
        const run = toRun(instances.get(id)) ? undefined : this.find(id);
        if (run) rememberVm(this.#apart, id, run);
      }
    }
    for (const id of this.#apart.keys()) {
      const isAskedFor = lookedFor.has(id) || before.has(id);
      if (!isAskedFor || toRun(instances.get(id))) this.#apart.delete(id);
    }
    this.#listed = listed;
  }

  /** Records a VM from a single read. */
  noteRead(instance: Instance): void {
    if (!this.#isFollowed) return;
    const run = toRun(instance);
    if (run) rememberVm(this.#apart, instance.id, run);
  }
}

function toRun(instance: Instance | undefined): Run | undefined {
  if (instance?.state !== "running" || instance.region === undefined) return undefined;
  return { poolId: instance.region, hostId: instance.details["hostId"] };
}
