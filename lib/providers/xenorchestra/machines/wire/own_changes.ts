/**
 * What own changes came to.
 *
 * Xen Orchestra answers a change when the hypervisor has carried it out, and every read from a memory that follows a
 * fraction of a second later. So an answer to an own change is the truth until reads show it, or for some seconds.
 * Otherwise Landfall would take what it just made for absent, make it twice, and delete it as left over.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../../core/clock.ts";
import type { MachineCollections } from "./schemas.ts";

/** What is made of an object by a change; `undefined`: it does not exist. Doing it twice changes nothing more. */
export type Effect<T> = (object: T | undefined) => T | undefined;

interface Log<T> {
  /** When the last change was answered, in monotonic milliseconds. */
  lastMs: number;
  readonly effects: Effect<T>[];
}

type Logs = { readonly [C in keyof MachineCollections]: Map<string, Log<MachineCollections[C]>> };

/** After this time reads are right in any case: then another client changed it, too. */
const TRUSTED_MS = 10_000;

/** The own changes that reads may not show yet. */
export class OwnChanges {
  readonly #clock: Pick<Clock, "monotonic">;
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
    const log = logs.get(id) ?? { lastMs: 0, effects: [] };
    log.lastMs = this.now();
    log.effects.push(effect);
    logs.set(id, log);
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
      const object = this.addToOne(collection, id, byId.get(id), beganMs);
      if (object === undefined) byId.delete(id);
      else byId.set(id, object);
    }
    return [...byId.values()];
  }

  /** The same for one object. @param object `undefined`: there is none */
  addToOne<C extends keyof MachineCollections>(
    collection: C,
    id: string,
    object: MachineCollections[C] | undefined,
    beganMs: number,
  ): MachineCollections[C] | undefined {
    const logs: Map<string, Log<MachineCollections[C]>> = this.#logs[collection];
    const log = logs.get(id);
    if (log === undefined) return object;
    if (beganMs >= log.lastMs + TRUSTED_MS) {
      logs.delete(id);
      return object;
    }
    const changed = log.effects.reduce((one, effect) => effect(one), object);
    if (beganMs >= log.lastMs && isDeepStrictEqual(changed, object)) logs.delete(id);
    return changed;
  }
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
