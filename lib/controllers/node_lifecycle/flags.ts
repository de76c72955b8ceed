/**
 * Flags of the lifecycle controller.
 * @module
 */
import type { NumberFlag } from "../definition.ts";

/** How often Landfall checks the lifecycle of every Node. */
export const MONITOR_FLAG: NumberFlag = {
  name: "node-monitor-period",
  type: "duration",
  default: "5s",
  help: "How often Landfall checks whether the machines of Nodes that are not Ready are off or gone",
  // A pass reads only memory, but without a pause the process would do nothing else.
  range: [100, 3_600_000],
};
