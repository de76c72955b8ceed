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

/** A list of VMs. */
interface Listed {
  readonly instances: Inventory["instances"];
  /** The IDs that Nodes may be known by. */
  readonly lookedFor: ReadonlySet<string>;
}

const NOTHING: Listed = { instances: new Map(), lookedFor: new Set() };

/**
 * Remembers the VMs of Nodes. Only memory: no clock. The last list is kept anyway, so only VMs that stopped since then
 * use memory, up to a maximum, and until two lists in a row found no Node that may be theirs.
 */
export class LastRuns {
  readonly #sizeMax: number;
  #listed: Listed = NOTHING;
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
    return this.#apart.get(vmId) ?? toRun(this.#listed.instances.get(vmId));
  }

  /** Whether a VM was migrating not long ago, in monotonic milliseconds. */
  wasMigrated(vmId: string, nowMs: number): boolean {
    const atMs = this.#migratedMs.get(vmId);
    return atMs !== undefined && nowMs - atMs < MIGRATION_DOUBT_MS;
  }

  /** Records a list. */
  noteList(listed: Listed): void {
    const { instances, lookedFor } = listed;
    const before = this.#listed.lookedFor;
    for (const ids of [lookedFor, before]) {
      for (const id of ids) {
        const run = toRun(instances.get(id)) ? undefined : this.find(id);
        if (run) this.#note(id, run);
      }
    }
    for (const id of this.#apart.keys()) {
      const isAskedFor = lookedFor.has(id) || before.has(id);
      if (!isAskedFor || toRun(instances.get(id))) this.#apart.delete(id);
    }
    this.#listed = listed;
  }

  /** Records a VM that was read by itself. */
  noteRead(instance: Instance): void {
    const run = toRun(instance);
    if (run) this.#note(instance.id, run);
  }

  /** Records VMs that were shown migrating. */
  noteMigrating(vmIds: Iterable<string>, atMs: number): void {
    for (const id of vmIds) remember(this.#migratedMs, id, atMs, this.#sizeMax);
    // The oldest stand first.
    for (const id of this.#migratedMs.keys()) {
      if (this.wasMigrated(id, atMs)) break;
      this.#migratedMs.delete(id);
    }
  }

  #note(vmId: string, run: Run): void {
    remember(this.#apart, vmId, run, this.#sizeMax);
  }
}

function toRun(instance: Instance | undefined): Run | undefined {
  if (instance?.state !== "running" || instance.region === undefined) return undefined;
  return { poolId: instance.region, hostId: instance.details["hostId"] };
}
