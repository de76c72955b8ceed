/**
 * Reads the changes that a cloud reports as they happen (server-sent events), and reconnects after every failure.
 * @module
 */
import { createParser } from "eventsource-parser";
import { findErrorCode } from "../core/errors.ts";
import { CloudError } from "../cloud/errors.ts";
import type { ChangeHint } from "../cloud/provider.ts";
import { type Clock, toBackoffMs } from "../core/clock.ts";
import { readPieces } from "../core/http/request.ts";
import { toConnectionProblem } from "../core/http/connection.ts";
import { formatDuration } from "../core/text/values.ts";
import { type Logger, MessageDedup } from "../core/log.ts";
import type { Gauge, MetricsRegistry } from "../core/metrics.ts";

/** One event of a stream. */
export interface ServerSentEvent {
  /** Its type; `message` if the stream gives none. */
  readonly event: string;
  /** Its data; several lines are joined by newlines. */
  readonly data: string;
}

/** The event stream of one cloud. */
export interface ChangeSource {
  /** Name of the server, to begin a sentence. */
  readonly server: string;
  /** Close a stream after this many milliseconds without a byte. It is more than the time between two pings. */
  readonly silenceMs: number;
  /**
   * Opens a stream.
   *
   * @throws {Unsupported} when the server has no stream, or none for this user
   * @throws {CloudError} when the stream cannot be opened now
   */
  open(signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /**
   * Handles an event of a stream that has not begun. If the stream begins with this event, sends the requests that it
   * needs.
   *
   * @returns Whether the stream reports every change from now on
   * @throws as `open`
   */
  begin(event: ServerSentEvent, signal: AbortSignal): Promise<boolean>;
  /** Turns events into a hint; `undefined` if none reports a change. */
  toHint(events: readonly ServerSentEvent[]): ChangeHint | undefined;
}

/** What a {@linkcode ChangeFeed} needs. */
export interface ChangeFeedOptions {
  readonly source: ChangeSource;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Randomness of the back-off, in [0, 1). @default {Math.random} */
  readonly random?: () => number;
}

/** Gets what may have changed. */
type OnHint = (hint: ChangeHint) => void;

/** There are no hints for now. */
const NOTHING: ChangeHint = new Set();
/** Time within which a stream must begin. */
const OPEN_TIMEOUT_MS = 10_000;
/** After a stream that lasted this long, Landfall soon opens the next one. */
const STEADY_MS = 60_000;
const BACKOFF = { baseMs: 1_000, capMs: 60_000, jitter: 0.5 };
/**
 * Time until the one quick retry after a refusal that follows a loss: a server that starts may refuse good credentials.
 */
const REFUSED_ONCE_MS = 5_000;
/** Time between attempts with a server that has no events: it may have been upgraded. */
const PROBE_INTERVAL_MS = 600_000;

/** The server has no events, or none for this user. This is not a failure: refreshes work without events. */
export class Unsupported extends Error {
  override readonly name = "Unsupported";
}

/** Most characters of one event. An object of a cloud has some thousands. */
const EVENT_CHARS_MAX = 1024 * 1024;

/** Opens one stream after another, and gives the hint `everything` when each begins. */
export class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  readonly #connected: Gauge;
  /** The last logged state, so that the log has each state once. */
  readonly #reported = new MessageDedup();
  /** Whether a stream has worked. If the server then has "no events", that is a temporary problem in between. */
  #hasWorked = false;

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
    this.#connected = options.metrics.gauge({
      name: "landfall_change_stream_connected",
      help: "1 while the cloud reports changes as they happen, else 0; absent if the cloud has no events.",
    });
  }

  /** Reads streams until the signal aborts; then returns. See `Changes.watchChanges`. */
  async run(onHint: OnHint, signal: AbortSignal): Promise<void> {
    const { clock, log, random } = this.#options;
    this.#connected.set(0);
    let wasLost = false;
    for (let failures = 0; !signal.aborted;) {
      const startedMs = clock.monotonic();
      const error = await this.#follow(onHint, signal);
      this.#connected.set(0);
      if (signal.aborted) break;
      if (!this.#hasWorked) onHint(NOTHING);
      failures = clock.monotonic() - startedMs >= STEADY_MS ? 1 : failures + 1;
      const isUnsupported = error instanceof Unsupported && !this.#hasWorked;
      this.#logState(isUnsupported ? "unsupported" : "broken", error);
      const backoffMs = toBackoffMs(failures, { ...BACKOFF, ...(random && { random }) });
      const isRefused = error instanceof CloudError && error.kind === "denied";
      const leastMs = isUnsupported ? PROBE_INTERVAL_MS : toLeastMs(error);
      const waitMs =
        isRefused && wasLost
          ? Math.max(REFUSED_ONCE_MS, error.retryAfterMs ?? 0)
          : Math.max(backoffMs, leastMs);
      wasLost = !isRefused && !isUnsupported;
      log.debug("Landfall opens the event stream again later", {
        retryIn: formatDuration(Math.round(waitMs)),
        error,
      });
      await clock.sleep(waitMs, signal).catch(() => undefined);
    }
  }

  /** Reads one stream. Returns the reason for its end. */
  async #follow(onHint: OnHint, signal: AbortSignal): Promise<unknown> {
    const { clock, source } = this.#options;
    const ending = new AbortController();
    const both = AbortSignal.any([signal, ending.signal]);
    const guard = new SilenceGuard(clock, source.server, ending, both);
    try {
      const body = await source.open(both);
      let hasBegun = false;
      for await (const events of readEvents(body)) {
        guard.note();
        for (const event of events) {
          // A stream begins once. If the server repeats that event, it must not cause requests.
          if (hasBegun || !(await source.begin(event, both))) continue;
          hasBegun = true;
          guard.setLimit(source.silenceMs);
          this.#connected.set(1);
          this.#hasWorked = true;
          this.#logState("connected");
          onHint("everything");
        }
        const hint = source.toHint(events);
        if (hint !== undefined) onHint(hint);
      }
      return new CloudError("unreachable", `${source.server} ended the stream of events`);
    } catch (error) {
      // If this side closed the stream, the reason is that of the abort.
      return both.aborted ? both.reason : error;
    } finally {
      ending.abort(new Error("the stream is over"));
    }
  }

  #logState(what: "connected" | "unsupported" | "broken", error?: unknown): void {
    const { log, source } = this.#options;
    if (!this.#reported.isNew(what)) return;
    if (what === "connected") log.info(`${source.server} reports changes as they happen`);
    else if (what === "broken") log.info("Event stream lost; falling back to polling", { error });
    else log.info(`${source.server} has no event stream; falling back to polling`, { error });
  }
}

/** Closes a stream that is silent for too long. */
class SilenceGuard {
  readonly #clock: Clock;
  readonly #server: string;
  #heardMs: number;
  #limitMs = OPEN_TIMEOUT_MS;

  /** @param signal Aborts with `ending`, or before */
  constructor(clock: Clock, server: string, ending: AbortController, signal: AbortSignal) {
    this.#clock = clock;
    this.#server = server;
    this.#heardMs = clock.monotonic();
    this.#watch(ending, signal).catch(() => {});
  }

  /** Records that bytes arrived. */
  note(): void {
    this.#heardMs = this.#clock.monotonic();
  }

  /** Allows a longer silence from now on. */
  setLimit(ms: number): void {
    this.#limitMs = ms;
  }

  async #watch(ending: AbortController, signal: AbortSignal): Promise<void> {
    for (;;) {
      const leftMs = this.#heardMs + this.#limitMs - this.#clock.monotonic();
      if (leftMs <= 0) break;
      await this.#clock.sleep(leftMs, signal);
    }
    const message = `${this.#server} sent no event for ${this.#limitMs / 1_000} s`;
    ending.abort(new CloudError("unreachable", message));
  }
}

/**
 * Yields the events that each piece of a stream completes, which may be none. Closes the connection at the end.
 *
 * @throws {RangeError} if an event is too long
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<readonly ServerSentEvent[], void> {
  let events: ServerSentEvent[] = [];
  const parser = createParser({
    maxBufferSize: EVENT_CHARS_MAX,
    onEvent: ({ event, data }) => events.push({ event: event || "message", data }),
    onError: (error) => {
      // Unknown fields are ignored, as the standard wants it.
      if (error.type !== "max-buffer-size-exceeded") return;
      throw new RangeError(`an event is longer than ${EVENT_CHARS_MAX} characters`);
    },
  });
  try {
    for await (const text of readPieces({ body }, { bytesMax: Infinity, isCut: true })) {
      parser.feed(text);
      yield events;
      events = [];
    }
  } catch (error) {
    // An error without a code comes from this program.
    if (findErrorCode(error) === "") throw error;
    const cause = toConnectionProblem(error);
    const message = `the stream of events broke: ${cause.message}`;
    throw new CloudError("unreachable", message, { cause });
  }
}

/** Minimum wait after a failure. */
function toLeastMs(error: unknown): number {
  if (error instanceof Unsupported) return BACKOFF.capMs;
  if (!(error instanceof CloudError)) return 0;
  // Refreshes test the credentials. An attempt here would delay the next refresh.
  return error.kind === "denied" ? BACKOFF.capMs : (error.retryAfterMs ?? 0);
}
