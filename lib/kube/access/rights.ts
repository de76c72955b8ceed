/**
 * Rights in a cluster: those that every process needs, with any controllers, and the question to the API server which
 * of them this client has. Source: SelfSubjectAccessReview,
 * https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-access-review-v1/
 * @module
 */
import type { LeaseName } from "../election/lease.ts";
import type { KubeClient } from "../api/client.ts";
import { KubeError } from "../api/errors.ts";
import { isFields } from "../../core/text/values.ts";
import type { KubeObject, Resource } from "../kinds/resource.ts";

/** A right that a client may have. */
export interface Access {
  readonly verb: string;
  /** API group; `""` for the core group. */
  readonly group: string;
  /** Plural name: `nodes`. */
  readonly resource: string;
  readonly subresource?: string;
  /** Absent: all namespaces, or a kind without namespaces. */
  readonly namespace?: string;
  /** Absent: any name. */
  readonly name?: string;
}

/**
 * The namespaces in which a right on all namespaces is enough: `tenants` are those with objects of the controller's
 * own kind, and `hosts` those and others with BareMetalHosts for them. An administrator grants it there, or everywhere.
 */
export type Scope = "hosts" | "tenants";

/** A right, and why Landfall needs it. */
export interface Right {
  readonly access: Access;
  /** Absent: it is needed as {@linkcode access} says. */
  readonly scope?: Scope;
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
  { mandatory = true, scope }: { readonly mandatory?: boolean; readonly scope?: Scope } = {},
): Right[] {
  return verbs.map((verb) => {
    return { access: { ...access, verb }, purpose, mandatory, ...(scope && { scope }) };
  });
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
export function listEventRights(): Right[] {
  return [
    ...toRights(EVENTS, ["create"], "to write Events on objects", OPTIONAL),
    ...toRights(EVENTS, ["patch"], "to count repeated Events", OPTIONAL),
  ];
}

const TOKEN_REVIEWS = { group: "authentication.k8s.io", resource: "tokenreviews" };
const ACCESS_REVIEWS = { group: "authorization.k8s.io", resource: "subjectaccessreviews" };

/** To authenticate and authorize requests on the secure port. */
export function listReviewRights(): Right[] {
  return [
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
}

/** The answer of the API server about an {@linkcode Access}. `unknown`: it gave no clear answer. */
export interface AccessAnswer {
  readonly allowed: "yes" | "no" | "unknown";
  /** The reason, if the answer has one. */
  readonly reason?: string;
}

/** A question that the API server answers, and does not store. */
interface Review extends KubeObject {
  /** A proxy on the way may answer anything. */
  readonly status?: unknown;
}

/**
 * Sends a review.
 *
 * @returns The status of the answer, unchecked
 * @throws {KubeError} when there is no answer, or the signal's reason
 */
export async function sendReview(
  client: KubeClient,
  { group, kind }: { readonly group: "authentication" | "authorization"; readonly kind: string },
  spec: object,
  signal: AbortSignal,
): Promise<unknown> {
  const apiVersion = `${group}.k8s.io/v1`;
  const plural = `${kind.toLowerCase()}s`;
  const reviews: Resource<Review> = { apiVersion, kind, plural, namespaced: false };
  return (await client.create(reviews, {}, { apiVersion, kind, spec }, signal)).status;
}

/**
 * Asks about all accesses at the same time. The API server stores no review.
 *
 * @returns Answers in the order of the questions
 * @throws the signal's reason
 */
export function reviewAccess(
  client: KubeClient,
  wanted: readonly Access[],
  signal: AbortSignal,
): Promise<AccessAnswer[]> {
  return Promise.all(wanted.map((access) => review(client, access, signal)));
}

async function review(
  client: KubeClient,
  access: Access,
  signal: AbortSignal,
): Promise<AccessAnswer> {
  const self = { group: "authorization", kind: "SelfSubjectAccessReview" } as const;
  try {
    return toAnswer(await sendReview(client, self, { resourceAttributes: access }, signal));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof KubeError) return { allowed: "unknown", reason: error.message };
    throw error;
  }
}

function toAnswer(status: unknown): AccessAnswer {
  const { allowed, reason, evaluationError } = isFields(status) ? status : {};
  // Only a clear answer counts.
  if (typeof allowed !== "boolean") {
    return { allowed: "unknown", reason: "the answer is not an access review" };
  }
  const said = [reason, evaluationError];
  const why = said.filter((text) => typeof text === "string" && text !== "").join("; ");
  return { allowed: allowed ? "yes" : "no", ...(why === "" ? {} : { reason: why }) };
}
