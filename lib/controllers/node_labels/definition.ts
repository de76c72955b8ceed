/**
 * The label controller for the registry.
 * @module
 */
import { NODES } from "../../kube/kinds/node.ts";
import { type ControllerDefinition, FULL_PASS_FLAG } from "../definition.ts";
import { TAG_LABELS_RECORD } from "../words.ts";
import { COMPONENT, EVENT_WORDS, NAME } from "./words.ts";
import { toRights } from "../../kube/access/rights.ts";

/** Keeps the labels of initialised Nodes up to date: region, zone, instance type and the cloud's own labels. */
export const nodeLabelController: ControllerDefinition = {
  name: NAME,
  // The Xen Orchestra manager's own.
  aliases: ["cloud-node-label-sync-controller"],
  kind: NODES,
  needsCloud: true,
  component: COMPONENT,
  events: EVENT_WORDS,
  words: [
    {
      word: TAG_LABELS_RECORD,
      where: "annotation",
      meaning:
        "Landfall sets it: the labels that it set from tags, as JSON. For tags, it changes and removes only these " +
        "labels.",
    },
  ],
  flags: [FULL_PASS_FLAG],
  watches: [],
  listRights: () => toRights({ group: "", resource: "nodes" }, ["patch"], "to correct labels"),
  load: () => import("./mod.ts"),
};
