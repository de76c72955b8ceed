/**
 * Rights that the label controller needs beside those of every controller.
 * @module
 */
import type { Right } from "../../kube/access/rights.ts";

/** To keep labels true. */
export const RIGHTS: readonly Right[] = [
  {
    access: { group: "", resource: "nodes", verb: "patch" },
    purpose: "to correct labels",
    mandatory: true,
  },
];
