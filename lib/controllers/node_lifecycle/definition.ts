/**
 * The lifecycle controller for the registry.
 * @module
 */
import type { DeletionSettings } from "../../cloud/deletion/guard.ts";
import { DELETION } from "../../cloud/deletion/settings.ts";
import { NODES } from "../../kube/kinds/node.ts";
import type { ControllerDefinition } from "../definition.ts";
import { MONITOR_FLAG } from "./flags.ts";
import { createLifecycleMetrics } from "./metrics.ts";
import { DELETION_RIGHTS, RIGHTS } from "./rights.ts";
import { COMPONENT, EVENT_WORDS, NAME, SHUTDOWN_TAINT } from "./words.ts";

/** Taints Nodes whose machines are off, and deletes Nodes whose machines are proven gone. */
export const nodeLifecycleController: ControllerDefinition<DeletionSettings> = {
  name: NAME,
  aliases: ["cloud-node-lifecycle-controller"],
  kind: NODES,
  needsCloud: true,
  component: COMPONENT,
  events: EVENT_WORDS,
  words: [
    {
      word: `${SHUTDOWN_TAINT.key}:${SHUTDOWN_TAINT.effect}`,
      where: "taint",
      meaning:
        "Landfall sets it on a Node that is not Ready while its machine is off, and removes it when the Node is " +
        "Ready again.",
    },
  ],
  flags: [MONITOR_FLAG],
  section: DELETION,
  watches: [],
  rights: RIGHTS,
  needsRight: (right, { enabled }) => enabled || !DELETION_RIGHTS.has(right),
  registerMetrics: createLifecycleMetrics,
  load: () => import("./mod.ts"),
};
