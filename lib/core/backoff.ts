/**
 * How long to wait before the next try.
 * @module
 */

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
