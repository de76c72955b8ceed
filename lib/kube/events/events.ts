/**
 * Events on objects, for `kubectl describe`. They are written in the background and never delay a reconcile.
 * @module
 */
import { randomUUID } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import type { Counter, MetricsRegistry } from "../../core/metrics.ts";
import { isSubdomain } from "../../core/text/label.ts";
import { toMessage } from "../../core/text/printable.ts";
import type { KubeClient } from "../api/client.ts";
import { isKubeError, KubeError } from "../api/errors.ts";
import { type Correlation, EventCorrelator } from "./correlator.ts";
import { EVENTS, type KubeEvent } from "../kinds/event.ts";
import type { KubeObject } from "../kinds/resource.ts";

/** The content of an Event. */
export interface EventOptions {
  readonly type: "Normal" | "Warning";
  /** UpperCamelCase word; frozen after its first release. */
  readonly reason: string;
  /** Text for operators. */
  readonly message: string;
}

/** Accepts Events. Never blocks and never throws. */
export interface EventRecorder {
  record(object: KubeObject, event: EventOptions): void;
}

/** What {@linkcode createEventSender} needs. */
interface EventSenderOptions {
  readonly client: KubeClient;
  /** Host of the process; without it the Event names none. */
  readonly host?: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: EventMetrics;
  /** Random part of names and of the first retry, in [0, 1). @default {Math.random} */
  readonly random?: () => number;
}

/** Metrics of the Events of a process, by `result`: */
export interface EventMetrics {
  /** `sent`, `failed`, `dropped` (queue full, or process stopped), `filtered` (too many on one object). */
  readonly events: Counter;
}

/** The queue of Events that all components of a process share. `run` delivers them. */
export interface EventSender {
  /** A recorder for a component, such as `cloud-node-controller`. */
  speakAs(component: string): EventRecorder;
  /** Delivers until the signal aborts, then tries the rest once, for 2 s at most. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

const QUEUE_SIZE_MAX = 1_000;
const TRIES_MAX = 12;
const RETRY_GAP_MS = 10_000;
/** Nanoseconds in a millisecond. */
const SERIAL_MAX = 1_000_000;
const FLUSH_MS_MAX = 2_000;
const ALREADY_EXISTS = 409;

/** Registers the metrics of Events. Call it once for a registry and hand the result to the sender. */
export function createEventMetrics(registry: MetricsRegistry): EventMetrics {
  return {
    events: registry.counter({
      name: "landfall_events_total",
      help: "Events by result: sent, failed, dropped, filtered.",
    }),
  };
}

/**
 * Creates a sender of core/v1 Events as client-go's `tools/record` package writes them.
 *
 * Equal Events become one with a count. From ten different messages in ten minutes on they are combined. After 25 on
 * one object they are dropped, except one in five minutes. At most 1,000 wait; further ones are dropped.
 */
export function createEventSender(options: EventSenderOptions): EventSender {
  return new BackgroundSender(options);
}

class BackgroundSender implements EventSender {
  readonly #options: EventSenderOptions;
  readonly #correlator = new EventCorrelator();
  readonly #queue: KubeEvent[] = [];
  /** Kinds of refusals that were logged as warnings since the last success. */
  readonly #warned = new Set<string>();
  /** Starts at random: two processes may write about one object in the same millisecond. */
  #serial: number;
  #wake: (() => void) | undefined;

  constructor(options: EventSenderOptions) {
    this.#options = options;
    this.#serial = Math.floor((options.random ?? Math.random)() * SERIAL_MAX);
  }

  speakAs(component: string): EventRecorder {
    return { record: (object, event) => this.#record(component, object, event) };
  }

  #record(component: string, object: KubeObject, event: EventOptions): void {
    if (this.#queue.length >= QUEUE_SIZE_MAX) return this.#count("dropped");
    this.#queue.push(this.#toEvent(component, object, event));
    this.#wake?.();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    // Requests may continue for a moment after the signal, so that they arrive.
    const flush = new AbortController();
    const ended = new AbortController();
    const end = (): void => {
      this.#wake?.();
      const timeout = (): void => flush.abort(new Error("the process stops"));
      clock.sleep(FLUSH_MS_MAX, ended.signal).then(timeout, () => undefined);
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
    try {
      await this.#work(signal, flush.signal);
    } finally {
      signal.removeEventListener("abort", end);
      ended.abort();
    }
  }

  async #work(signal: AbortSignal, flush: AbortSignal): Promise<void> {
    while (!flush.aborted) {
      const event = this.#queue.shift();
      if (event === undefined) {
        if (signal.aborted) return;
        await new Promise<void>((resolve) => (this.#wake = resolve));
        this.#wake = undefined;
        continue;
      }
      const correlation = this.#correlator.correlate(event, this.#options.clock.monotonic());
      if (correlation.kind === "drop") this.#count("filtered");
      else await this.#deliver(correlation, signal, flush);
    }
    this.#count("dropped", this.#queue.splice(0).length);
  }

  /** Tries again until there is an answer. Any answer is final. */
  async #deliver(
    correlation: Exclude<Correlation, { kind: "drop" }>,
    signal: AbortSignal,
    flush: AbortSignal,
  ): Promise<void> {
    const { clock, random = Math.random } = this.#options;
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#send(correlation, flush);
        this.#warned.clear();
        return this.#count("sent");
      } catch (error) {
        const code = error instanceof KubeError ? error.code : 0;
        // An earlier try arrived, but not its answer.
        if (tries > 1 && code === ALREADY_EXISTS) return this.#count("sent");
        const unanswered = code === undefined;
        if (!unanswered || tries >= TRIES_MAX || flush.aborted) {
          return this.#giveUp(correlation.event, error);
        }
        // After the stop each Event has one try.
        if (signal.aborted) return this.#giveUp(correlation.event, error);
        // Random, so that not all clients return to the API server at the same moment.
        const gapMs = tries === 1 ? RETRY_GAP_MS * random() : RETRY_GAP_MS;
        await clock.sleep(gapMs, signal).catch(() => undefined);
      }
    }
  }

  async #send(
    correlation: Exclude<Correlation, { kind: "drop" }>,
    signal: AbortSignal,
  ): Promise<void> {
    const { client } = this.#options;
    const { event } = correlation;
    const { name, namespace = "default" } = event.metadata;
    if (correlation.kind === "patch") {
      try {
        const patch = { type: "strategic", body: correlation.patch } as const;
        await client.patch(EVENTS, { namespace, name }, patch, signal);
        return;
      } catch (error) {
        // The API server deletes Events after about an hour. Then this one is created again, with its count.
        if (!isKubeError(error, "notFound")) throw error;
      }
    }
    await client.create(EVENTS, { namespace }, event, signal);
  }

  #giveUp({ reason, involvedObject }: KubeEvent, error: unknown): void {
    this.#count("failed");
    const fields = { reason, object: `${involvedObject.kind}/${involvedObject.name}`, error };
    const kind = error instanceof KubeError ? error.kind : "error";
    const { log } = this.#options;
    if (this.#warned.has(kind)) return log.debug("Cannot write an Event", fields);
    this.#warned.add(kind);
    log.warn("Cannot write an Event", fields);
  }

  #toEvent(
    component: string,
    { apiVersion, kind, metadata }: KubeObject,
    event: EventOptions,
  ): KubeEvent {
    const { host, clock } = this.#options;
    const { name, namespace, uid, resourceVersion } = metadata;
    const nowMs = clock.now();
    const time = toTime(nowMs);
    return {
      apiVersion: EVENTS.apiVersion,
      kind: EVENTS.kind,
      // Events on objects without a namespace belong here: the API server refuses any other namespace.
      metadata: { name: this.#toName(name, nowMs), namespace: namespace || "default" },
      involvedObject: {
        ...(kind !== undefined && { kind }),
        ...(apiVersion !== undefined && { apiVersion }),
        ...(namespace && { namespace }),
        name,
        ...(uid !== undefined && { uid }),
        ...(resourceVersion !== undefined && { resourceVersion }),
      },
      type: event.type,
      reason: event.reason,
      message: toMessage(event.message),
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      source: { component, ...(host !== undefined && { host }) },
      reportingComponent: component,
      reportingInstance: host ?? "",
    };
  }

  /** `<object>.<hex of Unix nanoseconds>`. The clock counts milliseconds; the other digits make names unique. */
  #toName(object: string, nowMs: number): string {
    this.#serial = (this.#serial + 1) % SERIAL_MAX;
    const nanos = BigInt(Math.trunc(nowMs)) * 1_000_000n + BigInt(this.#serial);
    const name = `${object}.${nanos.toString(16)}`;
    return isSubdomain(name) ? name : randomUUID();
  }

  #count(result: "sent" | "failed" | "dropped" | "filtered", events = 1): void {
    if (events > 0) this.#options.metrics?.events.inc({ result }, events);
  }
}

/** The time format of core/v1: RFC 3339 in whole seconds. */
function toTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
