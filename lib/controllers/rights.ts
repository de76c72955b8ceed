/**
 * Rights that every controller of Nodes needs: its loop follows them.
 * @module
 */
import type { Right } from "../kube/access/rights.ts";

/** To follow Nodes. */
export const SHARED_RIGHTS: readonly Right[] = [
  {
    access: { group: "", resource: "nodes", verb: "list" },
    purpose: "to know the Nodes",
    mandatory: true,
  },
  {
    access: { group: "", resource: "nodes", verb: "watch" },
    purpose: "to see them change",
    mandatory: true,
  },
];
