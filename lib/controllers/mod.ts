/**
 * The registry of controllers.
 * @module
 */
import type { ControllerDefinition } from "./definition.ts";
import { nodeController } from "./node/definition.ts";
import { nodeLabelController } from "./node_labels/definition.ts";
import { nodeLifecycleController } from "./node_lifecycle/definition.ts";
import { nodeOutOfServiceController } from "./node_out_of_service/definition.ts";
import { serviceController } from "./service/definition.ts";
import { sipClusterController } from "./sipcluster/definition.ts";
import { vinoController } from "./vino/definition.ts";

/** Every controller, in the order of the reference pages. */
export const CONTROLLERS: readonly [ControllerDefinition, ...ControllerDefinition[]] = [
  nodeController,
  nodeLabelController,
  nodeLifecycleController,
  nodeOutOfServiceController,
  serviceController,
  sipClusterController,
  vinoController,
];
