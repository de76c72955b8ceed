/**
 * Rights that the node controller needs in addition to those of every controller.
 * @module
 */
import { type Right, toRights } from "../../kube/access/rights.ts";

const SERVICES = { group: "", resource: "services" };

/** Rights to initialise Nodes. */
export const RIGHTS: readonly Right[] = [
  {
    access: { group: "", resource: "nodes", verb: "patch" },
    purpose: "to initialise Nodes",
    mandatory: true,
  },
  {
    access: { group: "", resource: "nodes", subresource: "status", verb: "patch" },
    purpose: "to set addresses",
    mandatory: true,
  },
  // Without them, an address of a Service can become one of a Node that announces it.
  ...toRights(SERVICES, ["list", "watch"], "to keep addresses of Services off Nodes", {
    mandatory: false,
  }),
];
