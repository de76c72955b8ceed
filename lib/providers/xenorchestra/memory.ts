/**
 * What is remembered of one Xen Orchestra from inventory to inventory, beside the last one itself.
 * @module
 */
import { LastSeen } from "./last_seen.ts";
import { Migrations } from "./migrations.ts";
import { remember } from "../../core/remember.ts";

const KNOWN_POOLS_MAX = 256;
const VMS_MAX = 10_000;

/**
 * The memory of a provider. It keeps Nodes safe: it knows what ought to be shown, so it outlives a change of settings.
 * Of another Xen Orchestra it says nothing.
 */
export class Memory {
  readonly #knownPools = new Map<string, string>();
  readonly #noSuchVm = new Map<string, true>();
  readonly migrations: Migrations = new Migrations(VMS_MAX);
  readonly lastSeen: LastSeen = new LastSeen(VMS_MAX);

  /** Names of all pools ever seen, by ID; the longest unseen goes first. */
  get knownPools(): ReadonlyMap<string, string> {
    return this.#knownPools;
  }

  rememberPool(id: string, name: string): void {
    remember(this.#knownPools, id, name, KNOWN_POOLS_MAX);
  }

  /** Whether Xen Orchestra had no VM of this system UUID, so that the swapped form may count. */
  isNoVm(systemUuid: string): boolean {
    return this.#noSuchVm.has(systemUuid);
  }

  rememberNoVm(systemUuid: string, isNoVm: boolean): void {
    if (isNoVm) remember(this.#noSuchVm, systemUuid, true, VMS_MAX);
    else this.#noSuchVm.delete(systemUuid);
  }
}
