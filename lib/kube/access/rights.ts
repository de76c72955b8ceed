/**
 * Rights in a cluster: what one is, and those that the process itself needs, whichever controllers run.
 * @module
 */
import type { LeaseName } from "../election/lease.ts";
import type { Access } from "./review.ts";

/** A right and what it is needed for. */
export interface Right {
  readonly access: Access;
  /** What it is needed for, as the end of a sentence. */
  readonly purpose: string;
  /** Whether Landfall cannot do its work without it. */
  readonly mandatory: boolean;
}

/** To hold a Lease. `create` goes without the name: RBAC cannot know that of an object which is not there yet. */
export function listElectionRights({ namespace, name }: LeaseName): Right[] {
  const leases = { group: "coordination.k8s.io", resource: "leases", namespace };
  return [
    {
      access: { ...leases, name, verb: "get" },
      purpose: "to know who leads",
      mandatory: true,
    },
    {
      access: { ...leases, verb: "create" },
      purpose: "to lead first of all",
      mandatory: true,
    },
    {
      access: { ...leases, name, verb: "update" },
      purpose: "to lead, and to go on leading",
      mandatory: true,
    },
  ];
}

/** To say what was done: without these Landfall works, but speaks in its log alone. */
export const EVENT_RIGHTS: readonly Right[] = [
  {
    access: { group: "", resource: "events", verb: "create" },
    purpose: "to say on a Node what was done, and why not",
    mandatory: false,
  },
  {
    access: { group: "", resource: "events", verb: "patch" },
    purpose: "to count Events that come again",
    mandatory: false,
  },
];

/** To know who asks on the secure port, and whether they may. */
export const REVIEW_RIGHTS: readonly Right[] = [
  {
    access: { group: "authentication.k8s.io", resource: "tokenreviews", verb: "create" },
    purpose: "to know who asks for metrics and debug pages",
    mandatory: false,
  },
  {
    access: { group: "authorization.k8s.io", resource: "subjectaccessreviews", verb: "create" },
    purpose: "to know whether they may have them",
    mandatory: false,
  },
];
