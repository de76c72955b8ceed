/**
 * Time as an argument: everything that waits or dates takes a {@linkcode Clock}, so that tests can own time. Deadlines,
 * pauses and back-offs are made of it.
 * @module
 */

/** Where time comes from. The only door to `Date.now` and `setTimeout`. */
export interface Clock {
  /** Wall-clock time in milliseconds since the epoch. For dates that people or servers read. */
  now(): number;
  /** Milliseconds that never go backwards, from an arbitrary start. For ages and deadlines. */
  monotonic(): number;
  /**
   * Resolves after `ms` milliseconds (at once for 0 or less).
   * Rejects with `signal.reason` as soon as the signal aborts; the timer is then gone.
   */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Wall-clock milliseconds as Kubernetes writes a time: RFC 3339 in UTC, without fractions of a second. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Longest delay that a timer takes, about 24.8 days; a longer one would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** The machine's own clock. Its timers do not keep the process alive by themselves. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep,
};

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let leftMs = ms;
  for (; leftMs > TIMER_MS_MAX; leftMs -= TIMER_MS_MAX) await sleepOnce(TIMER_MS_MAX, signal);
  await sleepOnce(leftMs, signal);
}

function sleepOnce(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(
      () => {
        signal.removeEventListener("abort", abort);
        resolve();
      },
      Math.max(0, ms),
    );
    signal.addEventListener("abort", abort, { once: true });
  });
}

/**
 * A signal that aborts with `signal`, or with a `TimeoutError` after `ms` milliseconds, if that is earlier.
 *
 * @param signal The signal of the work that the deadline belongs to
 * @param ms Milliseconds until the deadline
 * @param clock Whose milliseconds. @default {systemClock}
 */
export function withDeadline(
  signal: AbortSignal,
  ms: number,
  clock: Clock = systemClock,
): AbortSignal {
  if (clock !== systemClock) return startDeadline(signal, ms, clock).signal;
  // The platform's own signal goes away with its last listener; most deadlines are never reached.
  return AbortSignal.any([signal, AbortSignal.timeout(ms)]);
}

/** A deadline that is cancelled when the work ends in time. */
interface Deadline extends Disposable {
  /** Aborts as that of {@linkcode withDeadline} does, until the deadline is disposed of. */
  readonly signal: AbortSignal;
}

/** The reason that ends the timer of a cancelled deadline: it is never shown, and an error would cost a stack trace. */
const MET = "met";

/**
 * The same as {@linkcode withDeadline} for frequent work: the timer ends with `using`. Without that it would fire long
 * after the work, and an idle process would wake up for each request that it ever sent.
 */
export function startDeadline(
  signal: AbortSignal,
  ms: number,
  clock: Clock = systemClock,
): Deadline {
  const late = new AbortController();
  const timer = new AbortController();
  const obey = (): void => late.abort(signal.reason);
  const expire = (): void => late.abort(toTimeoutError());
  if (signal.aborted) obey();
  signal.addEventListener("abort", obey, { once: true });
  clock.sleep(ms, timer.signal).then(expire, () => undefined);
  return {
    signal: late.signal,
    [Symbol.dispose]() {
      signal.removeEventListener("abort", obey);
      timer.abort(MET);
    },
  };
}

/** Whether a value is the reason of a signal whose time is up. */
export function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === "TimeoutError";
}

/** The reason of a signal whose time is up, as in the platform's own. */
export function toTimeoutError(): DOMException {
  return new DOMException("The time is up", "TimeoutError");
}

/**
 * Settles as `promise` does, or rejects with `signal.reason` as soon as the signal aborts.
 * The work behind the promise continues: it belongs to the code that started it.
 *
 * @param promise Work that several callers share
 * @param signal Ends this caller's wait only
 */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    // This caller no longer waits; a failure concerns the others.
    promise.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Lets one loop sleep, and others wake it. It stores no wake-up: one that comes before the sleep has no effect. */
export class Sleeper {
  readonly #clock: Clock;
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Ends after that time, at a wake-up, or when the signal aborts; never rejects.
   *
   * @param ms Milliseconds; `Infinity` uses no timer
   * @returns Whether a wake-up ended it
   */
  async sleep(ms: number, signal: AbortSignal): Promise<boolean> {
    const woken = new AbortController();
    const either = AbortSignal.any([signal, woken.signal]);
    this.#wake = () => woken.abort();
    const over =
      ms < Infinity
        ? this.#clock.sleep(ms, either)
        : abortable(new Promise<void>(() => undefined), either);
    // Only the two signals can reject this.
    await over.catch(() => undefined);
    this.#wake = undefined;
    return woken.signal.aborted;
  }

  /** Ends the sleep, if there is one. */
  wake(): void {
    this.#wake?.();
  }
}

/** Shape of an exponential back-off. All times in milliseconds. */
interface BackoffOptions {
  /** Delay after the first failure, before jitter. */
  baseMs: number;
  /** Largest delay, before jitter. */
  capMs: number;
  /** Share of the delay that is added at most: 1 doubles it at worst. @default {1} */
  jitter?: number;
  /** Source of randomness in [0, 1). @default {Math.random} */
  random?: () => number;
}

/**
 * Delay before try number `failures + 1`: `min(cap, base·2^(failures-1))`, plus random jitter on top.
 *
 * @param failures Failures in a row so far; 0 gives 0
 * @param options Base, cap and jitter
 * @returns Milliseconds
 */
export function toBackoffMs(failures: number, options: BackoffOptions): number {
  if (failures <= 0) return 0;
  const { baseMs, capMs, jitter = 1, random = Math.random } = options;
  // The exponent is bounded so that 2^n stays finite however long a failure lasts.
  const delay = Math.min(capMs, baseMs * 2 ** Math.min(failures - 1, 52));
  return delay * (1 + jitter * random());
}
