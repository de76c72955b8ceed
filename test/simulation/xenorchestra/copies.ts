/**
 * Xen Orchestra while it shows something else than what is true: a copy of a VM, restored or replicated, halted, and
 * with the UUID of the original; or a VM in a form that nobody can read.
 * @module
 */
import type { Collection, XoRecord } from "../../../lib/simulator/xenorchestra/records.ts";
import { XenOrchestraState } from "../../../lib/simulator/xenorchestra/state.ts";

/** The identity stays, the rest has the wrong types. */
const GARBLED = { name_label: 42, power_state: ["?"], memory: "much", addresses: 7, CPUs: null };

/**
 * It knows one object by a UUID, so it shows the copy or the original. Here it shows the copy while the pool of that is
 * there. What is true is the original: {@linkcode XenOrchestraState.all} has it.
 */
export class StateWithCopies extends XenOrchestraState {
  readonly #copies = new Map<string, XoRecord>();
  /** IDs of VMs that are shown in a form that nobody can read. */
  readonly garbled: Set<string> = new Set();

  /** Each copy, whether it shows just now or not, by the UUID of both. */
  get copies(): ReadonlyMap<string, XoRecord> {
    return this.#copies;
  }

  /** Puts a halted copy of a VM into another pool. */
  addCopy(vmId: string, poolId: string): void {
    const original = this.all("vms").get(vmId);
    if (original === undefined) return;
    const place = { $pool: poolId, $poolId: poolId, $container: poolId };
    const off = { power_state: "Halted", addresses: {}, current_operations: {} };
    this.#copies.set(vmId, { ...structuredClone({ ...original }), ...place, ...off, id: vmId });
  }

  /** Deletes the copy of a VM, if there is one. */
  removeCopy(vmId: string): void {
    this.#copies.delete(vmId);
  }

  /** Deletes all copies. */
  removeCopies(): void {
    this.#copies.clear();
  }

  override listShown(collection: Collection): XoRecord[] {
    const shown = super.listShown(collection).map((record) => this.#garble(record));
    if (collection !== "vms" || this.#copies.size === 0) return shown;
    const copies = [...this.#copies.keys()].flatMap((vmId) => this.#findShown(vmId) ?? []);
    const ids = new Set(copies.map(({ id }) => id));
    return [...shown.filter(({ id }) => !ids.has(id)), ...copies];
  }

  override readShown(collection: Collection, id: string): XoRecord | undefined {
    const copy = collection === "vms" ? this.#findShown(id) : undefined;
    const shown = copy ?? super.readShown(collection, id);
    return shown && this.#garble(shown);
  }

  /** No pool holds two VMs with the same UUID. */
  override migratePool(
    vmId: string,
    poolId: string,
    options?: { hostId?: string; gapMs?: number },
  ): void {
    if (this.#copies.get(vmId)?.["$pool"] === poolId) this.removeCopy(vmId);
    super.migratePool(vmId, poolId, options);
  }

  #garble(record: XoRecord): XoRecord {
    return this.garbled.has(record.id) ? { ...record, ...GARBLED } : record;
  }

  #findShown(vmId: string): XoRecord | undefined {
    const copy = this.#copies.get(vmId);
    if (copy === undefined) return undefined;
    // The control domain of the master is there as long as the VMs of the pool are.
    const masterId = super.read("pools", String(copy["$pool"]))?.["master"];
    const dom0 = super.read("hosts", String(masterId))?.["controlDomain"];
    return super.read("vm-controllers", String(dom0)) && copy;
  }
}
