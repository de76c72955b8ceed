/**
 * The workers of one controller: they take keys, give each reconcile a deadline or a slice, and act on its outcome.
 * @module
 */
import type { Clock } from "../core/clock.ts";
import { AssertionError, describeError } from "../core/errors.ts";
import { LeadershipLostError } from "../core/fence.ts";
import type { Logger, LogLevel } from "../core/log.ts";
import { formatDuration } from "../core/text/values.ts";
import type { LoopMetrics, WorkQueue } from "./work_queue.ts";
import { isKubeError } from "../kube/api/errors.ts";

/** What a reconcile may ask for when it succeeds. */
export interface ReconcileResult {
  /** Milliseconds after which the key is reconciled again in any case. Absent: only when something changes. */
  readonly requeueAfterMs?: number;
  /**
   * No decision yet; other code adds the key again when there can be one, or {@linkcode requeueAfterMs} passes. Counts
   * neither as success nor as failure.
   */
  readonly isPending?: boolean;
}

/** The last reconcile of a key. Times are wall-clock milliseconds since the epoch. */
export interface ReconcileOutcome {
  /** When it ended. */
  readonly at: number;
  readonly outcome: ReconcileOutcomeKind;
  /** In one line; absent after a success. */
  readonly error?: string;
  /** When the key is next reconciled without a change; absent if it waits for a change. */
  readonly nextAt?: number;
}

/** What workers need. */
export interface WorkersOptions {
  /** Name in logs and metrics: `cloud-node`. */
  readonly name: string;
  /** What a key is the name of, in logs: `node`. */
  readonly noun: string;
  /** Other code adds keys; shut down when the workers end. */
  readonly queue: WorkQueue;
  /** How many keys are worked on at once. */
  readonly workers: number;
  /**
   * Brings one key to its desired state. It reads the state by the key and does not know why it was called.
   *
   * @param detach Gives the worker back now, because the reconcile is about to wait for other work
   */
  readonly reconcile: (
    key: string,
    signal: AbortSignal,
    detach: () => void,
  ) => Promise<ReconcileResult | void>;
  /**
   * How long a reconcile may hold a worker, in milliseconds; after that it goes on without one, for any time, so that
   * other keys are not held up. @default {until it ends}
   */
  readonly sliceMs?: number | undefined;
  /** Whether the object of a key still exists; other keys are forgotten. @default {not known} */
  readonly exists?: (key: string) => boolean;
  /** Whether a success removes the outcome of its key, to keep only failures. @default {false} */
  readonly forgetsSuccesses?: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: LoopMetrics;
}

/** Longest time for one reconcile without a slice, with all its requests. */
const RECONCILE_TIMEOUT_MS = 60_000;
/**
 * How long a reconcile may continue after a stop: longer than any healthy write, and short enough that the process ends
 * within 5 s, with its last Events.
 */
const GRACE_MS = 2_500;
/** How long a reconcile may take to obey its signal before its worker abandons it. */
const OBEY_MS = 1_000;
/** The reason that ends the timer of a reconcile: it is never shown, and an error would cost a stack trace. */
const ENDED = "ended";

/**
 * The workers of one controller, ready to run once.
 *
 * | a reconcile ends with | then |
 * |---|---|
 * | success, but pending | failures and the last outcome do not change; again as after a success |
 * | success | failures forgotten; again after `requeueAfterMs` if it asked for that |
 * | conflict | back-off, without a warning: another program wrote first |
 * | notFound, and the object is gone | done |
 * | notFound, and the watch still shows the object | back-off, with a warning from the second time on |
 * | an error with `retryAfterMs` | again after that time; not counted as a failure |
 * | {@linkcode AssertionError} | `run` stops everything and rejects with it |
 * | any other error, or no end in time | warning and back-off |
 *
 * A reconcile that does not obey its signal within a second is abandoned, and its key is tried again later. It can no
 * longer reach a server, because requests refuse an aborted signal.
 */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #log: Logger;
  readonly #outcomes = new Map<string, ReconcileOutcome>();
  /** Every reconcile that has not ended, with a worker or without one. */
  readonly #running = new Set<Promise<void>>();

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#log = options.log.with({ controller: options.name });
  }

  /** The last reconcile of each key, for the debug pages. */
  get outcomes(): ReadonlyMap<string, ReconcileOutcome> {
    return this.#outcomes;
  }

  /**
   * Works until the signal aborts. Then it takes no new keys and lets running reconciles finish. It aborts them after
   * the grace, or at once if the reason is a {@linkcode LeadershipLostError}. Rejects only with an {@linkcode
   * AssertionError}.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, queue, workers } = this.#options;
    const broken = new AbortController();
    const force = new AbortController();
    const ended = new AbortController();
    const stop = AbortSignal.any([signal, broken.signal]);
    const startGrace = (): void => {
      const end = (): void => force.abort(stop.reason);
      // Another process may act at any moment.
      if (stop.reason instanceof LeadershipLostError) return end();
      clock.sleep(GRACE_MS, ended.signal).then(end, () => undefined);
    };
    if (stop.aborted) startGrace();
    else stop.addEventListener("abort", startGrace, { once: true });
    const reconcile = (key: string, detach: () => void): Promise<void> =>
      this.#reconcile(key, force.signal, detach).catch((error: unknown) => broken.abort(error));
    await Promise.all(Array.from({ length: workers }, () => this.#work(stop, reconcile)));
    await Promise.all(this.#running);
    stop.removeEventListener("abort", startGrace);
    ended.abort();
    queue.shutDown();
    broken.signal.throwIfAborted();
  }

  async #work(
    stop: AbortSignal,
    reconcile: (key: string, detach: () => void) => Promise<void>,
  ): Promise<void> {
    const { queue } = this.#options;
    while (!stop.aborted) {
      const key = await queue.get(stop).catch(() => undefined); // only the stop can reject this
      if (key === undefined) return;
      if (stop.aborted) return queue.done(key);
      const detached = Promise.withResolvers<void>();
      // The queue hands a key out again only when its reconcile has ended.
      const running = reconcile(key, detached.resolve).finally(() => {
        this.#running.delete(running);
        queue.done(key);
      });
      this.#running.add(running);
      await Promise.race([running, detached.promise]);
    }
  }

  async #reconcile(key: string, force: AbortSignal, detach: () => void): Promise<void> {
    try {
      const result = await this.#attempt(key, force, detach);
      if (result?.isPending) return this.#notePending(key, result);
      this.#settle(key, { outcome: "ok", retry: result?.requeueAfterMs ?? "change" });
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      if (force.aborted) return;
      this.#settle(key, toVerdict(error, this.#howGone(key)));
    }
  }

  /** What an answer that something does not exist may mean. */
  #howGone(key: string): Absence {
    const { exists, queue } = this.#options;
    if (exists?.(key) !== true) return "gone";
    return queue.failures(key) === 0 ? "maybe" : "exists";
  }

  /** One call of `reconcile` with its own signal, which aborts by `force`, or without a slice at its deadline. */
  async #attempt(
    key: string,
    force: AbortSignal,
    detach: () => void,
  ): Promise<ReconcileResult | void> {
    const { clock, reconcile, sliceMs } = this.#options;
    const attempt = new AbortController();
    const ended = new AbortController();
    const cancel = (): void => attempt.abort(force.reason);
    const expire = (): void =>
      attempt.abort(new ReconcileTimeoutError(`no end within ${RECONCILE_TIMEOUT_MS / 1_000} s`));
    if (force.aborted) cancel();
    else force.addEventListener("abort", cancel, { once: true });
    const onTime = sliceMs === undefined ? expire : detach;
    clock.sleep(sliceMs ?? RECONCILE_TIMEOUT_MS, ended.signal).then(onTime, () => undefined);
    const disobeyed = this.#untilDisobeyed(key, attempt.signal, ended.signal);
    try {
      return await Promise.race([reconcile(key, attempt.signal, detach), disobeyed]);
    } finally {
      ended.abort(ENDED);
      force.removeEventListener("abort", cancel);
    }
  }

  /** Rejects if the reconcile still runs a while after `attempt` was aborted. */
  #untilDisobeyed(key: string, attempt: AbortSignal, ended: AbortSignal): Promise<never> {
    const { clock } = this.#options;
    return new Promise((_resolve, reject) => {
      const leave = (): void => {
        this.#log.error("Reconcile ignores its signal; abandoning it", {
          [this.#options.noun]: key,
        });
        reject(attempt.reason);
      };
      const wait = (): void => {
        clock.sleep(OBEY_MS, ended).then(leave, () => undefined);
      };
      if (attempt.aborted) wait();
      else attempt.addEventListener("abort", wait, { once: true });
    });
  }

  /** Keeps the last outcome and the count of failures; only the time of the next try is unknown now. */
  #notePending(key: string, { requeueAfterMs }: ReconcileResult): void {
    if (requeueAfterMs !== undefined) this.#options.queue.addAfter(key, requeueAfterMs);
    const last = this.#outcomes.get(key);
    if (last === undefined) return;
    const { nextAt: _past, ...rest } = last;
    this.#outcomes.set(key, rest);
  }

  #settle(key: string, { outcome, retry, level, error }: Verdict): void {
    const { name, noun, queue, clock, exists, metrics, forgetsSuccesses } = this.#options;
    metrics.reconciles.inc({ controller: name, outcome });
    if (outcome === "ok" || retry === "change") queue.forget(key);
    if (retry === "backoff") queue.addRateLimited(key);
    else if (retry !== "change") queue.addAfter(key, retry);
    const text = error === undefined ? undefined : describeError(error);
    const nextMs = queue.remainingMs(key);
    if (level !== undefined) {
      const retryIn = nextMs === undefined ? undefined : formatDuration(Math.round(nextMs));
      const fields = { [noun]: key, failures: queue.failures(key), retryIn, error };
      this.#log[level](MESSAGES[outcome], fields);
    }
    const isNoNews =
      (outcome === "notFound" && retry === "change") || (outcome === "ok" && forgetsSuccesses);
    if (isNoNews || exists?.(key) === false) {
      this.#outcomes.delete(key);
      return queue.forget(key);
    }
    const at = clock.now();
    this.#outcomes.set(key, {
      at,
      outcome,
      ...(text !== undefined && { error: text }),
      ...(nextMs !== undefined && { nextAt: at + Math.round(nextMs) }),
    });
  }
}

const MESSAGES: Readonly<Record<ReconcileOutcomeKind, string>> = {
  ok: "Reconciled",
  conflict: "Reconcile failed with a conflict",
  throttled: "Reconcile was throttled",
  notFound: "Reconcile found no object",
  timeout: "Reconcile timed out",
  error: "Reconcile failed",
};

/** How a reconcile ended. */
type ReconcileOutcomeKind = "ok" | "conflict" | "throttled" | "notFound" | "timeout" | "error";

/** What follows a reconcile. `retry`: after milliseconds, by back-off, or when something changes. */
interface Verdict {
  readonly outcome: ReconcileOutcomeKind;
  readonly retry: number | "backoff" | "change";
  readonly level?: LogLevel;
  readonly error?: unknown;
}

/** A reconcile did not end in time. */
class ReconcileTimeoutError extends Error {
  override readonly name = "ReconcileTimeoutError";
}

/** Whether the object of a key is gone. `maybe`: the watch still shows it, and may be late. */
type Absence = "gone" | "maybe" | "exists";

/** Judges an error. */
function toVerdict(error: unknown, absence: Absence): Verdict {
  if (isKubeError(error, "conflict")) {
    return { outcome: "conflict", retry: "backoff", level: "debug", error };
  }
  // A namespace, a kind or another object may be missing as well, and that does not pass by itself.
  if (isKubeError(error, "notFound") && absence !== "exists") {
    const retry = absence === "gone" ? "change" : "backoff";
    return { outcome: "notFound", retry, level: "debug", error };
  }
  const retryAfterMs = toRetryAfterMs(error);
  if (retryAfterMs !== undefined) {
    return { outcome: "throttled", retry: retryAfterMs, level: "info", error };
  }
  const outcome = error instanceof ReconcileTimeoutError ? "timeout" : "error";
  return { outcome, retry: "backoff", level: "warn", error };
}

/** Errors of clouds and of Kubernetes both have the pause that the server asked for. */
function toRetryAfterMs(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("retryAfterMs" in error)) return undefined;
  const { retryAfterMs } = error;
  return typeof retryAfterMs === "number" && retryAfterMs > 0 ? retryAfterMs : undefined;
}

/** A reconcile that ended. */
export interface LastReconcile {
  /** ISO 8601. */
  readonly at: string;
  readonly outcome: string;
  /** In one line. Absent after a success. */
  readonly error?: string;
}

/** Describes the last reconcile. `null`: there was none in this process. */
export function toLastReconcile(last: ReconcileOutcome | undefined): LastReconcile | null {
  if (last === undefined) return null;
  const { at, outcome, error } = last;
  return { at: new Date(at).toISOString(), outcome, ...(error !== undefined && { error }) };
}
