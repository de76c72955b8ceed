/**
 * The controllers that there are.
 * @module
 */
export {
  COMPONENT,
  createNodeMetrics,
  NodeController,
  type NodeReport,
  toIdentity,
} from "./node/mod.ts";
export { createControllerMetrics } from "./controller.ts";
