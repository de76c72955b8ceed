/**
 * The VinoMachines of Vinos: what is known of each machine after a restart, and what is said about it. Nothing else
 * writes them.
 * @module
 */
import {
  type MachineOwner,
  type MachineRecord,
  parseMachineName,
  toMachineName,
} from "../../../cloud/capabilities/machines.ts";
import { type Clock, toBackoffMs } from "../../../core/clock.ts";
import { forEachAtOnce, Locks } from "../../../core/concurrency.ts";
import { assert, describeError } from "../../../core/errors.ts";
import type { KeySource } from "../../../engine/object_loop.ts";
import { type KubeClient, readIfPresent } from "../../../kube/api/client.ts";
import { isKubeError, isRefusal, KubeError, type KubeErrorKind } from "../../../kube/api/errors.ts";
import { type Key, type StoreReader, toKey } from "../../../kube/cache/store.ts";
import type { EventRecorder } from "../../../kube/events/events.ts";
import { trimObject } from "../../../kube/kinds/resource.ts";
import { ObjectWriter } from "../../kinds/object_writer.ts";
import { lacksRight, nameSome } from "../../kinds/problems.ts";
import { toHostName } from "../hosts/names.ts";
import { type Vino, VINOES } from "../resource/vino.ts";
import {
  dropAbsent,
  type MachineEntry,
  type MachineKey,
  toEntry,
  VINO_MACHINES,
  type VinoMachine,
} from "../resource/vino_machine.ts";
import {
  type MachineReport,
  toChange,
  toForm,
  toSpec,
  toStatus,
} from "../status/machine_status.ts";
import { EVENT_WORDS, FINALIZER } from "../words.ts";
import { toOwner, type MachineTask } from "./steps/tasks.ts";

/** What {@linkcode VinoMachines} need. */
interface VinoMachinesOptions {
  /** Fenced: two processes that both lead may make one machine twice. */
  readonly client: Pick<KubeClient, "create" | "delete" | "patch" | "read">;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly objects: StoreReader<VinoMachine>;
  readonly vinoes: Pick<StoreReader<Vino>, "get" | "values">;
}

const RECORD_BYTES_MAX = 1_024;
/** Another program may change an object as often while a record is saved. */
const TRIES_MAX = 8;
const AT_ONCE = 8;
const OVERTAKEN = ["alreadyExists", "conflict", "notFound"] as const;

/** A machine, and the name of the host where it starts. */
type NamedTask = MachineTask & { readonly hostDisplayName: string | undefined };

/** See the module. Every method throws {@linkcode KubeError} if Kubernetes refuses. */
export class VinoMachines implements KeySource {
  readonly reader: StoreReader<VinoMachine>;
  readonly #options: VinoMachinesOptions;
  readonly #writer: ObjectWriter<VinoMachine>;
  /** The Vino says what is reported of a machine while that machine saves its record: one after the other. */
  readonly #locks = new Locks();
  /** Objects that are of the machine whose name they have, by the UID of their Vino. */
  readonly #byVino = new Map<string, Map<Key, VinoMachine>>();
  /** Records of Vinos that are being deleted, of machines without an object, by UID of the Vino and name. */
  readonly #ending = new Map<string, Map<string, string | undefined>>();

  /** Objects that Kubernetes refuses, by UID of their Vino and name. */
  readonly #refusals = new Map<string, Map<string, Refusal>>();

  /** Follows the objects from now on, for as long as they are watched. */
  constructor(options: VinoMachinesOptions) {
    this.#options = options;
    this.reader = options.objects;
    this.#writer = new ObjectWriter(VINO_MACHINES, options);
    this.reader.subscribe((key, before, after) => {
      this.#forgetObject(key, before);
      if (after === undefined) this.#writer.forget(key);
      const uid = after?.spec?.vinoUid;
      if (after === undefined || uid === undefined || !isOfItsName(after)) return;
      const known = this.#byVino.get(uid) ?? new Map<Key, VinoMachine>();
      this.#byVino.set(uid, known.set(key, after));
    });
  }

  /** An object that another program deletes, or that is gone, is a reason to look at its Vino. */
  subscribe(listener: (keys: Iterable<Key>) => void): () => void {
    return this.reader.subscribe((_key, before, after) => {
      const isLeaving = after?.metadata.deletionTimestamp !== undefined;
      const wasLeaving = before?.metadata.deletionTimestamp !== undefined;
      if (before === undefined || (after !== undefined && isLeaving === wasLeaving)) return;
      const { namespace = "" } = before.metadata;
      const vino = { namespace, name: before.spec?.vinoName ?? "" };
      listener([toKey({ metadata: vino })]);
    });
  }

  /** The objects of a Vino. */
  list(vino: Vino): VinoMachine[] {
    const known = this.#byVino.get(vino.metadata.uid ?? "")?.values() ?? [];
    return [...known].filter((one) => isOf(one, vino) && !isReleased(one));
  }

  /** What the objects of a Vino say. */
  listEntries(vino: Vino): MachineEntry[] {
    return this.list(vino).flatMap((one) => (one.spec ? [toEntry(one, one.spec)] : []));
  }

  /** The object of a machine. */
  find(vino: Vino, machine: MachineKey): VinoMachine | undefined {
    const found = this.#byVino.get(vino.metadata.uid ?? "")?.get(toMachineKey(vino, machine));
    return found && isOf(found, vino, machine) && !isReleased(found) ? found : undefined;
  }

  /** An object that has the place of this one: it is not of the machine, or only finalizers of others hold it. */
  findForeign(vino: Vino, machine: MachineKey): VinoMachine | undefined {
    const found = this.reader.get(toMachineKey(vino, machine));
    if (found === undefined || isGone(found)) return undefined;
    return this.find(vino, machine) === undefined ? found : undefined;
  }

  /** Records a Warning on an object, unless it was recorded a short time ago. @returns Whether it was */
  warn(...args: Parameters<ObjectWriter<VinoMachine>["warn"]>): boolean {
    return this.#writer.warn(...args);
  }

  /** What the cloud must know about a machine after a restart. */
  readText(vino: Vino, machine: MachineKey & Pick<MachineEntry, "name">): string | undefined {
    const ending = this.#ending.get(vino.metadata.uid ?? "");
    return this.find(vino, machine)?.status?.record ?? ending?.get(machine.name);
  }

  /**
   * The record of a machine. It is saved when the API server has it in the status of the object.
   *
   * @param hostDisplayName Of the host where it starts, for an object that is made. @default {not known}
   */
  record(vino: Vino, task: MachineTask, hostDisplayName?: string): MachineRecord {
    const { name, identity } = task;
    return {
      text: this.readText(vino, { name, ...identity }),
      save: async (text, signal) => {
        assert(
          text === undefined || Buffer.byteLength(text) <= RECORD_BYTES_MAX,
          "a record of a machine must have at most 1 KiB",
        );
        const object = toPath(vino, identity).name;
        await this.#explained(vino, object, () =>
          this.#save(vino, { ...task, hostDisplayName }, text, signal),
        );
      },
    };
  }

  /**
   * Makes the object of a machine say what is reported of it. A Vino that is being deleted gets no new ones.
   *
   * @returns What the object said before. `undefined`: nothing
   */
  async report(
    vino: Vino,
    report: MachineReport,
    signal: AbortSignal,
  ): Promise<MachineEntry | undefined> {
    const { entry, form } = report;
    using _ = await this.#locks.take(toMachineKey(vino, entry), signal);
    const found = this.find(vino, entry);
    const before = found?.spec && toEntry(found, found.spec);
    const isForeign = this.findForeign(vino, entry) !== undefined;
    if (isForeign || (found === undefined && isEnding(vino))) return before;
    await this.#explained(vino, toPath(vino, entry).name, async () => {
      const spec = toSpec(toOwner(vino), entry, form, found?.spec);
      const object = await this.#writeSpec(vino, found, spec, signal);
      const { status = {} } = object;
      const change = toChange(status, toStatus(report, object, this.#options.clock.now()));
      if (change !== undefined) await this.#writer.patchStatus(object, change, signal);
    });
    return before;
  }

  /** Says of objects that something deletes why they stay. */
  warnLeaving(vino: Vino): void {
    if (isEnding(vino)) return;
    for (const object of this.list(vino)) {
      if (object.metadata.deletionTimestamp === undefined) continue;
      const message =
        `Landfall keeps this VinoMachine until nothing of its machine is left. To remove the machine, lower count ` +
        `of role ${object.spec?.role} in Vino ${vino.metadata.name}`;
      this.warn(object, EVENT_WORDS.deletionWaits, message);
    }
  }

  /**
   * Lets objects go of whose machines nothing is left, or that nothing wants.
   *
   * @param mayGo Asked while no record of the machine is being saved
   */
  async release(
    vino: Vino,
    mayGo: (entry: MachineEntry) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const isOver = (one: VinoMachine): boolean =>
      one.spec === undefined || mayGo(toEntry(one, one.spec));
    const errors: unknown[] = [];
    const all = this.list(vino).filter(isOver);
    await forEachAtOnce(all, { atOnce: AT_ONCE, signal }, async (one, both) => {
      try {
        await this.#explained(vino, one.metadata.name, () => this.#release(one, both, isOver));
      } catch (error) {
        if (!this.#isHeld(vino, one.metadata.name)) throw error;
        errors.push(error);
      }
    });
    // The others go all the same.
    if (errors.length > 0) throw errors[0];
  }

  /** Whether nothing is to be done for a machine now, because Kubernetes refused its object a moment ago. */
  isHeld(vino: Vino, machine: MachineKey): boolean {
    return this.#isHeld(vino, toPath(vino, machine).name);
  }

  /** What Kubernetes says of the object of a machine, if it refuses that and not only for a moment; no full stop. */
  findRefusal(vino: Vino, machine: MachineKey): string | undefined {
    return this.#refusals.get(vino.metadata.uid ?? "")?.get(toPath(vino, machine).name)?.message;
  }

  /** When the first object of a Vino is tried again that Kubernetes refuses, in milliseconds from now. */
  toRetryMs({ metadata: { uid = "" } }: Vino): number {
    const nowMs = this.#options.clock.monotonic();
    const known = this.#refusals.get(uid)?.values() ?? [];
    return Math.min(...Array.from(known, ({ untilMs }) => untilMs - nowMs).filter((ms) => ms > 0));
  }

  #isHeld({ metadata: { uid = "" } }: Vino, name: string): boolean {
    const { untilMs = -Infinity } = this.#refusals.get(uid)?.get(name) ?? {};
    return untilMs > this.#options.clock.monotonic();
  }

  /**
   * Lets an object go that is being deleted, and of which no Vino needs anything: a person took the finalizer of the
   * Vino, or restored the object from a backup, or the object is a copy that is not of the machine of its name. A Vino
   * that ends and has no finalizer of ours needs nothing any more.
   */
  async releaseOrphan(object: VinoMachine, signal: AbortSignal): Promise<void> {
    const { metadata, spec } = object;
    const { namespace = "", deletionTimestamp } = metadata;
    if (deletionTimestamp === undefined || isReleased(object)) return;
    if (spec !== undefined && isOfItsName(object)) {
      const path = { namespace, name: spec.vinoName };
      const vino = await readIfPresent(this.#options.client, VINOES, path, signal);
      if (vino?.metadata.uid === spec.vinoUid && !hasEnded(vino)) return;
    }
    await this.#release(object, signal);
  }

  /** Forgets a Vino that is gone. */
  forget(vinoUid: string): void {
    this.#ending.delete(vinoUid);
    this.#refusals.delete(vinoUid);
  }

  #forgetObject(key: Key, object: VinoMachine | undefined): void {
    const uid = object?.spec?.vinoUid ?? "";
    const known = this.#byVino.get(uid);
    known?.delete(key);
    if (known?.size === 0) this.#byVino.delete(uid);
  }

  /**
   * Works on the object of a name. If Kubernetes refuses it, and not what Landfall does there at all, its machine is
   * held for a while, and no other one.
   *
   * @throws {MachineObjectError} if Kubernetes refuses it, and not only for a moment
   */
  async #explained(
    { metadata: { uid = "" } }: Vino,
    name: string,
    work: () => Promise<void>,
  ): Promise<void> {
    const known = this.#refusals.get(uid) ?? new Map<string, Refusal>();
    this.#refusals.set(uid, known);
    try {
      await work();
    } catch (error) {
      if (!isAboutObject(error)) throw error;
      const nowMs = this.#options.clock.monotonic();
      const { sinceMs = nowMs, times = 0 } = known.get(name) ?? {};
      const untilMs = nowMs + toBackoffMs(times + 1, BACKOFF);
      const isLasting = !PASSING.has(error.kind) || nowMs - sinceMs >= LASTING_MS;
      const message = `the API server refuses VinoMachine ${name}: ${describeError(error)}`;
      known.set(name, { sinceMs, times: times + 1, untilMs, ...(isLasting && { message }) });
      throw isLasting ? new MachineObjectError(message, { cause: error }) : error;
    }
    known.delete(name);
  }

  async #save(
    vino: Vino,
    task: NamedTask,
    record: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { vinoes } = this.#options;
    using _ = await this.#locks.take(toMachineKey(vino, task.identity), signal);
    let object = this.find(vino, task.identity);
    for (let tries = 1; ; tries += 1) {
      const now = vinoes.get(toKey(vino));
      if (now?.metadata.uid !== vino.metadata.uid) {
        throw new Error("Cannot keep the record of a machine: the Vino is gone, or another one");
      }
      if (object === undefined && now && isEnding(now)) {
        return this.#keep(vino, task.name, record);
      }
      try {
        object ??= await this.#create(vino, task, signal);
        const { state = "Absent" } = object.status ?? {};
        const isBegun = record !== undefined && state === "Absent";
        const begun = isBegun && { state: "Creating", message: null };
        const change = { record: record ?? null, ...begun };
        await this.#writer.patchStatus(object, change, signal);
        return;
      } catch (error) {
        const isOvertaken = OVERTAKEN.some((kind) => isKubeError(error, kind));
        if (tries === TRIES_MAX || !isOvertaken) throw error;
      }
      object = await this.#read(vino, task, signal);
    }
  }

  /** A Vino that ends makes nothing any more, and its namespace may refuse new objects. */
  #keep({ metadata: { uid = "" } }: Vino, name: string, text: string | undefined): void {
    const records = this.#ending.get(uid) ?? new Map<string, string | undefined>();
    this.#ending.set(uid, records.set(name, text));
  }

  async #create(vino: Vino, task: NamedTask, signal: AbortSignal): Promise<VinoMachine> {
    const { name, identity, hostId: host, hostDisplayName } = task;
    const { role, index } = identity;
    const entry = { name, role, index, ...dropAbsent({ host, hostDisplayName }) };
    return await this.#writeSpec(
      vino,
      undefined,
      toSpec(toOwner(vino), entry, toForm(task)),
      signal,
    );
  }

  /** @returns The object as the API server has it now. `undefined`: it does not exist */
  async #read(
    vino: Vino,
    { identity }: MachineTask,
    signal: AbortSignal,
  ): Promise<VinoMachine | undefined> {
    const { namespace, name } = toPath(vino, identity);
    const { client } = this.#options;
    const live = await readIfPresent(client, VINO_MACHINES, { namespace, name }, signal);
    const object = live && trimObject(VINO_MACHINES, live);
    if (object === undefined) return object;
    const isOwn = isOfItsName(object) && isOf(object, vino, identity);
    if (isOwn && !isReleased(object)) return object;
    throw new Error(`Cannot keep the record of a machine: ${describeForeign(object)}`);
  }

  async #writeSpec(
    vino: Vino,
    found: VinoMachine | undefined,
    spec: NonNullable<VinoMachine["spec"]>,
    signal: AbortSignal,
  ): Promise<VinoMachine> {
    const { client } = this.#options;
    const { namespace, name } = toPath(vino, spec);
    if (found === undefined) {
      const { apiVersion, kind } = VINO_MACHINES;
      const owner = toOwner(vino);
      const metadata = {
        namespace,
        name,
        finalizers: [FINALIZER],
        ownerReferences: [toOwnerReference(owner)],
      };
      const body = { apiVersion, kind, metadata, spec };
      return trimObject(
        VINO_MACHINES,
        await client.create(VINO_MACHINES, { namespace }, body, signal),
      );
    }
    const { resourceVersion, finalizers = [] } = found.metadata;
    const isHeld = finalizers.includes(FINALIZER);
    const change = toChange(found.spec ?? {}, spec);
    if (isHeld && change === undefined) return found;
    const metadata = {
      resourceVersion,
      ...(!isHeld && { finalizers: [...finalizers, FINALIZER] }),
    };
    const body = { metadata, ...(change && { spec: change }) };
    const path = { namespace, name };
    const patch = { type: "merge", body } as const;
    return trimObject(VINO_MACHINES, await client.patch(VINO_MACHINES, path, patch, signal));
  }

  async #release(
    known: VinoMachine,
    signal: AbortSignal,
    isOver: (object: VinoMachine) => boolean = () => true,
  ): Promise<void> {
    using _ = await this.#locks.take(toKey(known), signal);
    const object = this.reader.get(toKey(known));
    if (object === undefined || !isOver(object)) return;
    const { namespace = "", name, uid = "", finalizers = [], deletionTimestamp } = object.metadata;
    try {
      if (finalizers.includes(FINALIZER)) {
        const others = finalizers.filter((one) => one !== FINALIZER);
        await this.#writer.setFinalizers(object, others, signal);
      }
      if (deletionTimestamp !== undefined) return;
      await this.#options.client.delete(VINO_MACHINES, { namespace, name }, { uid }, signal);
    } catch (error) {
      if (!isKubeError(error, "notFound")) throw error;
    }
  }
}

/** Says what has the place of the object of a machine; no full stop. */
export function describeForeign(object: VinoMachine): string {
  const { name, finalizers = [] } = object.metadata;
  if (!isReleased(object)) return `VinoMachine ${name} is not for this machine`;
  return `VinoMachine ${name} is being deleted, and finalizers of others hold it: ${nameSome(finalizers)}`;
}

/**
 * Whether an object is of the machine whose name it has. Its owner references do not count: `kubectl delete
 * --cascade=orphan` takes them away while the machine exists.
 */
function isOfItsName({ metadata, spec }: VinoMachine): boolean {
  if (spec === undefined) return false;
  const { vinoName: vino, vinoUid: uid, role, index, machineName } = spec;
  const isNamed = machineName === toMachineName({ owner: { uid }, role, index });
  if (!isNamed || parseMachineName(machineName) === undefined) return false;
  return metadata.name === toHostName({ vino, role, index });
}

/** Whether an object of the right name is of a machine of this Vino. @param machine Only this one. @default {any} */
function isOf(
  { metadata, spec }: VinoMachine,
  { metadata: { namespace, name, uid } }: Vino,
  machine: Partial<MachineKey> = {},
): boolean {
  if (spec?.vinoUid !== uid || spec?.vinoName !== name) return false;
  const { role = spec.role, index = spec.index } = machine;
  return metadata.namespace === namespace && spec.role === role && spec.index === index;
}

function toMachineKey(vino: Vino, machine: MachineKey): Key {
  return toKey({ metadata: toPath(vino, machine) });
}

function toPath(
  { metadata: { namespace = "", name: vino } }: Vino,
  { role, index }: MachineKey,
): { readonly namespace: string; readonly name: string } {
  return { namespace, name: toHostName({ vino, role, index }) };
}

function isEnding({ metadata }: Vino): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Whether a Vino ends and is not held for its machines. */
function hasEnded(vino: Vino): boolean {
  return isEnding(vino) && vino.metadata.finalizers?.includes(FINALIZER) !== true;
}

/** Whether nothing of ours holds an object that is being deleted. What others hold says nothing about a new machine. */
export function isReleased({
  metadata: { deletionTimestamp, finalizers = [] },
}: VinoMachine): boolean {
  return deletionTimestamp !== undefined && !finalizers.includes(FINALIZER);
}

/** The API server has removed it, and the watch has yet to say so. */
function isGone({ metadata: { deletionTimestamp, finalizers = [] } }: VinoMachine): boolean {
  return deletionTimestamp !== undefined && finalizers.length === 0;
}

function toOwnerReference({ name, uid }: Pick<MachineOwner, "name" | "uid">): object {
  const { apiVersion, kind } = VINOES;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Kubernetes refuses an object of a machine, and not only for a moment. No full stop at the end. */
export class MachineObjectError extends Error {
  override readonly name = "MachineObjectError";
}

/** The answers that may pass by themselves: another program was faster, the watch is late, the server is busy. */
const PASSING: ReadonlySet<KubeErrorKind> = new Set([
  "alreadyExists",
  "conflict",
  "notFound",
  "unavailable",
]);
const LASTING_MS = 15_000;
const BACKOFF = { baseMs: 1_000, capMs: 60_000, jitter: 0.2 };

/** An object that Kubernetes refuses. Times are monotonic. */
interface Refusal {
  readonly sinceMs: number;
  /** In a row. */
  readonly times: number;
  /** Its machine is held so long. */
  readonly untilMs: number;
  /** Without a full stop. Absent: it may pass. */
  readonly message?: string;
}

/** Whether an answer is about one object. A right that is missing, or a server that asks for a pause, is about all. */
function isAboutObject(error: unknown): error is KubeError {
  if (!(error instanceof KubeError) || lacksRight(error)) return false;
  return PASSING.has(error.kind) || isRefusal(error);
}
