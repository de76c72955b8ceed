/**
 * What Xen Orchestra says of changes as they happen (server-sent events, since 5.113), as hints that something changed.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import type { ChangeHint } from "../../../cloud/provider.ts";
import { toBackoffMs } from "../../../core/backoff.ts";
import { readPieces } from "../../../core/net/body.ts";
import type { Clock } from "../../../core/clock.ts";
import { findErrorCode, toConnectionProblem } from "../../../core/net/connection_problem.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import type { Logger } from "../../../core/log.ts";
import type { Gauge, MetricsRegistry } from "../../../core/metrics.ts";
import { parseUuid } from "../../../core/text/uuid.ts";
import { openStream, sendRequest, toReplyError, type Reply } from "../session/http.ts";
import type { Session } from "../session/session.ts";
import { type ServerSentEvent, SseParser } from "./sse.ts";

/** What an {@linkcode EventFeed} lives on. */
export interface EventFeedOptions {
  readonly session: Pick<Session, "exchange">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Randomness of the back-off, in [0, 1). @default {Math.random} */
  readonly random?: () => number;
}

/** Told of what may have changed. */
type OnHint = (hint: ChangeHint) => void;

/**
 * What is subscribed to: every field that an inventory is made of, so that nothing is sent for others. Of CPUs and
 * memory only what is configured: what a VM uses just now changes all the time.
 */
export const SUBSCRIPTIONS: Readonly<Record<string, readonly string[]>> = {
  VM: [
    "id",
    "name_label",
    "power_state",
    "CPUs.max",
    "memory.static",
    "mainIpAddress",
    "addresses",
    "$container",
    "$pool",
    "tags",
    "current_operations",
  ],
  host: ["id", "name_label", "$pool", "tags", "controlDomain"],
  pool: ["id", "name_label", "master"],
};

const STREAM_TYPE = "text/event-stream";
const CHANGES: ReadonlySet<string> = new Set(["add", "update", "remove"]);
/** Until everything is subscribed to. */
const OPEN_TIMEOUT_MS = 10_000;
/** The server pings every 30 s: two may be missed. */
const SILENCE_MS = 75_000;
/** A stream that lived so long was a good one: the next is opened soon. */
const STEADY_MS = 60_000;
const BACKOFF = { baseMs: 1_000, capMs: 60_000, jitter: 0.5 };
/**
 * How soon a refusal is tried again that follows a loss, once: while it starts, Xen Orchestra refuses good tokens for a
 * moment.
 */
const REFUSED_ONCE_MS = 5_000;
/** How often a server that has no events is asked again: it may have been upgraded. */
const PROBE_INTERVAL_MS = 600_000;

/** A server that has no events, or not for this user. No failure: refreshes do without. */
class Unsupported extends Error {
  override readonly name = "Unsupported";
}

/** Follows the events of one Xen Orchestra. */
export class EventFeed {
  readonly #options: EventFeedOptions;
  readonly #connected: Gauge;
  /** What was last told in the log: once each. */
  #told: "connected" | "unsupported" | "broken" | undefined;
  /** Whether there was a stream: then what looks like a server without events is something in between, for a while. */
  #hasWorked = false;

  constructor(options: EventFeedOptions) {
    this.#options = options;
    this.#connected = options.metrics.gauge({
      name: "landfall_change_stream_connected",
      help: "1 while the cloud tells of changes as they happen, else 0; absent when it never can.",
    });
  }

  /** Follows until the signal aborts; then returns. See `Changes.watchChanges`. */
  async run(onHint: OnHint, signal: AbortSignal): Promise<void> {
    const { clock, log, random } = this.#options;
    this.#connected.set(0);
    let wasLost = false;
    for (let failures = 0; !signal.aborted;) {
      const startedMs = clock.monotonic();
      const error = await this.#follow(onHint, signal);
      this.#connected.set(0);
      if (signal.aborted) break;
      failures = clock.monotonic() - startedMs >= STEADY_MS ? 1 : failures + 1;
      const isUnsupported = error instanceof Unsupported && !this.#hasWorked;
      this.#tell(isUnsupported ? "unsupported" : "broken", error);
      const backoffMs = toBackoffMs(failures, { ...BACKOFF, ...(random && { random }) });
      const isRefused = error instanceof CloudError && error.kind === "denied";
      const leastMs = isUnsupported ? PROBE_INTERVAL_MS : toLeastMs(error);
      const waitMs =
        isRefused && wasLost
          ? Math.max(REFUSED_ONCE_MS, error.retryAfterMs ?? 0)
          : Math.max(backoffMs, leastMs);
      wasLost = !isRefused && !isUnsupported;
      log.debug("Changes are followed again later", {
        retryIn: formatDuration(Math.round(waitMs)),
        error,
      });
      await clock.sleep(waitMs, signal).catch(() => undefined);
    }
  }

  /** Follows one stream. Returns why it ended. */
  async #follow(onHint: OnHint, signal: AbortSignal): Promise<unknown> {
    const ending = new AbortController();
    const both = AbortSignal.any([signal, ending.signal]);
    const guard = new SilenceGuard(this.#options.clock, ending, both);
    try {
      const body = await this.#open(both);
      let hasBegun = false;
      for await (const events of readEvents(body)) {
        guard.note();
        for (const { event, data } of events) {
          // A stream begins once; whatever says so again must not cost requests.
          if (event !== "init" || hasBegun) continue;
          hasBegun = true;
          await this.#subscribe(toId(data), both);
          guard.setLimit(SILENCE_MS);
          this.#connected.set(1);
          this.#hasWorked = true;
          this.#tell("connected");
          onHint("everything");
        }
        const hint = toHint(events);
        if (hint !== undefined) onHint(hint);
      }
      return new CloudError("unreachable", "Xen Orchestra ended the stream of events");
    } catch (error) {
      // What broke off because it was ended here did so for that reason.
      return both.aborted ? both.reason : error;
    } finally {
      ending.abort(new Error("the stream is over"));
    }
  }

  async #open(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const { session } = this.#options;
    const request = { operation: "open_events", path: "/events" };
    const { body, ...head } = await session.exchange(
      request,
      (way) => openStream({ ...way, signal }, STREAM_TYPE),
      signal,
    );
    if (body === undefined) throw toRefusal(head, "GET /events");
    return body;
  }

  async #subscribe(id: string, signal: AbortSignal): Promise<void> {
    const { session } = this.#options;
    const path = `/events/${encodeURIComponent(id)}/subscriptions`;
    await Promise.all(
      Object.entries(SUBSCRIPTIONS).map(async ([collection, fields]) => {
        const reply = await session.exchange(
          { operation: "subscribe_events", path },
          ({ headers, ...way }) => {
            const sent = { ...headers, "content-type": "application/json" };
            const body = JSON.stringify({ collection, fields });
            return sendRequest({ ...way, method: "POST", headers: sent, body, signal });
          },
          signal,
        );
        if (reply.status === 200 || reply.status === 201) return;
        // The stream ended meanwhile; the next one may do.
        const isGone = reply.status === 404 && reply.json !== undefined;
        const what = `the subscription to ${collection}`;
        throw isGone ? toReplyError(reply, what) : toRefusal(reply, what);
      }),
    );
  }

  #tell(what: "connected" | "unsupported" | "broken", error?: unknown): void {
    const { log } = this.#options;
    if (this.#told === what) return;
    this.#told = what;
    if (what === "connected") log.info("Xen Orchestra tells of changes as they happen");
    else if (what === "broken")
      log.info("Changes are seen by asking, until events are back", { error });
    else log.info("Changes are seen by asking: Xen Orchestra has no events", { error });
  }
}

/** Ends a stream of which nothing was heard for too long. */
class SilenceGuard {
  readonly #clock: Clock;
  #heardMs: number;
  #limitMs = OPEN_TIMEOUT_MS;

  /** @param signal Aborts with `ending`, or before */
  constructor(clock: Clock, ending: AbortController, signal: AbortSignal) {
    this.#clock = clock;
    this.#heardMs = clock.monotonic();
    this.#watch(ending, signal).catch(() => {});
  }

  /** Something was heard. */
  note(): void {
    this.#heardMs = this.#clock.monotonic();
  }

  /** Allows for a longer silence from now on. */
  setLimit(ms: number): void {
    this.#limitMs = ms;
  }

  async #watch(ending: AbortController, signal: AbortSignal): Promise<void> {
    for (;;) {
      const leftMs = this.#heardMs + this.#limitMs - this.#clock.monotonic();
      if (leftMs <= 0) break;
      await this.#clock.sleep(leftMs, signal);
    }
    const message = `Xen Orchestra sent no event for ${this.#limitMs / 1_000} s`;
    ending.abort(new CloudError("unreachable", message));
  }
}

/** Yields what each piece of a stream completes; nothing, too. Ending the iteration closes the connection. */
async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<readonly ServerSentEvent[], void> {
  const parser = new SseParser();
  try {
    for await (const text of readPieces({ body }, { bytesMax: Infinity, isCut: true })) {
      yield parser.push(text);
    }
  } catch (error) {
    // What has no code is ours.
    if (findErrorCode(error) === "") throw error;
    const cause = toConnectionProblem(error);
    const message = `the stream of events broke: ${cause.message}`;
    throw new CloudError("unreachable", message, { cause });
  }
}

/** What some events hint at; nothing when none tells of a change. */
function toHint(events: readonly ServerSentEvent[]): ChangeHint | undefined {
  const ids = new Set<string>();
  for (const { event, data } of events) {
    if (!CHANGES.has(event)) continue;
    const { $subscription: type, id } = parseData(data);
    // Every VM may be on a host, or in a pool, that changed. The same goes for what cannot be read.
    const vmId = typeof id === "string" ? parseUuid(id) : undefined;
    if (type !== "VM" || vmId === undefined) return "everything";
    ids.add(vmId);
  }
  return ids.size > 0 ? ids : undefined;
}

function toId(data: string): string {
  const { id } = parseData(data);
  if (typeof id === "string" && id !== "") return id;
  throw new CloudError("protocol", "Xen Orchestra began a stream of events without an ID");
}

function parseData(data: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** How long to wait at least after a failure. */
function toLeastMs(error: unknown): number {
  if (error instanceof Unsupported) return BACKOFF.capMs;
  if (!(error instanceof CloudError)) return 0;
  // Whether a token is good is for refreshes to find out: each try here would hold up the next of theirs.
  return error.kind === "denied" ? BACKOFF.capMs : (error.retryAfterMs ?? 0);
}

/** A server in trouble is asked again soon; one that says no is not. */
function toRefusal(reply: Reply, what: string): Error {
  const { message } = toReplyError(reply, what);
  if (reply.status === 429 || reply.status >= 500) return toReplyError(reply, what);
  return new Unsupported(message);
}
