/**
 * The last Events that this process wrote, by object, for the debug pages: they cost no request.
 * @module
 */
import type { KubeObject } from "../kinds/resource.ts";
import type { KubeEvent } from "../kinds/event.ts";

/** An Event, or several equal ones. */
interface RecentEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  /** Of the last one; ISO 8601. */
  readonly at: string;
}

const OBJECTS_MAX = 1_000;
const EVENTS_MAX = 10;

/** Keeps them, as many as are useful. */
export class RecentEvents {
  /** By UID; the object with the newest Event is last. */
  readonly #events = new Map<string, readonly RecentEvent[]>();

  /** Notes an Event. */
  note({
    involvedObject: { uid },
    type = "",
    reason = "",
    message = "",
    lastTimestamp,
  }: KubeEvent): void {
    if (uid === undefined) return;
    const known = this.#events.get(uid) ?? [];
    const isSame = (one: RecentEvent): boolean => one.reason === reason && one.message === message;
    const count = (known.find(isSame)?.count ?? 0) + 1;
    const event = { type, reason, message, count, at: lastTimestamp ?? "" };
    this.#events.delete(uid);
    this.#events.set(uid, [event, ...known.filter((one) => !isSame(one))].slice(0, EVENTS_MAX));
    const [oldest] = this.#events.keys();
    if (this.#events.size > OBJECTS_MAX && oldest !== undefined) this.#events.delete(oldest);
  }

  /** The Events of an object, the newest first. */
  list({ metadata: { uid = "" } }: KubeObject): readonly RecentEvent[] {
    return this.#events.get(uid) ?? [];
  }
}
