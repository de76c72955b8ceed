/**
 * Waits for what the simulators show.
 * @module
 */
import type { Simulators } from "./processes.ts";
import type { Progress } from "./simulators.ts";

/** How long a process may take until it is ready. */
export const READY_MS = 60_000;
/** How long a fleet may take until it is initialised. */
export const DONE_MS = 120_000;
/** Events come later; all have arrived when nothing was written for this long. */
const QUIET_MS = 1_500;
const EVENTS_MS = 60_000;
const POLL_MS = 25;

/** Asks until the condition holds; returns the last answer if it never does. */
export async function waitFor(
  simulators: Simulators,
  isSo: (progress: Progress) => boolean,
  timeoutMs: number,
): Promise<Progress> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const progress = await simulators.progress();
    if (isSo(progress) || performance.now() > endMs) return progress;
    // Each question takes time from the simulators that the controller needs.
    await Bun.sleep(POLL_MS + (progress.initialised + progress.served + progress.published) / 50);
  }
}

/** Waits until nothing more is written. */
export async function waitForQuiet(simulators: Simulators): Promise<Progress> {
  let last = await simulators.progress();
  let sinceMs = performance.now();
  const isQuiet = (progress: Progress): boolean => {
    if (progress.writes !== last.writes) sinceMs = performance.now();
    last = progress;
    return performance.now() - sinceMs > QUIET_MS;
  };
  return await waitFor(simulators, isQuiet, EVENTS_MS);
}

/** Seconds until the condition holds, and the answer then; `Infinity` if it does not in time. */
export async function timeUntil(
  simulators: Simulators,
  isSo: (progress: Progress) => boolean,
  timeoutMs: number,
): Promise<number> {
  const startMs = performance.now();
  const progress = await waitFor(simulators, isSo, timeoutMs);
  return isSo(progress) ? (performance.now() - startMs) / 1_000 : Infinity;
}
