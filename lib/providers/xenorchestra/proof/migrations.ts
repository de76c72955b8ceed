/**
 * Remembers which VMs were migrating when they were last shown.
 *
 * While a VM moves to another pool, neither pool may show it for a time, although both answer. This looks exactly as if
 * the VM were deleted.
 * @module
 */
import { remember } from "../../../core/remember.ts";
import type { Vm } from "../wire/schema.ts";

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
