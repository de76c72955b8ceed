/**
 * Looks at every call of a hypervisor, and says what must never be.
 * @module
 */
import type {
  Collection,
  XenOrchestra,
  XoRecord,
} from "../../../../lib/simulator/xenorchestra/mod.ts";
import type { Journaled } from "../../../../lib/simulator/xenorchestra/writes/hypervisor.ts";

/** Collections with things that belong to others. */
const COLLECTIONS: readonly Collection[] = [
  "pools",
  "hosts",
  "vms",
  "vm-templates",
  "vm-snapshots",
  "vifs",
  "vdis",
  "vbds",
  "srs",
  "networks",
];
/** What changes with our own things: lists of what is in something, and what is done with it now. */
const CHANGEABLE: Readonly<Partial<Record<Collection, object>>> = {
  "vm-templates": { current_operations: undefined },
  srs: { VDIs: undefined },
  networks: { VIFs: undefined },
  vdis: { $VBDs: undefined },
};
const READY = "vino:ready=";

/** What belongs to others, as it was. */
interface Foreign {
  readonly collection: Collection;
  readonly copy: object;
}

/** The watcher. What it was created with belongs to others, and what it is told. */
export class Watcher {
  readonly #cloud: XenOrchestra;
  readonly #foreign: Map<string, Foreign>;
  /** What was wrong, in the order it happened. */
  readonly violations: string[] = [];
  /** Names whose creation something between us and the server holds back. */
  readonly heldBack: Set<string> = new Set();
  /** Whether several creations of one name are the fault of something between us and the server. */
  isRepeating = false;

  constructor(cloud: XenOrchestra) {
    this.#cloud = cloud;
    this.#foreign = new Map(
      COLLECTIONS.flatMap((collection) =>
        [...cloud.state.all(collection).values()].map(
          (record) => [record.id, toForeign(collection, record)] as const,
        ),
      ),
    );
    cloud.hypervisor.watch((entry) => this.#look(entry));
  }

  /** Whether something belongs to others. */
  isForeign(id: string): boolean {
    return this.#foreign.has(id);
  }

  /** From now on an object belongs to others, as it is. */
  protect(collection: Collection, id: string): void {
    const record = this.#cloud.state.all(collection).get(id);
    if (record !== undefined) this.#foreign.set(id, toForeign(collection, record));
  }

  /** Its owner takes it away. */
  release(id: string): void {
    this.#foreign.delete(id);
  }

  /** What of others has changed since the start. */
  listTouched(): string[] {
    const isSame = (id: string, { collection, copy }: Foreign): boolean => {
      const record = this.#cloud.state.all(collection).get(id);
      return record !== undefined && Bun.deepEquals(toFields(collection, record), copy);
    };
    return [...this.#foreign].filter(([id, one]) => !isSame(id, one)).map(([id]) => id);
  }

  #look(entry: Journaled): void {
    const { method, id = "", name, outcome } = entry;
    if (outcome === "sent") {
      if (this.#foreign.has(id)) this.#say(`${method} touches ${id}, which belongs to others`);
      if (method === "VM.start") this.#checkStart(id, name);
      if (method === "VM.clone") this.#checkCreation(name);
      return;
    }
    this.#checkTwins();
  }

  /** Only what is complete may start. */
  #checkStart(id: string, name: string): void {
    const tags = this.#cloud.state.all("vms").get(id)?.["tags"];
    const isReady = Array.isArray(tags) && tags.some((tag) => String(tag).startsWith(READY));
    if (!isReady) this.#say(`${name} starts without the tag of a complete machine`);
  }

  /** At most one creation of a name is under way. */
  #checkCreation(name: string): void {
    if (this.isRepeating) return;
    const pending = [...this.#cloud.state.all("tasks").values()].filter(
      ({ status, properties }) =>
        status === "pending" && Object(properties).args?.name_label === name,
    );
    if (pending.length > 1) this.#say(`${name} is created ${pending.length} times at once`);
  }

  /** Of several machines with one name at most one can start. */
  #checkTwins(): void {
    const vms = [...this.#cloud.state.all("vms").values()].filter(({ id }) => !this.isForeign(id));
    for (const [name, some] of Map.groupBy(vms, (vm) => String(vm["name_label"]))) {
      const able = some.filter((vm) => canStart(vm));
      if (able.length > 1) this.#say(`${able.length} machines with the name ${name} can start`);
    }
  }

  #say(what: string): void {
    if (this.violations.at(-1) !== what) this.violations.push(what);
  }
}

/** A machine that runs, or that a person or we would start. */
function canStart({ tags, power_state: power }: XoRecord): boolean {
  const isReady = Array.isArray(tags) && tags.some((tag) => String(tag).startsWith(READY));
  return isReady || power !== "Halted";
}

function toForeign(collection: Collection, record: XoRecord): Foreign {
  return { collection, copy: structuredClone(toFields(collection, record)) };
}

/** Its own fields: reading them of a record that tells its changes is slow. */
function toFields(collection: Collection, record: XoRecord): object {
  return { ...record, ...CHANGEABLE[collection] };
}
