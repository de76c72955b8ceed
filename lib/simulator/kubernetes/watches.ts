/**
 * Watches: streams of changes from a version on, with bookmarks and a time-out.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { expired, type ApiError } from "./api_error.ts";
import { encodeBookmark, encodeEvent, encodeObject, type Form } from "./requests/encoding.ts";
import type { Faults } from "./faults.ts";
import { type Scope, type Selector, toSelector, toVersion } from "./lists.ts";
import type { Registry } from "./registry.ts";
import type { Kind } from "./schema/kind.ts";
import type { Change, Collection, Stored } from "./store.ts";

// A watch without a time-out gets one between 30 and 60 minutes from the real server.
const TIMEOUT_DEFAULT_MS = 30 * 60_000;
const BOOKMARK_INTERVAL_MS = 60_000;
// The real server sends a last bookmark this long before a watch ends.
const BOOKMARK_LEAD_MS = 2000;

/** The dependencies of a watch. */
interface WatchContext {
  readonly clock: Clock;
  readonly registry: Registry;
  readonly faults: Faults;
}

/** Open watches, and the way to end them. */
export class Watches {
  readonly #context: WatchContext;
  readonly #open = new Set<Watch>();
  readonly #encoder = new TextEncoder();

  constructor(context: WatchContext) {
    this.#context = context;
  }

  /** How many watches are open. */
  get count(): number {
    return this.#open.size;
  }

  /**
   * Opens a watch. The stream ends after its timeout, with {@linkcode drop}, or when the reader closes it.
   *
   * @throws ApiError 400 for a query that cannot be read; 410 when the version is gone and `goneForm` is `http`
   */
  open(scope: Scope, query: URLSearchParams, form: Form): ReadableStream<Uint8Array> {
    const { clock, registry, faults } = this.#context;
    const selects = toSelector(scope, query);
    const version = toVersion(query.get("resourceVersion"));
    const collection = registry.collection(scope.kind);
    const initial = query.get("sendInitialEvents") === "true";
    const missed = version === 0 || initial ? [] : collection.changesSince(version);
    const gone = missed === undefined ? goneWatch(version, registry.versions.last) : undefined;
    if (gone !== undefined && faults.goneForm === "http") throw gone;
    const stop = new AbortController();
    let watch: Watch | undefined;
    const close = (): void => {
      stop.abort();
      if (watch !== undefined) this.#open.delete(watch);
    };
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const send = (line: string): void => controller.enqueue(this.#encoder.encode(line));
          const end = (): void => {
            if (stop.signal.aborted) return;
            close();
            controller.close();
          };
          watch = new Watch(scope, { form, selects, send, end, faults, clock });
          // Bun sends the headers only with a body. JSON ignores the space before the first line, and the client sees
          // at once that its watch is open.
          send(" ");
          if (gone !== undefined) {
            watch.fail(gone);
            return;
          }
          this.#open.add(watch);
          if (version === 0 || initial) {
            for (const [, stored] of collection.entries()) watch.show(stored);
          }
          if (initial) watch.endInitial(registry.versions.last);
          else for (const change of missed ?? []) watch.pass(change);
          const unsubscribe = collection.subscribe(watch.pass);
          stop.signal.addEventListener("abort", unsubscribe, { once: true });
          void keepTime(watch, { clock, query, collection, signal: stop.signal });
        },
        cancel: close,
      },
      // Events wait in memory for a slow reader: a simulator has few of them.
      { highWaterMark: Infinity },
    );
  }

  /** Ends all open watches cleanly, like a server that restarts. */
  drop(): void {
    for (const watch of this.#open) watch.end();
  }

  /** Ends the watches of a kind that is no longer served. */
  endOf(kind: Kind): void {
    for (const watch of this.#open) if (watch.kind === kind) watch.end();
  }

  /** Sends `ERROR` 410 into all open watches and ends them. */
  expire(): void {
    const { last } = this.#context.registry.versions;
    for (const watch of this.#open) watch.fail(goneWatch(0, last));
  }

  /** Sends a bookmark into each open watch that asked for bookmarks. */
  bookmark(): void {
    for (const watch of this.#open) watch.bookmark(this.#context.registry.versions.last);
  }
}

function goneWatch(version: number, current: number): ApiError {
  return expired(`too old resource version: ${version} (${current})`);
}

interface WatchParts {
  readonly form: Form;
  readonly selects: Selector;
  readonly send: (line: string) => void;
  readonly end: () => void;
  readonly faults: Faults;
  readonly clock: Clock;
}

class Watch {
  readonly #scope: Scope;
  readonly #parts: WatchParts;
  #sentColumns = false;
  /** Whether the client asked for bookmarks. */
  wantsBookmarks = false;

  constructor(scope: Scope, parts: WatchParts) {
    this.#scope = scope;
    this.#parts = parts;
  }

  get kind(): Kind {
    return this.#scope.kind;
  }

  /** Sends a change by this watch's selector: an object may start or stop matching. */
  readonly pass = (change: Change): void => {
    const { selects } = this.#parts;
    const was = change.previous !== undefined && selects(change.previous.object);
    const is = change.type !== "DELETED" && selects(change.current.object);
    if (is) this.#sendObject(was ? "MODIFIED" : "ADDED", change.current);
    else if (was) this.#sendObject("DELETED", change.current);
  };

  /** Sends an object in its current state, at the start of a watch. */
  show(stored: Stored): void {
    if (this.#parts.selects(stored.object)) this.#sendObject("ADDED", stored);
  }

  bookmark(version: number): void {
    if (!this.wantsBookmarks || this.#parts.faults.silentWatches) return;
    this.#parts.send(encodeEvent("BOOKMARK", encodeBookmark(this.#scope.kind, version)));
  }

  /** Says that all initial objects have been sent (`sendInitialEvents`). */
  endInitial(version: number): void {
    const { faults, send } = this.#parts;
    if (faults.silentWatches) return;
    const annotations = { "k8s.io/initial-events-end": "true" };
    send(encodeEvent("BOOKMARK", encodeBookmark(this.#scope.kind, version, annotations)));
  }

  fail(error: ApiError): void {
    this.#parts.send(encodeEvent("ERROR", JSON.stringify(error.toStatus())));
    this.end();
  }

  end(): void {
    this.#parts.end();
  }

  #sendObject(type: string, stored: Stored): void {
    const { form, faults, send, clock } = this.#parts;
    if (faults.silentWatches) return;
    // Ages are computed now, not when the watch began.
    const now = { nowMs: clock.now(), withColumns: !this.#sentColumns };
    const table = form.table && { ...form.table, ...now };
    this.#sentColumns = true;
    send(encodeEvent(type, encodeObject(this.#scope.kind, stored, { table })));
  }
}

async function keepTime(
  watch: Watch,
  options: {
    readonly clock: Clock;
    readonly query: URLSearchParams;
    readonly collection: Collection;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { clock, query, collection, signal } = options;
  const first = collection.lastChange;
  watch.wantsBookmarks = query.get("allowWatchBookmarks") === "true";
  const timeoutMs = toVersion(query.get("timeoutSeconds")) * 1000 || TIMEOUT_DEFAULT_MS;
  const end = clock.monotonic() + timeoutMs;
  const last = end - BOOKMARK_LEAD_MS;
  try {
    for (let now = clock.monotonic(); now < end; now = clock.monotonic()) {
      // Timers may fire a little early: a time-out within a millisecond counts as over.
      const next = now < last - 1 ? Math.min(now + BOOKMARK_INTERVAL_MS, last) : end;
      await clock.sleep(next - now, signal);
      // The real server sends no bookmark while nothing has changed since the watch began.
      if (next !== end && collection.lastChange > first) watch.bookmark(collection.lastChange);
    }
    watch.end();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
