/**
 * Flags of the lifecycle controller.
 * @module
 */
import type { ControllerFlag } from "../flags.ts";

/** How often the lifecycle of every Node is looked at. */
export const MONITOR_FLAG: ControllerFlag = {
  name: "node-monitor-period",
  type: "duration",
  default: "5s",
  help: "How often Nodes that are not Ready are looked at: is the machine stopped or gone?",
  // A pass reads memory only; still, without a pause there would be nothing else.
  range: [100, 3_600_000],
};
