/**
 * Where this process last saw each VM run, and when it last saw it migrating.
 *
 * A VM that is shown as halted is off only if it is the VM that ran: not a copy in another pool, and not a VM whose
 * host is gone, because then its stop is not proven.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import type { Instance } from "../../../cloud/provider.ts";
import { remember } from "../../../core/remember.ts";

/** Where a VM ran. */
export interface Run {
  readonly poolId: string;
  readonly hostId: string | undefined;
}

/** For how long after a migration a VM that is shown as halted may be a remainder of the migration. */
const MIGRATION_DOUBT_MS = 600_000;

const NO_INSTANCES: Inventory["instances"] = new Map();

/**
 * Remembers VMs. Only memory: no clock. The last list is kept anyway, so only VMs that stopped since then use memory,
 * up to a maximum.
 */
export class LastRuns {
  readonly #sizeMax: number;
  #listed = NO_INSTANCES;
  /** For the VMs that the last list does not show running, and those that single reads showed since. */
  readonly #apart = new Map<string, Run>();
  /** In monotonic milliseconds. */
  readonly #migratedMs = new Map<string, number>();

  /** @param sizeMax Most VMs to remember */
  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  /** Where a VM last ran; `undefined` if this process never saw it run. */
  find(vmId: string): Run | undefined {
    return this.#apart.get(vmId) ?? toRun(this.#listed.get(vmId));
  }

  /** Whether a VM was migrating not long ago, in monotonic milliseconds. */
  wasMigrated(vmId: string, nowMs: number): boolean {
    const atMs = this.#migratedMs.get(vmId);
    return atMs !== undefined && nowMs - atMs < MIGRATION_DOUBT_MS;
  }

  /** Records a list. */
  noteList(instances: Inventory["instances"]): void {
    const isSame = instances === this.#listed;
    for (const [id, before] of isSame ? NO_INSTANCES : this.#listed) {
      const run = toRun(before);
      // Single reads since then are newer.
      if (run && !this.#apart.has(id) && !toRun(instances.get(id))) this.#note(id, run);
    }
    for (const id of this.#apart.keys()) if (toRun(instances.get(id))) this.#apart.delete(id);
    this.#listed = instances;
  }

  /** Records a VM that was read by itself. */
  noteRead(instance: Instance): void {
    const run = toRun(instance);
    if (run) this.#note(instance.id, run);
  }

  /** Records VMs that were shown migrating. */
  noteMigrating(vmIds: Iterable<string>, atMs: number): void {
    for (const id of vmIds) remember(this.#migratedMs, id, atMs, this.#sizeMax);
  }

  #note(vmId: string, run: Run): void {
    remember(this.#apart, vmId, run, this.#sizeMax);
  }
}

function toRun(instance: Instance | undefined): Run | undefined {
  if (instance?.state !== "running" || instance.region === undefined) return undefined;
  return { poolId: instance.region, hostId: instance.details["hostId"] };
}
