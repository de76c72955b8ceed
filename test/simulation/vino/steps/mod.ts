/**
 * What may happen to Vinos, VMs, hosts, processes, networks, the cloud and the API server.
 * @module
 */
import { CONTROLLER_PROCESS_STEPS, listServerSteps } from "../../steps/controller.ts";
import { CLOUD_STEPS } from "./cloud.ts";
import { HOST_STEPS } from "./hosts.ts";
import { IRONIC_STEPS } from "./ironic.ts";
import { OTHERS_STEPS } from "./others.ts";
import { PEOPLE_STEPS } from "./people.ts";
import type { VinoWorld } from "../world.ts";
import type { Step } from "../../steps/mod.ts";

/** Everything that may happen. */
export const VINO_STEPS: readonly Step<VinoWorld>[] = [
  ...PEOPLE_STEPS,
  ...HOST_STEPS,
  ...IRONIC_STEPS,
  ...CLOUD_STEPS,
  ...OTHERS_STEPS,
  ...listServerSteps(["baremetalhosts", "vinoes/status", "vinoes", "secrets", "ippools"]),
  ...CONTROLLER_PROCESS_STEPS,
];
