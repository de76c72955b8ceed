/**
 * The node controller for the registry.
 * @module
 */
import { NODE_SELECTION, type NodeSelection } from "../../cloud/settings/sections.ts";
import { NODES } from "../../kube/kinds/node.ts";
import { type ControllerDefinition, FULL_PASS_FLAG } from "../definition.ts";
import { PROVIDED_NODE_IP, UNINITIALIZED_TAINT } from "../words.ts";
import { COMPONENT, EVENT_WORDS, NAME } from "./words.ts";
import { toRights } from "../../kube/access/rights.ts";

const OBJECTS = { group: "", resource: "nodes" };
const SERVICES = { group: "", resource: "services" };

/** Initialises Nodes and keeps their addresses up to date. */
export const nodeController: ControllerDefinition<NodeSelection> = {
  name: NAME,
  aliases: ["cloud-node-controller"],
  kind: NODES,
  needsCloud: true,
  component: COMPONENT,
  events: EVENT_WORDS,
  words: [
    {
      word: UNINITIALIZED_TAINT,
      where: "taint",
      meaning: "Set by the kubelet, removed once the Node has its labels and provider ID.",
    },
    {
      word: PROVIDED_NODE_IP,
      where: "annotation",
      meaning: "Set by the kubelet from `--node-ip`: the addresses to publish as InternalIP.",
    },
  ],
  flags: [FULL_PASS_FLAG],
  section: NODE_SELECTION,
  watches: [],
  listRights: () => [
    ...toRights(OBJECTS, ["patch"], "to initialise Nodes"),
    ...toRights({ ...OBJECTS, subresource: "status" }, ["patch"], "to set addresses"),
    // Without them, an address of a Service can become one of a Node that announces it.
    ...toRights(SERVICES, ["list", "watch"], "to keep addresses of Services off Nodes", {
      mandatory: false,
    }),
  ],
  load: () => import("./mod.ts"),
};
