/**
 * Where this process saw each VM run last, and when it last saw it being migrated.
 *
 * A VM that is shown as halted is off only if it is the VM that ran: not a copy in another pool, and not a VM whose
 * host is gone, because then no server saw it stop.
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

/** For how long after a migration a VM that is shown as halted may be what the migration left behind. */
const MIGRATION_DOUBT_MS = 600_000;

const NO_INSTANCES: Inventory["instances"] = new Map();

/**
 * Remembers VMs. Only memory: no clock. Of a VM that runs, the last list is kept anyway; only those that stopped since
 * cost memory, at most so many.
 */
export class LastRuns {
  readonly #sizeMax: number;
  #listed = NO_INSTANCES;
  /** Of the VMs that the last list does not show running, and of those that were read by themselves since. */
  readonly #apart = new Map<string, Run>();
  /** In monotonic milliseconds. */
  readonly #migratedMs = new Map<string, number>();

  /** @param sizeMax Most VMs to remember */
  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  /** Where a VM ran last; `undefined` if this process never saw it run. */
  find(vmId: string): Run | undefined {
    return this.#apart.get(vmId) ?? toRun(this.#listed.get(vmId));
  }

  /** Whether a VM was being migrated not long ago, in monotonic milliseconds. */
  wasMigrated(vmId: string, nowMs: number): boolean {
    const atMs = this.#migratedMs.get(vmId);
    return atMs !== undefined && nowMs - atMs < MIGRATION_DOUBT_MS;
  }

  /** Takes in a list. */
  noteList(instances: Inventory["instances"]): void {
    if (instances === this.#listed) return;
    for (const [id, before] of this.#listed) {
      const run = toRun(before);
      // What was read by itself since is newer.
      if (run && !this.#apart.has(id) && !toRun(instances.get(id))) this.#note(id, run);
    }
    for (const id of this.#apart.keys()) if (toRun(instances.get(id))) this.#apart.delete(id);
    this.#listed = instances;
  }

  /** Takes in a VM that was read by itself. */
  noteRead(instance: Instance): void {
    const run = toRun(instance);
    if (run) this.#note(instance.id, run);
  }

  /** Takes in VMs that were shown being migrated. */
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
