/**
 * Rights that the lifecycle controller needs beside those of every controller.
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

/** To follow machines that stop, and those that go. */
export const RIGHTS: readonly Right[] = [
  {
    access: { group: "", resource: "nodes", verb: "patch" },
    purpose: "to set the shutdown taint",
    mandatory: true,
  },
  ...TO_DELETE,
];

/** Those that only the deletion of Nodes needs. */
export const DELETION_RIGHTS: ReadonlySet<Right> = new Set(TO_DELETE);
