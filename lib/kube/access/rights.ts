/**
 * Rights in a cluster, and those that every process needs, with any controllers.
 * @module
 */
import type { LeaseName } from "../election/lease.ts";
import type { Access } from "./review.ts";

/** A right, and why Landfall needs it. */
export interface Right {
  readonly access: Access;
  /** Why: "to …". */
  readonly purpose: string;
  /** Whether Landfall cannot work without it. */
  readonly mandatory: boolean;
}

/** Creates the rights to do several things with the same objects. @param mandatory @default {true} */
export function toRights(
  access: Omit<Access, "verb">,
  verbs: readonly string[],
  purpose: string,
  { mandatory = true }: { readonly mandatory?: boolean } = {},
): Right[] {
  return verbs.map((verb) => ({ access: { ...access, verb }, purpose, mandatory }));
}

/** To hold a Lease. `create` has no name: RBAC cannot know the name of an object that does not exist yet. */
export function listElectionRights({ namespace, name }: LeaseName): Right[] {
  const leases = { group: "coordination.k8s.io", resource: "leases", namespace };
  return [
    ...toRights({ ...leases, name }, ["get"], "to find the current leader"),
    ...toRights(leases, ["create"], "to create the Lease of the leader election"),
    ...toRights({ ...leases, name }, ["update"], "to become and stay leader"),
  ];
}

const EVENTS = { group: "", resource: "events" };
const OPTIONAL = { mandatory: false };

/** To write Events. Without these rights Landfall works, but reports only in its log. */
export const EVENT_RIGHTS: readonly Right[] = [
  ...toRights(EVENTS, ["create"], "to write Events on objects", OPTIONAL),
  ...toRights(EVENTS, ["patch"], "to count repeated Events", OPTIONAL),
];

const TOKEN_REVIEWS = { group: "authentication.k8s.io", resource: "tokenreviews" };
const ACCESS_REVIEWS = { group: "authorization.k8s.io", resource: "subjectaccessreviews" };

/** To authenticate and authorize requests on the secure port. */
export const REVIEW_RIGHTS: readonly Right[] = [
  ...toRights(
    TOKEN_REVIEWS,
    ["create"],
    "to authenticate requests for metrics and debug pages",
    OPTIONAL,
  ),
  ...toRights(
    ACCESS_REVIEWS,
    ["create"],
    "to authorize requests for metrics and debug pages",
    OPTIONAL,
  ),
];
