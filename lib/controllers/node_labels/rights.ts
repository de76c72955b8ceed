/**
 * Rights that the label controller needs in addition to those of every controller.
 * @module
 */
import type { Right } from "../../kube/access/rights.ts";

/** Rights to keep labels up to date. */
export const RIGHTS: readonly Right[] = [
  {
    access: { group: "", resource: "nodes", verb: "patch" },
    purpose: "to correct labels",
    mandatory: true,
  },
];
