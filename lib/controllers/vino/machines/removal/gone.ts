/**
 * When nothing of a machine is left. Pure.
 * @module
 */
import type { Progress } from "../steps/progress_tracker.ts";

/** Whether a look proved that nothing of a machine is left. @param progress Of its removal */
export function isProvenGone(progress: Progress | undefined): progress is Progress {
  if (progress === undefined) return false;
  const { state, steps, problems, needsLook = false } = progress.plan;
  return state === "Absent" && steps.length === 0 && problems.length === 0 && !needsLook;
}
