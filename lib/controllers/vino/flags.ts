/**
 * Flags of the Vino controller.
 * @module
 */
import { isNamespace } from "../../core/text/label.ts";
import type { NumberFlag, TextFlag } from "../definition.ts";

/** How many machines of one Vino change at once. */
export const MACHINES_FLAG: NumberFlag = {
  name: "concurrent-vino-machines",
  type: "int",
  default: "20",
  help: "How many machines of one Vino Landfall makes, changes or removes at once",
  range: [1, 64],
};

/** Where IPPools are. */
export const POOLS_NAMESPACE_FLAG: TextFlag = {
  name: "ip-pool-namespace",
  type: "string",
  default: "kube-system",
  help: "Namespace of all IPPools, which record the addresses of the machines of Vinos in any namespace",
  findProblem: (text) => (isNamespace(text) ? undefined : "the name of a namespace"),
};
