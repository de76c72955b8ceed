/**
 * The next step of a watcher: list, watch or list again, at which version, and after which pause. Pure.
 * @module
 */
import { toBackoffMs } from "../../core/backoff.ts";
import { KubeError } from "../api/errors.ts";

/** The state of a watcher between two requests. */
export interface WatcherState {
  readonly phase: "list" | "watch";
  /** Last version seen, opaque; absent before the first list. */
  readonly resourceVersion: string | undefined;
  /** How many watches in a row were opened at the same version and brought no data. */
  readonly idleRetries: number;
  /** The last watch had little data, or there was none. The next one is opened for a short piece. */
  readonly isQuiet: boolean;
}

/** How a request ended. `resourceVersion` is the last version that a watch reached. */
export type WatcherOutcome =
  | { readonly kind: "listed"; readonly resourceVersion: string }
  | {
      readonly kind: "ended";
      readonly resourceVersion: string;
      readonly events: number;
      readonly durationMs: number;
    }
  /** Landfall ended it because it was silent for too long. */
  | { readonly kind: "silent"; readonly resourceVersion: string }
  /** The store needs a list. */
  | { readonly kind: "outdated" }
  | {
      readonly kind: "failed";
      readonly resourceVersion?: string;
      readonly events: number;
      readonly error: unknown;
    };

/** The next request, and the pause before it. */
export interface WatcherStep {
  readonly state: WatcherState;
  /** `none`: immediately · `gap`: at least a second after the last opening · `backoff`: by the number of failures. */
  readonly pause: "none" | "gap" | "backoff";
  /** Why a running watcher starts a request again, for logs and metrics; absent after a successful list. */
  readonly reason?: string;
}

/** The start: nothing is known. */
export const FIRST_STATE: WatcherState = {
  phase: "list",
  resourceVersion: undefined,
  idleRetries: 0,
  isQuiet: true,
};

/** If a watch without data ends sooner than this, it is an error. */
const WATCH_MS_MIN = 1_000;
/** After this many watches in a row without data, the version is suspect, and a list decides. */
const IDLE_RETRIES_MAX = 5;
/**
 * How many seconds a quiet watch stays open, and the random part of that. The server ends it in time, on a connection
 * that is then used again. This costs one small request, and proves that the connection is not silent.
 */
const QUIET_SECONDS = { least: 30, spread: 5 } as const;
/**
 * The same for any other watch: its data proves that the connection works. The random part keeps watches from ending at
 * the same time.
 */
const LONG_SECONDS = { least: 300, spread: 300 } as const;
/**
 * A watch with data less often than this, on average, is quiet. Eight times as long without data is silence. A watch
 * that ended sooner than a short piece proves nothing.
 */
const QUIET_MS_MIN = 5_000;
/** The pace of client-go's reflector: 0.8 s to 30 s, and jitter that doubles it at most. */
const BACKOFF = { baseMs: 800, capMs: 30_000, jitter: 1 } as const;
const BACKOFF_RESET_MS = 120_000;

/** How many seconds the server should keep the watch open. @param random In [0, 1) */
export function toWatchSeconds({ isQuiet }: WatcherState, random: () => number): number {
  const { least, spread } = isQuiet ? QUIET_SECONDS : LONG_SECONDS;
  return least + Math.floor(random() * spread);
}

/** Decides the next step after any outcome. Every cycle of steps has a pause. */
export function toNextStep(state: WatcherState, outcome: WatcherOutcome): WatcherStep {
  if (outcome.kind === "listed") return afterList(state, outcome);
  if (outcome.kind === "ended") return afterEnd(state, outcome);
  if (outcome.kind === "silent") return afterSilence(state, outcome);
  if (outcome.kind === "outdated") {
    const next = { ...state, phase: "list", idleRetries: 0 } as const;
    return { state: next, pause: "none", reason: "outdated" };
  }
  return state.phase === "list"
    ? { state, pause: "backoff", reason: toReason(outcome.error) }
    : afterWatchFailure(state, outcome);
}

function afterList(
  state: WatcherState,
  { resourceVersion }: Extract<WatcherOutcome, { kind: "listed" }>,
): WatcherStep {
  return { state: { ...state, phase: "watch", resourceVersion }, pause: "none" };
}

function afterEnd(
  state: WatcherState,
  { resourceVersion, events, durationMs }: Extract<WatcherOutcome, { kind: "ended" }>,
): WatcherStep {
  const next = { ...state, resourceVersion };
  if (events === 0 && durationMs < WATCH_MS_MIN) return retryWatch(next, "short");
  const isQuiet = events * QUIET_MS_MIN < Math.max(durationMs, QUIET_SECONDS.least * 1_000);
  return { state: { ...next, idleRetries: 0, isQuiet }, pause: "gap", reason: "ended" };
}

/** No failure: the server may have had no news, or the news is still in its cache. */
function afterSilence(
  state: WatcherState,
  { resourceVersion }: Extract<WatcherOutcome, { kind: "silent" }>,
): WatcherStep {
  const next = { ...state, resourceVersion, idleRetries: 0, isQuiet: true };
  return { state: next, pause: "gap", reason: "silent" };
}

function afterWatchFailure(
  state: WatcherState,
  outcome: Extract<WatcherOutcome, { kind: "failed" }>,
): WatcherStep {
  const { error, events, resourceVersion = state.resourceVersion } = outcome;
  const next = { ...state, resourceVersion, idleRetries: events > 0 ? 0 : state.idleRetries };
  const reason = toReason(error);
  if (isPassing(error)) return retryWatch(next, reason);
  return { state: { ...next, phase: "list", idleRetries: 0 }, pause: "backoff", reason };
}

/** Watches again at the same version. Nothing was lost, so no list is needed. */
function retryWatch(state: WatcherState, reason: string): WatcherStep {
  const idleRetries = state.idleRetries + 1;
  return idleRetries < IDLE_RETRIES_MAX
    ? { state: { ...state, idleRetries }, pause: "backoff", reason }
    : { state: { ...state, phase: "list", idleRetries: 0 }, pause: "backoff", reason };
}

/** No answer, a broken connection, or a busy server: the version may still be good. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof KubeError)) return false;
  return error.kind === "throttled" || (error.kind === "unavailable" && error.code === undefined);
}

function toReason(error: unknown): string {
  return error instanceof KubeError ? error.kind : "error";
}

/** Pauses after failures. They grow with each failure in a row, and start small again after two good minutes. */
export class RestartBackoff {
  readonly #random: () => number;
  #failures = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  /** @param random Randomness of the jitter, in [0, 1) */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Notes that the cause of the failures is gone. */
  reset(): void {
    this.#failures = 0;
  }

  /** Counts a failure at this monotonic time. @returns The pause in milliseconds */
  next(nowMs: number): number {
    if (nowMs - this.#lastMs > BACKOFF_RESET_MS) this.#failures = 0;
    this.#lastMs = nowMs;
    this.#failures += 1;
    return toBackoffMs(this.#failures, { ...BACKOFF, random: this.#random });
  }
}
