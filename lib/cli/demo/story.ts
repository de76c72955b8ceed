/**
 * The story of the demo: steps that must come true, told in plain lines.
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
 * Plays steps in order, all of them, whatever becomes of the first.
 *
 * @param steps @default {STORY}
 * @returns Whether every step came true
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
    stage.tell(cameTrue ? "     so it is" : "     NO: it did not come true");
    isTrue &&= cameTrue;
  }
  return isTrue;
}
