/**
 * Rights that the lifecycle controller needs in addition to those of every controller.
 * @module
 */
import type { Right } from "../../kube/access/rights.ts";

const TO_DELETE: readonly Right[] = [
  {
    access: { group: "", resource: "nodes", verb: "get" },
    purpose: "to look once more before a Node is deleted",
    mandatory: true,
  },
  {
    access: { group: "", resource: "nodes", verb: "delete" },
    purpose: "to delete Nodes whose machine is gone",
    mandatory: true,
  },
];

/** Rights to taint and delete Nodes. */
export const RIGHTS: readonly Right[] = [
  {
    access: { group: "", resource: "nodes", verb: "patch" },
    purpose: "to set the shutdown taint",
    mandatory: true,
  },
  ...TO_DELETE,
];

/** Rights that only the deletion of Nodes needs. */
export const DELETION_RIGHTS: ReadonlySet<Right> = new Set(TO_DELETE);
