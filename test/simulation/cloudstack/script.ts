/**
 * What happens in stories of CloudStack.
 * @module
 */
import type { Script } from "../script.ts";
import { type CloudStackCloud, CloudStackWorld } from "./cloud.ts";
import { beginOutage, CLOUD_STEPS } from "./cloud_steps.ts";
import { MACHINE_STEPS, OUTAGE_STEPS } from "./machine_steps.ts";

/** See {@linkcode Script}. */
export const CLOUDSTACK: Script<CloudStackCloud> = {
  createWorld: (seed, toSettings) => new CloudStackWorld(seed, toSettings),
  steps: [...MACHINE_STEPS, ...CLOUD_STEPS],
  powerSteps: [],
  outageSteps: OUTAGE_STEPS,
  beginOutage,
};
