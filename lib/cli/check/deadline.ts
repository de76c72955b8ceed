/**
 * The time limit of each step of `landfall check`.
 * @module
 */
import { withDeadline } from "../../core/clock.ts";
import type { CheckFinding } from "./report.ts";

/** Longest time for each step, in milliseconds. Each request has a shorter limit. */
const STEP_MS = 60_000;

/**
 * Does a step within its time.
 *
 * @param toLate Makes the result of a step whose time is up
 * @param work Ends with the signal that it is given
 * @throws the signal's reason, and what `work` throws in time
 */
export async function inTime<T>(
  signal: AbortSignal,
  toLate: (finding: CheckFinding) => T,
  work: (deadline: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = withDeadline(signal, STEP_MS);
  try {
    return await work(deadline);
  } catch (error) {
    signal.throwIfAborted();
    if (!deadline.aborted) throw error;
    const message = `this step took longer than ${STEP_MS / 1_000} s`;
    const advice = "try again; if that does not help, the server is overloaded";
    return toLate({ level: "failure", code: "timeout", message, advice });
  }
}
