/**
 * Which VMs were migrating when they were last shown.
 *
 * While a VM moves from one pool to another, neither pool may show it for a time, although both are well. This looks
 * exactly as if the VM was deleted.
 * @module
 */
import { remember } from "../../../core/remember.ts";
import type { Vm } from "../wire/schema.ts";

/** Names of XAPI: to another pool, and within one. */
const MIGRATIONS: ReadonlySet<unknown> = new Set(["migrate_send", "pool_migrate"]);

/** For how long a VM that vanished while it was migrating does not count as missing. */
const DOUBT_MS = 600_000;

/** Remembers VMs by what the lists show, at most so many; the longest unseen goes first. Only memory: no clock. */
export class Migrations {
  readonly #sizeMax: number;
  /** When each was last shown being migrated. */
  readonly #seenMs = new Map<string, number>();
  /** Those that the last list showed so. */
  #shown: ReadonlySet<string> = new Set();
  /** Those that single reads showed so since. */
  readonly #since = new Set<string>();

  /** @param sizeMax Most VMs to remember */
  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  /** IDs of the VMs that the last list showed being migrated. */
  get shown(): ReadonlySet<string> {
    return this.#shown;
  }

  /**
   * Records a list. A VM that is shown without being migrated is forgotten.
   *
   * @param atMs When the list was asked for, in monotonic milliseconds
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

  /** Records some VMs, of all that a list would show. */
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
   * Records that a list shows the same as the last one, even if single reads showed something else in between.
   *
   * @param listed Whether that list shows a VM, by its ID
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

  /** Whether a VM that a list of this time lacks may be on its way, in monotonic milliseconds. */
  isMoving(vmId: string, atMs: number): boolean {
    const seenMs = this.#seenMs.get(vmId);
    return seenMs !== undefined && atMs - seenMs < DOUBT_MS;
  }
}

function isMigrating({ current_operations }: Vm): boolean {
  return Object.values(current_operations ?? {}).some((operation) => MIGRATIONS.has(operation));
}
