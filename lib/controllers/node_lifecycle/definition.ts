/**
 * The lifecycle controller for the registry.
 * @module
 */
import type { ControllerDefinition, ControllerFlag } from "../definition.ts";
import { createLifecycleMetrics } from "./metrics.ts";
import { RIGHTS } from "./rights.ts";
import { COMPONENT, EVENTS, NAME, SHUTDOWN_TAINT } from "./words.ts";

/** How often the lifecycle of every Node is looked at. */
export const MONITOR_FLAG: ControllerFlag = {
  name: "node-monitor-period",
  type: "duration",
  default: "5s",
  help: "How often Nodes that are not Ready are looked at: is the machine stopped or gone?",
  // A pass reads memory only; still, without a pause there would be nothing else.
  range: [100, 3_600_000],
};

/** Taints Nodes whose machines are off, deletes those whose machines are proven gone. */
export const nodeLifecycleController: ControllerDefinition = {
  name: NAME,
  aliases: ["cloud-node-lifecycle-controller"],
  component: COMPONENT,
  events: EVENTS,
  words: [
    {
      word: `${SHUTDOWN_TAINT.key}:${SHUTDOWN_TAINT.effect}`,
      where: "taint",
      meaning:
        "On a Node that is not Ready while its machine does not run; removed when it is Ready again.",
    },
  ],
  flags: [MONITOR_FLAG],
  rights: RIGHTS,
  registerMetrics: createLifecycleMetrics,
};
