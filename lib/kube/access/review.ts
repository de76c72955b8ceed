/**
 * Asks the API server which rights this client has. Source: SelfSubjectAccessReview,
 * https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-access-review-v1/
 * @module
 */
import type { KubeClient } from "../api/client.ts";
import { KubeError } from "../api/errors.ts";
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

/** The answer of the API server about an {@linkcode Access}. `unknown`: it gave no clear answer. */
export interface AccessAnswer {
  readonly allowed: "yes" | "no" | "unknown";
  /** The reason, if the answer has one. */
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
