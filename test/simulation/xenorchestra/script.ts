/**
 * What happens in stories of Xen Orchestra.
 * @module
 */
import type { Script } from "../script.ts";
import { type XenOrchestraCloud, XenOrchestraWorld } from "./cloud.ts";
import { CLOUD_STEPS } from "./cloud_steps.ts";
import { MACHINE_STEPS, POWER_STEPS } from "./machine_steps.ts";
import { loseLong, OUTAGE_STEPS } from "./outage_steps.ts";

/** See {@linkcode Script}. */
export const XEN_ORCHESTRA: Script<XenOrchestraCloud> = {
  createWorld: (seed, toSettings) => new XenOrchestraWorld(seed, toSettings),
  steps: [...MACHINE_STEPS, ...CLOUD_STEPS],
  listMoreSteps: ({ outOfService }) => (outOfService === undefined ? [] : POWER_STEPS),
  outageSteps: OUTAGE_STEPS,
  beginOutage: loseLong,
};
