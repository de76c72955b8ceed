/**
 * Rights that the node controller needs in addition to those of every controller.
 * @module
 */
import type { Right } from "../../kube/access/rights.ts";

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
];
