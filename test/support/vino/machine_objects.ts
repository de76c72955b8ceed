/**
 * VinoMachines on an API server in memory, with a cache that a test may hold back.
 * @module
 */
import type { Vino } from "../../../lib/controllers/vino/resource/vino.ts";
import {
  toEntry,
  VINO_MACHINES,
  type MachineEntry,
  type VinoMachine,
} from "../../../lib/controllers/vino/resource/vino_machine.ts";
import { VinoMachines } from "../../../lib/controllers/vino/machines/vino_machines.ts";
import type { Clock } from "../../../lib/core/clock.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { Store, type StoreReader } from "../../../lib/kube/cache/store.ts";
import type { Kind, KubeObject, ObjectPath } from "../../../lib/kube/kinds/resource.ts";
import { ManualClock } from "../manual_clock.ts";

/** What an Event says. */
type ToldEvent = { readonly reason: string; readonly message: string };

/** Changes a field of an object, or takes it away. */
type Patched = Readonly<Record<string, unknown>> | undefined;

/** See the module. */
export class MachineObjects {
  /** What the API server has, by name. */
  readonly server: Map<string, VinoMachine> = new Map();
  /** What was written: `create edge-worker-0`, `status edge-worker-0`. */
  readonly writes: string[] = [];
  readonly reads: string[] = [];
  /** Events on objects, with the name of the object. */
  readonly events: string[] = [];
  /** What the API server has by the name of the Vino. */
  vino: Vino | undefined;
  /** Called before each write. */
  onWrite: (what: string) => Promise<void> | void = () => undefined;
  #store = new Store<VinoMachine>({ resource: VINO_MACHINES, log: silentLogger });
  #version = 1;

  constructor(objects: readonly VinoMachine[] = []) {
    for (const one of objects) this.#put(one);
    this.show();
  }

  /** Begins again with a cache that has all. */
  restart(): void {
    this.#store = new Store<VinoMachine>({ resource: VINO_MACHINES, log: silentLogger });
    this.show();
  }

  /** Writes an object as another program does. The cache follows. */
  set(object: VinoMachine): VinoMachine {
    const written = this.#put(object);
    this.show();
    return written;
  }

  /** The same behind the cache. */
  setUnseen(object: VinoMachine): void {
    this.#put(object);
  }

  /** Shows the cache what the server has. */
  show(): void {
    this.#store.replace([...this.server.values()], String(this.#version));
  }

  /** What the objects say, by name. */
  get entries(): MachineEntry[] {
    return [...this.server.values()].flatMap((one) => (one.spec ? [toEntry(one, one.spec)] : []));
  }

  /** Opens them as a process does. */
  open({
    vinoes,
    clock = new ManualClock(),
    record = () => undefined,
  }: {
    readonly vinoes: Pick<StoreReader<Vino>, "get" | "values">;
    readonly clock?: Clock;
    readonly record?: (event: ToldEvent) => void;
  }): VinoMachines {
    const client = this as unknown as KubeClient;
    return new VinoMachines({
      client,
      clock,
      events: {
        record: ({ metadata }, { reason, message }) => {
          this.events.push(`${reason} ${metadata.name}: ${message}`);
          record({ reason, message });
        },
      },
      objects: this.#store,
      vinoes,
    });
  }

  /** As a `KubeClient`. */
  async read({ kind }: Kind<VinoMachine>, { name = "" }: ObjectPath): Promise<KubeObject> {
    if (kind !== VINO_MACHINES.kind) {
      if (this.vino === undefined) throw new KubeError("notFound", "404");
      return this.vino;
    }
    this.reads.push(name);
    return this.#learn(this.#get(name));
  }

  /** As a `KubeClient`. */
  async create(_kind: object, _path: ObjectPath, body: VinoMachine): Promise<VinoMachine> {
    const { name } = body.metadata;
    await this.#note(`create ${name}`);
    if (this.server.has(name)) throw new KubeError("alreadyExists", "409");
    return this.#learn(this.#put({ ...body, metadata: { ...body.metadata, uid: `uid-${name}` } }));
  }

  /** As a `KubeClient`. */
  async patch(
    _kind: object,
    { name = "", subresource = "spec" }: ObjectPath,
    { body }: { readonly body: VinoMachine },
  ): Promise<VinoMachine> {
    await this.#note(`${subresource} ${name}`);
    const before = this.#get(name);
    const { resourceVersion, ...metadata } = body.metadata;
    if (resourceVersion !== before.metadata.resourceVersion) {
      throw new KubeError("conflict", "modified");
    }
    const after = this.#put({
      ...before,
      metadata: { ...before.metadata, ...metadata },
      ...(body.spec && { spec: merge(before.spec, body.spec) as VinoMachine["spec"] }),
      ...(body.status && { status: merge(before.status, body.status) as VinoMachine["status"] }),
    } as VinoMachine);
    const { deletionTimestamp, finalizers = [] } = after.metadata;
    if (deletionTimestamp !== undefined && finalizers.length === 0) {
      this.server.delete(name);
      this.show();
      return after;
    }
    return this.#learn(after);
  }

  /** As a `KubeClient`. */
  async delete(_kind: object, { name = "" }: ObjectPath): Promise<void> {
    await this.#note(`delete ${name}`);
    this.#get(name);
    this.server.delete(name);
    this.show();
  }

  async #note(what: string): Promise<void> {
    await this.onWrite(what);
    this.writes.push(what);
  }

  #get(name: string): VinoMachine {
    const found = this.server.get(name);
    if (found === undefined) throw new KubeError("notFound", "404");
    return found;
  }

  #put(object: VinoMachine): VinoMachine {
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    const written = JSON.parse(JSON.stringify({ ...object, metadata })) as VinoMachine;
    this.server.set(written.metadata.name, written);
    return JSON.parse(JSON.stringify(written)) as VinoMachine;
  }

  #learn(object: VinoMachine): VinoMachine {
    this.#store.learn(object, undefined);
    return object;
  }
}

function merge(before: object = {}, change: object): Patched {
  const all = { ...before, ...change };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}
