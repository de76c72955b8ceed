/**
 * The story of the demo: its steps, printed as they happen.
 * @module
 */
import type { DemoCloud } from "../cloud.ts";
import type { Stage, Step } from "./stage.ts";
import { toJoinSteps } from "./join.ts";
import { toLossSteps } from "./loss.ts";
import { POWER_STEPS } from "./power.ts";

/** A cloud, and the steps that only this cloud has. */
export interface Setting {
  readonly cloud: DemoCloud;
  readonly steps: {
    /** How Nodes find machines that are hard to find. */
    readonly join: readonly Step[];
    /** What changes while a machine runs. */
    readonly live: readonly Step[];
    /** What happens to the volumes of a machine that dies; none for a cloud that cannot prove that a machine is off. */
    readonly volumes: readonly Step[];
    /** What the load balancers of Services do; none for a cloud that has no load balancers. */
    readonly services: readonly Step[];
  };
}

/** The whole story on one cloud. */
export function toStory({ cloud, steps }: Setting): readonly Step[] {
  return [
    ...toJoinSteps(cloud, steps.join),
    ...steps.live,
    ...POWER_STEPS,
    ...steps.volumes,
    ...steps.services,
    ...toLossSteps(cloud),
  ];
}

/**
 * Plays all steps in order, even after one failed.
 *
 * @returns Whether every step succeeded
 */
export async function playStory(
  stage: Stage,
  steps: readonly Step[],
  signal: AbortSignal,
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
