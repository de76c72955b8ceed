/**
 * Sends server-sent events like Xen Orchestra: streams, their subscriptions, and the events after a change.
 *
 * Like xo-server 5.207: it sends no events about older objects, sends an update only if a subscribed field differs, and
 * removes each object of a lost pool. It never says that a task or a VM from a template was added. It checks rights
 * only when a stream opens.
 * @module
 */
import { randomUUID } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import {
  type Collection,
  COLLECTIONS,
  isCollection,
  pickFields,
  type XoRecord,
} from "./records.ts";
import { toJson, toNotFound, toUnknownRoute } from "./replies.ts";
import type { XenOrchestraState } from "./state.ts";

/**
 * How streams fail. `silent`: connected, but nothing arrives, not even a ping. `doubled`: everything arrives twice.
 * `lossy`: pings arrive, changes do not.
 */
export type EventMode = "right" | "silent" | "doubled" | "lossy";

/** The dependencies of an {@linkcode EventHub}. */
interface EventHubOptions {
  readonly state: XenOrchestraState;
  readonly clock: Clock;
  /** Ends everything. */
  readonly signal: AbortSignal;
  /** Time between two comparisons of the objects, in milliseconds. */
  readonly periodMs: number;
}

interface Subscription {
  readonly collection: Collection | undefined;
  readonly fields: readonly string[] | "*";
  /** The objects at the last look, as JSON, by ID. */
  shown: Map<string, string>;
  /** The JSON of records, as long as they do not change. */
  readonly texts: WeakMap<XoRecord, { readonly revision: number; readonly text: string }>;
}

interface Stream {
  readonly subscriptions: Map<string, Subscription>;
  /** Whether the user has no right to see any object. */
  readonly isBlind: boolean;
  readonly pingAtMs: { next: number };
  write(text: string): void;
  end(error?: Error): void;
}

const REST_FACTOR = 20;
const PING_PERIOD_MS = 30_000;
/** If the queue of a reader is longer, its connection is closed. */
const QUEUE_BYTES_MAX = 20 * 1024 * 1024;
/** Types that can be subscribed to but never have events here. */
const QUIET_TYPES: ReadonlySet<string> = new Set(["alarm", "message"]);

/** All streams of one simulated Xen Orchestra. */
export class EventHub {
  readonly #options: EventHubOptions;
  readonly #streams = new Map<string, Stream>();
  #isLooking = false;
  /** How all streams fail from now on. */
  mode: EventMode = "right";
  /** Whether the server has events. Old servers have none. */
  isOffered = true;

  constructor(options: EventHubOptions) {
    this.#options = options;
  }

  /** How many streams are open. */
  get size(): number {
    return this.#streams.size;
  }

  /** Subscriptions, by stream: the type, and the fields. */
  get subscriptions(): Readonly<Record<string, readonly string[] | "*">>[] {
    return [...this.#streams.values()].map(({ subscriptions }) =>
      Object.fromEntries([...subscriptions].map(([type, { fields }]) => [type, fields])),
    );
  }

  /** Breaks all streams in the middle. */
  drop(): void {
    for (const stream of this.#streams.values()) stream.end(new Error("the stream is cut"));
  }

  /** Ends all streams cleanly. */
  end(): void {
    for (const stream of this.#streams.values()) stream.end();
  }

  /** Answers `GET /events`. */
  open(isBlind: boolean): Response {
    if (!this.isOffered) return toUnknownRoute("GET", "/rest/v0/events");
    const id = randomUUID();
    const { clock } = this.#options;
    const strategy = new ByteLengthQueuingStrategy({ highWaterMark: QUEUE_BYTES_MAX });
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const stream = this.#toStream(id, isBlind, controller);
          this.#streams.set(id, stream);
          stream.pingAtMs.next = clock.monotonic() + PING_PERIOD_MS;
          this.#send(stream, "init", { id });
        },
        cancel: () => void this.#streams.delete(id),
      },
      strategy,
    );
    void this.#look();
    const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
    return new Response(body, { headers });
  }

  /** Answers `POST /events/{id}/subscriptions`. */
  subscribe(id: string, text: string): Response {
    let body: unknown;
    try {
      body = JSON.parse(text || "{}");
    } catch {
      return toJson({ error: "Unexpected token in JSON" }, 500);
    }
    const { collection: type, fields = "*" } = { ...(body as Record<string, unknown>) };
    if (typeof type !== "string" || !isType(type)) return toInvalid("body.collection", type);
    if (fields !== "*" && !isTexts(fields)) return toInvalid("body.fields", fields);
    const stream = this.#streams.get(id);
    if (stream === undefined) return toNotFound(id, "event");
    const subscription: Subscription = {
      collection: toCollection(type),
      fields,
      shown: new Map(),
      texts: new WeakMap(),
    };
    subscription.shown = this.#take(stream, subscription);
    stream.subscriptions.set(type, subscription);
    return toJson({ id: type }, 201);
  }

  /** Answers `DELETE /events/{id}/subscriptions/{type}`. */
  unsubscribe(id: string, type: string): Response {
    const isThere = this.#streams.get(id)?.subscriptions.delete(type) ?? false;
    return isThere ? new Response(undefined, { status: 204 }) : toNotFound(id, "event");
  }

  #toStream(
    id: string,
    isBlind: boolean,
    controller: ReadableStreamDefaultController<Uint8Array>,
  ): Stream {
    const end = (error?: Error): void => {
      if (!this.#streams.delete(id)) return;
      if (error) controller.error(error);
      else controller.close();
    };
    return {
      subscriptions: new Map(),
      isBlind,
      pingAtMs: { next: Infinity },
      write: (text) => {
        controller.enqueue(new TextEncoder().encode(text));
        if ((controller.desiredSize ?? 0) < 0) end(new Error("too much waits in the queue"));
      },
      end,
    };
  }

  /** Compares all objects periodically while there is a stream. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { clock, signal, periodMs } = this.#options;
    try {
      for (let tookMs = 0; this.#streams.size > 0;) {
        // A large world is compared less often, so that this never costs much.
        await clock.sleep(Math.max(periodMs, tookMs * REST_FACTOR), signal);
        const startedMs = clock.monotonic();
        for (const stream of this.#streams.values()) this.#sendChanges(stream);
        tookMs = clock.monotonic() - startedMs;
      }
    } catch {
      this.end();
    } finally {
      this.#isLooking = false;
    }
  }

  #sendChanges(stream: Stream): void {
    for (const [type, subscription] of stream.subscriptions) {
      const before = subscription.shown;
      const after = this.#take(stream, subscription);
      subscription.shown = after;
      for (const [id, object] of after) {
        const old = before.get(id) ?? this.#findBefore(id, subscription);
        if (old === undefined) this.#change(stream, "add", type, object);
        else if (old !== object) this.#change(stream, "update", type, object);
      }
      for (const [id, object] of before) {
        if (!after.has(id) && !this.#isProvisioned(id, subscription)) {
          this.#change(stream, "remove", type, object);
        }
      }
    }
    const nowMs = this.#options.clock.monotonic();
    if (nowMs < stream.pingAtMs.next) return;
    stream.pingAtMs.next += PING_PERIOD_MS;
    this.#send(stream, "ping", { ping: this.#options.clock.now() });
  }

  /**
   * What clients know of an object that is new in its collection, though they get no event that it was added: a task,
   * and a machine that was a template. They get an update only if a field differs from that.
   */
  #findBefore(id: string, { collection, fields }: Subscription): string | undefined {
    if (collection === "tasks") return "";
    const template = collection === "vms" ? this.#options.state.findProvisioned(id) : undefined;
    return template && toText(template, fields);
  }

  /** A template that became a machine is not removed, as far as clients learn. */
  #isProvisioned(id: string, { collection }: Subscription): boolean {
    return collection === "vm-templates" && this.#options.state.findProvisioned(id) !== undefined;
  }

  #change(stream: Stream, event: string, type: string, object: string): void {
    if (this.mode === "lossy") return;
    const data: object = { $subscription: type, ...JSON.parse(object) };
    this.#send(stream, event, data);
    if (this.mode === "doubled") this.#send(stream, event, data);
  }

  #send(stream: Stream, event: string, data: object): void {
    if (this.mode === "silent" && event !== "init") return;
    stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  #take(stream: Stream, { collection, fields, texts }: Subscription): Subscription["shown"] {
    const shown: Subscription["shown"] = new Map();
    if (collection === undefined || stream.isBlind) return shown;
    for (const record of this.#options.state.listShown(collection)) {
      const revision = this.#options.state.revisionOf(record);
      let known = texts.get(record);
      if (known?.revision !== revision) {
        known = { revision, text: toText(record, fields) };
        texts.set(record, known);
      }
      shown.set(record.id, known.text);
    }
    return shown;
  }
}

/** Returns a text as a copy, because records change in place. */
function toText(record: XoRecord, fields: Subscription["fields"]): string {
  return JSON.stringify(fields === "*" ? record : pickFields(record, fields));
}

function isType(type: string): boolean {
  return QUIET_TYPES.has(type) || toCollection(type) !== undefined;
}

/**
 * Returns the collection of a type. Connections to pools are no objects of a pool, so no client can subscribe to them.
 */
function toCollection(type: string): Collection | undefined {
  const found = Object.entries(COLLECTIONS).find(([, one]) => one.type === type)?.[0] ?? "";
  return isCollection(found) && found !== "servers" ? found : undefined;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function toInvalid(path: string, value: unknown): Response {
  return toJson({ error: { [path]: { message: "invalid", value } }, data: {} }, 422);
}
