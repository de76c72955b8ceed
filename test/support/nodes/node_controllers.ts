/**
 * The controllers of Nodes, for tests of what a registry comes to: whoever adds another one need not edit them.
 * @module
 */
import type { ControllerDefinition } from "../../../lib/controllers/definition.ts";
import { nodeController } from "../../../lib/controllers/node/definition.ts";
import { nodeLabelController } from "../../../lib/controllers/node_labels/definition.ts";
import { nodeLifecycleController } from "../../../lib/controllers/node_lifecycle/definition.ts";

export const NODE_CONTROLLERS: readonly ControllerDefinition[] = [
  nodeController,
  nodeLabelController,
  nodeLifecycleController,
];
