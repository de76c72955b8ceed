/**
 * Rights that the lifecycle controller needs beside those of every controller.
 * @module
 */
import type { Right } from "../../kube/access/rights.ts";

/** To follow machines that stop, and those that go. */
export const RIGHTS: readonly Right[] = [
  {
    access: { group: "", resource: "nodes", verb: "patch" },
    purpose: "to set the shutdown taint",
    mandatory: true,
  },
  {
    access: { group: "", resource: "nodes", verb: "get" },
    purpose: "to look once more before a Node is deleted",
    mandatory: true,
    isForDeletion: true,
  },
  {
    access: { group: "", resource: "nodes", verb: "delete" },
    purpose: "to delete Nodes whose machine is gone",
    mandatory: true,
    isForDeletion: true,
  },
];
