/**
 * Decides how old a look at the cloud may be. Pure.
 *
 * Changes of this process are in every look, and the full pass finds those of others: a plan rarely needs a new look.
 * @module
 */

/** What a conclusion depends on. Times in milliseconds. */
export interface Conclusion {
  /** `release`: nothing is left of a load balancer. `waiting`: something prevents it. */
  readonly kind: "release" | "waiting";
  /** How long the Service has been waiting already. */
  readonly waitedMs: number;
  /** How long this process has been looking. */
  readonly lookingMs: number;
  /** Time between two full passes. */
  readonly periodMs: number;
}

/** A look this young counts as one that was made just now. */
const FRESH_MS = { release: 10_000, waiting: 2_000 };
/** First and longest pause before a Service is planned again that something prevents. */
const PAUSE_MS = [5_000, 60_000] as const;
/** So long after a change of the leader, a request of the leader before may still be carried out. */
const LATE_REQUEST_MS = 120_000;

/**
 * How old the look may be that a conclusion rests on, in milliseconds.
 *
 * A release may rest on any look after requests of the leader before are over. What prevents a Service may pass, so
 * Landfall looks again for it, after ever longer pauses.
 */
export function toConclusionAgeMs(conclusion: Conclusion): number {
  const { kind, waitedMs, lookingMs, periodMs } = conclusion;
  const ageMs = kind === "release" ? lookingMs - LATE_REQUEST_MS : waitedMs / 2;
  return Math.min(periodMs, Math.max(FRESH_MS[kind], ageMs));
}

/**
 * When a Service is planned again that something prevents, in milliseconds: soon at first, because a job may be about
 * to end.
 *
 * @param waitedMs How long it has been waiting
 */
export function toPauseMs(waitedMs: number): number {
  const [least, most] = PAUSE_MS;
  return Math.min(most, Math.max(least, waitedMs));
}
