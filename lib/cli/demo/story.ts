/**
 * The story of the demo: its steps, printed as they happen.
 * @module
 */
import type { Stage, Step } from "./stage.ts";
import { JOIN_STEPS } from "./steps_join.ts";
import { LIVE_STEPS, LOSS_STEPS } from "./steps_live.ts";
import { VOLUME_STEPS } from "./steps_volumes.ts";

/** The whole story. */
export const STORY: readonly Step[] = [
  ...JOIN_STEPS,
  ...LIVE_STEPS,
  ...VOLUME_STEPS,
  ...LOSS_STEPS,
];

/**
 * Plays all steps in order, even after one failed.
 *
 * @param steps @default {STORY}
 * @returns Whether every step succeeded
 */
export async function playStory(
  stage: Stage,
  signal: AbortSignal,
  steps: readonly Step[] = STORY,
): Promise<boolean> {
  let isTrue = true;
  for (const [at, { title, play }] of steps.entries()) {
    stage.tell(`\n[${at + 1}/${steps.length}] ${title}`);
    const cameTrue = await play(stage, signal);
    stage.tell(cameTrue ? "     OK" : "     FAILED");
    isTrue &&= cameTrue;
  }
  return isTrue;
}
