/**
 * What own changes came to.
 *
 * Xen Orchestra answers a change when the hypervisor has carried it out, and every read from a memory that follows a
 * fraction of a second later. So an answer to an own change is the truth until reads show it or something newer, or for
 * some seconds in which several reads lack it. Otherwise Landfall would take what it just made for absent, make it
 * twice, and delete it as left over.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../../core/clock.ts";
import { MACHINE_PREFIX } from "../../../../cloud/capabilities/machines.ts";
import type { MachineCollections, RawVdi } from "./objects.ts";

/** What is made of an object by a change; `undefined`: it does not exist. Doing it twice changes nothing more. */
export type Effect<T> = (object: T | undefined) => T | undefined;

interface Log<T> {
  /** When the last change was answered, in monotonic milliseconds. */
  lastMs: number;
  readonly effects: Effect<T>[];
  /** What the first read showed that lacked a change. */
  base?: { readonly object: T | undefined };
  /** When the last read began that lacked a change, and how many there were. */
  missedMs?: number;
  misses: number;
}

type Logs = { readonly [C in keyof MachineCollections]: Map<string, Log<MachineCollections[C]>> };

/** After this time reads are right if several lack a change: then another client made a change, too. */
const TRUSTED_MS = 10_000;
const MISSES_MIN = 3;
/** After this time one read is right. */
const SHOWN_MS = 60_000;
/** For so long after the first observation of a process, reads may lack what an earlier process did. */
const STRANGE_MS = 1_000;
/** For so long what was refused once is not asked for again. */
const REFUSED_MS = 3_600_000;

/**
 * Since when observations have shown the same of objects, by their IDs. What an earlier process did does not show at
 * once, either.
 */
class SeenSince {
  readonly #sinceMs = new Map<string, number>();

  /**
   * Notes of which objects an observation shows it.
   *
   * @param atMs When the observation began
   * @returns For how long observations have shown it of each, in milliseconds
   */
  note(ids: readonly string[], atMs: number): ReadonlyMap<string, number> {
    const shown = new Set(ids);
    for (const id of this.#sinceMs.keys()) if (!shown.has(id)) this.#sinceMs.delete(id);
    return new Map(
      ids.map((id) => {
        const sinceMs = Math.min(this.#sinceMs.get(id) ?? atMs, atMs);
        this.#sinceMs.set(id, sinceMs);
        return [id, atMs - sinceMs];
      }),
    );
  }

  /** Begins again with an object. */
  forget(id: string): void {
    this.#sinceMs.delete(id);
  }
}

/** The own changes that reads may not show yet. */
export class OwnChanges {
  readonly #clock: Pick<Clock, "monotonic">;
  #firstLookMs: number | undefined;
  #isUnsure = false;
  /** When it was refused to rename disks, by their IDs. */
  readonly #unnamable = new Map<string, number>();
  readonly #unused = new SeenSince();
  readonly #idle = new SeenSince();
  readonly #logs: Logs = {
    vms: new Map(),
    "vm-templates": new Map(),
    "vm-controllers": new Map(),
    srs: new Map(),
    networks: new Map(),
    pools: new Map(),
    hosts: new Map(),
    vifs: new Map(),
    vbds: new Map(),
    vdis: new Map(),
    tasks: new Map(),
  };

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** The time now, to say later when a read began. */
  now(): number {
    return this.#clock.monotonic();
  }

  /** Notes that Xen Orchestra answered a change of an object. */
  note<C extends keyof MachineCollections>(
    collection: C,
    id: string,
    effect: Effect<MachineCollections[C]>,
  ): void {
    const logs: Map<string, Log<MachineCollections[C]>> = this.#logs[collection];
    const log = logs.get(id) ?? { lastMs: 0, effects: [], misses: 0 };
    log.lastMs = this.now();
    log.misses = 0;
    log.effects.push(effect);
    logs.set(id, log);
    for (const [other, { lastMs }] of logs) {
      if (log.lastMs >= lastMs + SHOWN_MS) logs.delete(other);
    }
  }

  /** Names of the VMs that this process asked for: of others, an earlier process may have asked for more. */
  readonly begun: Set<string> = new Set<string>();

  /**
   * Notes that an observation begins. @returns For how long it may lack what an earlier process did, in milliseconds
   */
  noteObservation(atMs: number): number {
    this.#isUnsure = false;
    this.#firstLookMs ??= atMs;
    return Math.max(0, this.#firstLookMs + STRANGE_MS - atMs);
  }

  /**
   * Whether the observation has changes that reads have lacked for long: others in a row show whether that is right.
   */
  get isUnsure(): boolean {
    return this.#isUnsure;
  }

  /** Notes that a disk must not be renamed. */
  noteUnnamable(diskId: string): void {
    this.#unnamable.set(diskId, this.now());
  }

  /** IDs of the disks that must not be renamed. One that has a name of ours is tried again when it loses it. */
  listUnnamable(disks: readonly Pick<RawVdi, "id" | "name_label">[]): ReadonlySet<string> {
    const named = disks.filter((one) => one.name_label?.startsWith(MACHINE_PREFIX));
    for (const { id } of named) this.#unnamable.delete(id);
    for (const [id, atMs] of this.#unnamable) {
      if (this.now() - atMs >= REFUSED_MS) this.#unnamable.delete(id);
    }
    return new Set(this.#unnamable.keys());
  }

  /** Notes that a disk is about to be used. Also without an answer, reads may show that later. */
  noteUse(diskId: string): void {
    this.#unused.forget(diskId);
  }

  /** As {@linkcode SeenSince.note}, of the disks that an observation showed as unused. */
  noteUnused(diskIds: readonly string[], atMs: number): ReadonlyMap<string, number> {
    return this.#unused.note(diskIds, atMs);
  }

  /** As {@linkcode SeenSince.note}, of the templates that an observation showed as ones of which no VM is made now. */
  noteIdle(templateIds: readonly string[], atMs: number): ReadonlyMap<string, number> {
    return this.#idle.note(templateIds, atMs);
  }

  /** A list with the own changes. @param beganMs When the request for it was sent */
  addTo<C extends keyof MachineCollections>(
    collection: C,
    objects: readonly MachineCollections[C][],
    beganMs: number,
  ): readonly MachineCollections[C][] {
    const logs: Map<string, Log<MachineCollections[C]>> = this.#logs[collection];
    if (logs.size === 0) return objects;
    const byId = new Map(objects.map((object) => [object.id, object]));
    for (const id of logs.keys()) {
      const object = this.#add(collection, id, byId.get(id), beganMs);
      if (object === undefined) byId.delete(id);
      else byId.set(id, object);
    }
    return [...byId.values()];
  }

  /** The same for one object: who asks for one does not ask three times. @param object `undefined`: there is none */
  addToOne<C extends keyof MachineCollections>(
    collection: C,
    id: string,
    object: MachineCollections[C] | undefined,
    beganMs: number,
  ): MachineCollections[C] | undefined {
    const { lastMs = -Infinity } = this.#logs[collection].get(id) ?? {};
    if (beganMs >= lastMs + TRUSTED_MS) return object;
    return this.#add(collection, id, object, beganMs);
  }

  #add<C extends keyof MachineCollections>(
    collection: C,
    id: string,
    object: MachineCollections[C] | undefined,
    beganMs: number,
  ): MachineCollections[C] | undefined {
    const logs: Map<string, Log<MachineCollections[C]>> = this.#logs[collection];
    const log = logs.get(id);
    if (log === undefined) return object;
    const changed = log.effects.reduce((one, effect) => effect(one), object);
    // It was on its way while the change was made.
    if (beganMs < log.lastMs) return changed;
    const isShown = isDeepStrictEqual(changed, object);
    if (isShown || isOver(log, beganMs) || isOvertaken(log, object, changed)) {
      logs.delete(id);
      return object;
    }
    log.base ??= { object };
    if (log.missedMs !== beganMs) log.misses += 1;
    log.missedMs = beganMs;
    this.#isUnsure ||= beganMs - log.lastMs >= TRUSTED_MS;
    return changed;
  }
}

function isOver<T>({ lastMs, misses }: Log<T>, beganMs: number): boolean {
  const ageMs = beganMs - lastMs;
  return ageMs >= SHOWN_MS || (ageMs >= TRUSTED_MS && misses >= MISSES_MIN);
}

/**
 * Whether a read shows what another client made after the own change: a value that is neither the one before nor an own
 * one. Of lists that is not clear, since several clients add to them.
 */
function isOvertaken<T>(
  { base, effects }: Log<T>,
  object: T | undefined,
  changed: T | undefined,
): boolean {
  if (base?.object === undefined) return false;
  if (object === undefined) return true;
  let one: T | undefined = base.object;
  const states = [one, ...effects.map((effect) => (one = effect(one)))].map(toFields);
  const [shown, wanted] = [toFields(object), toFields(changed)];
  return [...wanted].some(([key, value]) => {
    const now = shown.get(key);
    const isOwn = isDeepStrictEqual(now, value) || Array.isArray(now) || Array.isArray(value);
    return !isOwn && !states.some((state) => isDeepStrictEqual(state.get(key), now));
  });
}

function toFields(object: unknown): ReadonlyMap<string, unknown> {
  return new Map(typeof object === "object" && object !== null ? Object.entries(object) : []);
}

/** The effect of a change of something that exists. */
export function toChanged<T>(change: (object: T) => T): Effect<T> {
  return (object) => object && change(object);
}

/** The effect of a deletion. */
export function toGone(): undefined {
  return undefined;
}

/** A list of texts with one more. */
export function withText(texts: readonly string[] | null | undefined, text: string): string[] {
  return [...new Set([...(texts ?? []), text])];
}

/** A list of texts without one. */
export function withoutText(texts: readonly string[] | null | undefined, text: string): string[] {
  return (texts ?? []).filter((one) => one !== text);
}
