/**
 * Asks the API server what this client may do. Source: SelfSubjectAccessReview,
 * https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-access-review-v1/
 * @module
 */
import type { KubeClient } from "../api/client.ts";
import { KubeError } from "../api/errors.ts";
import type { KubeObject, Resource } from "../kinds/resource.ts";

/** One thing that a client may or may not do. */
export interface Access {
  readonly verb: string;
  /** API group; `""` for the core group. */
  readonly group: string;
  /** Plural name: `nodes`. */
  readonly resource: string;
  readonly subresource?: string;
  /** Absent: in all namespaces, or for kinds that have none. */
  readonly namespace?: string;
  /** Absent: any name. */
  readonly name?: string;
}

/** What the API server said about an {@linkcode Access}. `unknown`: it did not say. */
export interface AccessAnswer {
  readonly allowed: "yes" | "no" | "unknown";
  /** Why, as far as it was told. */
  readonly reason?: string;
}

interface AccessReview extends KubeObject {
  readonly spec?: { readonly resourceAttributes?: Access };
  readonly status?: {
    readonly allowed?: boolean;
    readonly reason?: string;
    readonly evaluationError?: string;
  };
}

const SELF_SUBJECT_ACCESS_REVIEWS: Resource<AccessReview> = {
  apiVersion: "authorization.k8s.io/v1",
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  namespaced: false,
};

/**
 * Asks about each access, all at once. Nothing is stored: a review lives as long as its request.
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
  const { apiVersion, kind } = SELF_SUBJECT_ACCESS_REVIEWS;
  const body = { apiVersion, kind, spec: { resourceAttributes: access } };
  try {
    return toAnswer(await client.create(SELF_SUBJECT_ACCESS_REVIEWS, {}, body, signal));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof KubeError) return { allowed: "unknown", reason: error.message };
    throw error;
  }
}

function toAnswer({ status }: AccessReview): AccessAnswer {
  // A proxy on the way may answer anything; only a clear answer counts.
  if (typeof status?.allowed !== "boolean") {
    return { allowed: "unknown", reason: "the answer is not an access review" };
  }
  const said: readonly unknown[] = [status.reason, status.evaluationError];
  const reason = said.filter((text) => typeof text === "string" && text !== "").join("; ");
  return { allowed: status.allowed ? "yes" : "no", ...(reason === "" ? {} : { reason }) };
}
