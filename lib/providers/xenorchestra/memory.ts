/**
 * What Landfall remembers about one Xen Orchestra, besides the last inventory.
 * @module
 */
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import { ConnectionHistory } from "./proof/connection_history.ts";
import { LastRuns } from "./proof/last_runs.ts";
import { LastSeen } from "../../cloud/inventory/last_seen.ts";
import { Migrations } from "./proof/migrations.ts";
import { remember } from "../../core/remember.ts";
import { Stays } from "./proof/stays.ts";
import type { OwnChanges } from "./machines/wire/own_changes.ts";

const KNOWN_POOLS_MAX = 256;
const VMS_MAX = 10_000;

/** A pool that was removed from Xen Orchestra. */
export interface RemovedPool {
  readonly poolId: string;
  readonly name: string;
  /** When Landfall first knew that its connection is gone, in monotonic milliseconds. */
  readonly goneMs: number;
}

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
