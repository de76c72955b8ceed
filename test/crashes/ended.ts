/**
 * Waits for the end of a process while a test owns time.
 * @module
 */
import type { ManualClock } from "../support/manual_clock.ts";

const TRIES_MAX = 200;
const STEP_MS = 100;

/** Lets time pass until a process has ended, however it takes it. @throws {Error} if it never does */
export async function untilEnded(ended: Promise<unknown>, clock: ManualClock): Promise<void> {
  const progress = { isOver: false };
  const over = ended.finally(() => (progress.isOver = true));
  for (let left = TRIES_MAX; !progress.isOver; left -= 1) {
    if (left === 0) throw new Error("The process does not end");
    await clock.advance(STEP_MS);
  }
  await over;
}
