/**
 * Remembers where this process last saw each VM running, and when it last saw it migrating.
 *
 * If Xen Orchestra shows a VM as halted, this proves that it is off only if it is the VM that ran: not a copy in
 * another pool, and not a VM whose host is gone.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import type { Instance } from "../../../cloud/instance.ts";
import { remember } from "../../../core/remember.ts";

/** The place where a VM ran. */
export interface Run {
  readonly poolId: string;
  readonly hostId: string | undefined;
}

/** How long after a migration a halted VM may be a remainder of the migration. */
const MIGRATION_DOUBT_MS = 600_000;

/** A list of VMs. */
interface Listed {
  readonly instances: Inventory["instances"];
  /** IDs of the VMs that may belong to Nodes. */
  readonly lookedFor: ReadonlySet<string>;
}

const NOTHING: Listed = { instances: new Map(), lookedFor: new Set() };

/**
 * Remembers the VMs of Nodes. Only memory: no clock. The last list is in memory anyway, so only VMs that stopped since
 * then need more memory, up to a maximum. It forgets a VM after two lists in a row that no Node of the VM asked for.
 * It records nothing before {@linkcode follow}, so it costs nothing if no controller asks.
 */
export class LastRuns {
  readonly #sizeMax: number;
  #isFollowed = false;
  #listed: Listed = NOTHING;
  /** VMs that the last list does not show running, and VMs that single reads showed since. */
  readonly #apart = new Map<string, Run>();
  /** Time of the last sign of a migration in monotonic milliseconds, by VM. */
  readonly #migratedMs = new Map<string, number>();

  /** @param sizeMax Maximum number of VMs to remember */
  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  /** Remembers what is recorded from now on. */
  follow(): void {
    this.#isFollowed = true;
  }

  /** Finds the place where a VM last ran; `undefined` if this process never saw it running. */
  find(vmId: string): Run | undefined {
    return this.#apart.get(vmId) ?? toRun(this.#listed.instances.get(vmId));
  }

  /** Whether a VM was migrating in the last ten minutes. @param nowMs Monotonic milliseconds */
  wasMigrated(vmId: string, nowMs: number): boolean {
    const atMs = this.#migratedMs.get(vmId);
    return atMs !== undefined && nowMs - atMs < MIGRATION_DOUBT_MS;
  }

  /** Records a list. */
  noteList(listed: Listed): void {
    if (!this.#isFollowed) return;
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

  /** Records a VM from a single read. */
  noteRead(instance: Instance): void {
    if (!this.#isFollowed) return;
    const run = toRun(instance);
    if (run) this.#note(instance.id, run);
  }

  /** Records VMs that were shown migrating. */
  noteMigrating(vmIds: Iterable<string>, atMs: number): void {
    if (!this.#isFollowed) return;
    for (const id of vmIds) remember(this.#migratedMs, id, atMs, this.#sizeMax);
    // The oldest come first.
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
