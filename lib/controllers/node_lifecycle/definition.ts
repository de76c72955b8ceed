/**
 * The lifecycle controller for the registry.
 * @module
 */
import type { DeletionSettings } from "../../cloud/deletion/guard.ts";
import { DELETION } from "../../cloud/settings/sections.ts";
import { NODES } from "../../kube/kinds/node.ts";
import type { ControllerDefinition } from "../definition.ts";
import { COMPONENT, EVENT_WORDS, MONITOR_FLAG, NAME, SHUTDOWN_TAINT } from "./words.ts";
import { toRights } from "../../kube/access/rights.ts";

const OBJECTS = { group: "", resource: "nodes" };

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
  listRights: ({ settings }) => [
    ...toRights(OBJECTS, ["patch"], "to set the shutdown taint"),
    ...(settings?.enabled === false
      ? []
      : [
          ...toRights(OBJECTS, ["get"], "to look once more before a Node is deleted"),
          ...toRights(OBJECTS, ["delete"], "to delete Nodes whose machine is gone"),
        ]),
  ],
  load: () => import("./mod.ts"),
};
