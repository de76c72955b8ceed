/**
 * Asks the API server which rights this client has. Source: SelfSubjectAccessReview,
 * https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-access-review-v1/
 * @module
 */
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
