/**
 * The controllers that there are.
 * @module
 */
export { createControllerMetrics } from "../engine/controller.ts";
export { toIdentity } from "./identity.ts";
export type { NodeContext } from "./node_loop.ts";
export { NodePresences } from "./node_presences.ts";
export { SHARED_RIGHTS } from "./rights.ts";
export { WrittenVersions } from "../engine/written_versions.ts";
export {
  createNodeMetrics,
  NODE_COMPONENT,
  NODE_NAME,
  NODE_RIGHTS,
  NodeController,
  type NodeReport,
} from "./node/mod.ts";
export {
  LABELS_COMPONENT,
  LABELS_NAME,
  LABELS_RIGHTS,
  NodeLabelController,
} from "./node_labels/mod.ts";
export {
  createLifecycleMetrics,
  LIFECYCLE_COMPONENT,
  LIFECYCLE_NAME,
  LIFECYCLE_RIGHTS,
  type LifecycleReport,
  NodeLifecycleController,
} from "./node_lifecycle/mod.ts";
