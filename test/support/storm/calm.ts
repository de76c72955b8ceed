/**
 * How long nothing went wrong.
 * @module
 */

/** A span of time. Milliseconds since the epoch; one that has not ended ends at `Infinity`. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The longest time within a span that no disturbance touches, in milliseconds. */
export function findLongestCalm({ fromMs, toMs }: Span, disturbances: readonly Span[]): number {
  let calmFromMs = fromMs;
  let longestMs = 0;
  for (const one of disturbances.toSorted((a, b) => a.fromMs - b.fromMs)) {
    longestMs = Math.max(longestMs, Math.min(one.fromMs, toMs) - calmFromMs);
    calmFromMs = Math.max(calmFromMs, one.toMs);
  }
  return Math.max(longestMs, toMs - calmFromMs);
}
