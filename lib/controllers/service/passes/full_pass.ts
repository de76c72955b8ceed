/**
 * Compares all load balancers with their Services from time to time, with one look at the cloud for all of them.
 * @module
 */
import { type Clock, toBackoffMs } from "../../../core/clock.ts";
import type { Logger } from "../../../core/log.ts";

/** What {@linkcode runFullPasses} needs. */
interface FullPassOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Time between two passes, in milliseconds; up to a tenth longer, so that processes do not keep in step. */
  readonly periodMs: number;
  /** Whether a Service has a load balancer, or should have one. */
  readonly isNeeded: () => boolean;
  /** Looks at the cloud now. */
  readonly look: (signal: AbortSignal) => Promise<unknown>;
  /** Has all load balancers reconciled. */
  readonly enqueueAll: () => void;
  /** In [0, 1). @default {Math.random} */
  readonly random?: () => number;
}

const RETRY = { baseMs: 5_000, capMs: 300_000, jitter: 0.2 } as const;
const JITTER = 0.1;

/**
 * Passes until the signal aborts; the first at once. If the cloud does not answer, no Service is touched. A cluster
 * without load balancers costs the cloud nothing.
 */
export async function runFullPasses(options: FullPassOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, periodMs, isNeeded, look, enqueueAll, random = Math.random } = options;
  for (let failures = 0; !signal.aborted;) {
    let pauseMs = periodMs * (1 + JITTER * random());
    try {
      if (isNeeded()) await look(signal);
      failures = 0;
      enqueueAll();
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      pauseMs = Math.min(pauseMs, toBackoffMs(failures, { ...RETRY, random }));
      log.warn("Cannot compare the load balancers with their Services", { error });
    }
    await clock.sleep(pauseMs, signal).catch(() => undefined);
  }
}
