/**
 * Rights that the out-of-service controller needs in addition to those of every controller.
 * @module
 */
import type { Right } from "../../kube/access/rights.ts";

const ATTACHMENTS = { group: "storage.k8s.io", resource: "volumeattachments" };

/** Rights to set and remove the taint, and to see when volumes are detached. */
export const RIGHTS: readonly Right[] = [
  {
    access: { group: "", resource: "nodes", verb: "get" },
    purpose: "to look once more before the out-of-service taint is set or removed",
    mandatory: true,
  },
  {
    access: { group: "", resource: "nodes", verb: "patch" },
    purpose: "to set and remove the out-of-service taint",
    mandatory: true,
  },
  {
    access: { ...ATTACHMENTS, verb: "get" },
    purpose: "to know which volumes are attached to a Node",
    mandatory: false,
  },
  {
    access: { ...ATTACHMENTS, verb: "list" },
    purpose: "to know which volumes are attached to a Node",
    mandatory: false,
  },
  {
    access: { ...ATTACHMENTS, verb: "watch" },
    purpose: "to see them detached",
    mandatory: false,
  },
];
