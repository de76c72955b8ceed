/**
 * What every write works with.
 * @module
 */
import type { Clock } from "../../../core/clock.ts";
import type { XenOrchestraState } from "../state.ts";
import type { Collection, XoRecord } from "../records.ts";
import { noSuchObject } from "./errors.ts";
import type { Hypervisor, Operation, ServerLife } from "./hypervisor.ts";
import type { Tasks } from "./tasks.ts";

/** The parts of a Xen Orchestra that can be changed. */
export interface Backend {
  readonly clock: Clock;
  readonly state: XenOrchestraState;
  readonly hypervisor: Hypervisor;
  readonly tasks: Tasks;
  readonly life: ServerLife;
  /** What was written to disks, by their IDs. */
  readonly contents: Map<string, Uint8Array>;
  /**
   * IDs of disks whose machine a rollback destroyed. One that still exists was left, because its own end failed or
   * xo-server died before: nothing says whose it was.
   */
  readonly rolledBack: Set<string>;
}

/** The work of one request, of the process that took it. */
export class Work {
  readonly backend: Backend;
  readonly userId: string;
  readonly life: AbortSignal;

  constructor(backend: Backend, userId: string) {
    this.backend = backend;
    this.userId = userId;
    this.life = backend.life.signal;
  }

  get state(): XenOrchestraState {
    return this.backend.state;
  }

  /** As {@linkcode Hypervisor.call}, with one effect. */
  call<T>(operation: Operation, effect: () => T): Promise<T> {
    return this.backend.hypervisor.call(operation, [effect], this.life);
  }

  /** An object that clients see now. @throws {XoError} 404 */
  find(collection: Collection, id: string | undefined, type?: string): XoRecord {
    const found =
      id === undefined || this.#isLate(collection, id)
        ? undefined
        : this.state.read(collection, id);
    if (found === undefined) throw noSuchObject(id, type);
    return found;
  }

  /** Whether it is a disk that no read shows yet: only `POST /vdis` answers before its object is known. */
  #isLate(collection: Collection, id: string): boolean {
    return collection === "vdis" && this.state.readShown(collection, id) === undefined;
  }
}

/** The method of a hypervisor for an object. */
export function toOperation(
  method: string,
  record: XoRecord,
  options: { readonly isAsync?: boolean; readonly vm?: XoRecord } = {},
): Operation {
  const { isAsync = false, vm = record } = options;
  const name = String(vm["name_label"]);
  return { method, poolId: String(record["$pool"]), id: record.id, name, isAsync };
}

/** A list of texts in a record, to read. */
export function readIds(record: XoRecord, field: string): readonly string[] {
  const value = record[field];
  return Array.isArray(value) ? value.map(String) : [];
}
