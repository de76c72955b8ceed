/**
 * What happens in stories of CloudStack.
 * @module
 */
import type { Script } from "../steps/mod.ts";
import { type CloudStackCloud, CloudStackWorld } from "./cloud.ts";
import { beginOutage, CLOUD_STEPS } from "./cloud_steps.ts";
import { HAND_STEPS } from "./services/hand_steps.ts";
import { OBJECT_STEPS, SHARING_STEPS } from "./services/object_steps.ts";
import { SERVICE_STEPS } from "./services/service_steps.ts";
import { MACHINE_STEPS, OUTAGE_STEPS } from "./machine_steps.ts";

/** See {@linkcode Script}. */
export const CLOUDSTACK: Script<CloudStackCloud> = {
  createWorld: (seed, toSettings) => new CloudStackWorld(seed, toSettings),
  steps: [...MACHINE_STEPS, ...CLOUD_STEPS],
  listMoreSteps: ({ cloud }) =>
    cloud.balancing === undefined
      ? []
      : [
          ...SERVICE_STEPS,
          ...HAND_STEPS,
          ...OBJECT_STEPS,
          ...(cloud.balancing.hasOthers ? SHARING_STEPS : []),
        ],
  outageSteps: OUTAGE_STEPS,
  beginOutage,
};
