/**
 * Remembers what was sent for each object, so that nothing is sent twice.
 * @module
 */
import type { Clock } from "../../../../core/clock.ts";
import type { KubeObject } from "../../../../kube/kinds/resource.ts";
import type { Key } from "../../../../kube/cache/store.ts";
import { hashContent } from "../../../../core/text/label.ts";
import { isAsWanted, pickWanted } from "../../../kinds/compare.ts";
import type { ObjectId, WantedObject } from "./wanted.ts";

/** What is known of an object since it was last written or read. Only hashes are kept. */
interface Sent {
  /** Of what was wanted. */
  readonly hash: string;
  /** Monotonic milliseconds. */
  readonly atMs: number;
  /** Hash of what the API server shows in place of what is wanted, if it stores it in another form. */
  readonly shown?: string;
}

/** What was sent for the objects of all clusters. It is empty after a start: then objects are compared. */
export class SentObjects {
  readonly #clock: Clock;
  readonly #clusters = new Map<Key, Map<ObjectId, Sent>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that an object was written. @param after As the API server has it */
  noteWritten(cluster: Key, { id, hash, body }: WantedObject, after: KubeObject): void {
    this.#put(cluster, id, {
      hash,
      atMs: this.#clock.monotonic(),
      ...(!isAsWanted(after, body) && { shown: hashShown(after, body) }),
    });
  }

  /** Notes that an object was read, and need not be written. */
  noteChecked(cluster: Key, { id, hash }: WantedObject): void {
    const sent = this.#find(cluster, id);
    const { shown } = sent?.hash === hash ? sent : {};
    const atMs = this.#clock.monotonic();
    this.#put(cluster, id, { hash, atMs, ...(shown !== undefined && { shown }) });
  }

  /** How many milliseconds ago an object was as wanted now; `Infinity` if that is not known. */
  ageMs(cluster: Key, { id, hash }: WantedObject): number {
    const sent = this.#find(cluster, id);
    return sent?.hash === hash ? this.#clock.monotonic() - sent.atMs : Infinity;
  }

  /** Makes objects look as old as this, so that they are read again. */
  makeOld(cluster: Key, ageMs: number, isMeant: (id: ObjectId) => boolean): void {
    const atMs = this.#clock.monotonic() - ageMs;
    for (const [id, sent] of this.#clusters.get(cluster) ?? []) {
      if (isMeant(id)) this.#put(cluster, id, { ...sent, atMs: Math.min(sent.atMs, atMs) });
    }
  }

  /** Whether an object was written as wanted and was not changed since in these fields. */
  isSettled(cluster: Key, { id, hash, body }: WantedObject, live: KubeObject): boolean {
    const sent = this.#find(cluster, id);
    return sent?.hash === hash && sent.shown !== undefined && sent.shown === hashShown(live, body);
  }

  /** Forgets an object. */
  forgetObject(cluster: Key, id: ObjectId): void {
    this.#clusters.get(cluster)?.delete(id);
  }

  /** Forgets a cluster. @returns Its objects */
  forget(cluster: Key): Iterable<ObjectId> {
    const ids = this.#clusters.get(cluster)?.keys() ?? [];
    this.#clusters.delete(cluster);
    return ids;
  }

  #find(cluster: Key, id: ObjectId): Sent | undefined {
    return this.#clusters.get(cluster)?.get(id);
  }

  #put(cluster: Key, id: ObjectId, sent: Sent): void {
    const objects = this.#clusters.get(cluster) ?? new Map<ObjectId, Sent>();
    this.#clusters.set(cluster, objects.set(id, sent));
  }
}

function hashShown(live: KubeObject, wanted: KubeObject): string {
  return hashContent(JSON.stringify(pickWanted(live, wanted)));
}
