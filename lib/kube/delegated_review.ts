/**
 * Asks the API server whose token one is, and what its owner may do. Sources: TokenReview and SubjectAccessReview,
 * https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1/ and
 * https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/subject-access-review-v1/
 * @module
 */
import type { Counter, MetricsRegistry } from "../core/metrics.ts";
import type { KubeClient } from "./client.ts";
import { KubeError } from "./errors.ts";
import type { KubeObject, Resource } from "./resource.ts";
import { isConnectionReset } from "./transport.ts";

/** Somebody, as the API server knows him. */
export interface ReviewedUser {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** A path that is no object. */
export interface NonResourceAccess {
  readonly path: string;
  readonly verb: string;
}

/** Asks about others. */
export interface DelegatedReviewer {
  /**
   * @returns Whose token it is; `undefined` when the API server does not accept it
   * @throws {KubeError} when it cannot be asked or its answer says nothing, or the signal's reason
   */
  authenticate(token: string, signal: AbortSignal): Promise<ReviewedUser | undefined>;
  /** @throws {KubeError} as above */
  authorize(user: ReviewedUser, access: NonResourceAccess, signal: AbortSignal): Promise<boolean>;
}

interface TokenReview extends KubeObject {
  readonly status?: { readonly authenticated?: boolean; readonly user?: Partial<ReviewedUser> };
}

interface SubjectAccessReview extends KubeObject {
  readonly status?: { readonly allowed?: boolean };
}

const TOKEN_REVIEWS: Resource<TokenReview> = {
  apiVersion: "authentication.k8s.io/v1",
  kind: "TokenReview",
  plural: "tokenreviews",
  namespaced: false,
};

const SUBJECT_ACCESS_REVIEWS: Resource<SubjectAccessReview> = {
  apiVersion: "authorization.k8s.io/v1",
  kind: "SubjectAccessReview",
  plural: "subjectaccessreviews",
  namespaced: false,
};

/** Status of a review that was answered: it is created, although nothing is stored. */
const ANSWERED = "201";

/** Metrics of reviews, with the names that Kubernetes components use. */
export interface ReviewMetrics {
  readonly tokens: Counter;
  readonly rights: Counter;
}

/** Registers the metrics of reviews; once per registry. */
export function createReviewMetrics(metrics: MetricsRegistry): ReviewMetrics {
  return {
    tokens: metrics.counter({
      name: "apiserver_delegated_authn_request_total",
      help: "Questions to the API server about who somebody is, by status code",
    }),
    rights: metrics.counter({
      name: "apiserver_delegated_authz_request_total",
      help: "Questions to the API server about what somebody may do, by status code",
    }),
  };
}

/** Creates a reviewer; nothing is sent until it is asked something. */
export function createDelegatedReviewer(
  client: KubeClient,
  { tokens, rights }: ReviewMetrics,
): DelegatedReviewer {
  return {
    async authenticate(token, signal) {
      const { apiVersion, kind } = TOKEN_REVIEWS;
      const body = { apiVersion, kind, spec: { token } };
      const send = (): Promise<TokenReview> => client.create(TOKEN_REVIEWS, {}, body, signal);
      return toUser((await sendCounted(send, tokens)).status);
    },
    async authorize({ username, uid, groups, extra }, { path, verb }, signal) {
      const { apiVersion, kind } = SUBJECT_ACCESS_REVIEWS;
      const user = { user: username, ...(uid && { uid }), ...(groups && { groups }) };
      const spec = { ...user, ...(extra && { extra }), nonResourceAttributes: { path, verb } };
      const body = { apiVersion, kind, spec };
      const send = (): Promise<SubjectAccessReview> =>
        client.create(SUBJECT_ACCESS_REVIEWS, {}, body, signal);
      const { status } = await sendCounted(send, rights);
      // Whoever stands in between may answer anything; only a clear word counts.
      if (typeof status?.allowed !== "boolean") throw toUnclear("SubjectAccessReview");
      return status.allowed;
    },
  };
}

function toUser(status: TokenReview["status"]): ReviewedUser | undefined {
  if (status === undefined) throw toUnclear("TokenReview");
  if (status.authenticated !== true) return undefined;
  const { username, uid, groups, extra } = status.user ?? {};
  if (!username) throw toUnclear("TokenReview");
  return { username, ...(uid && { uid }), ...(groups && { groups }), ...(extra && { extra }) };
}

function toUnclear(kind: string): KubeError {
  return new KubeError("unavailable", `Cannot ask for a ${kind}: the answer is none`);
}

/** A review may be sent twice: nothing is stored, and a connection that was idle for long is often dead. */
async function sendCounted<T>(send: () => Promise<T>, counter: Counter): Promise<T> {
  try {
    return await countOne(send, counter);
  } catch (error) {
    if (!isConnectionReset(error)) throw error;
    return await countOne(send, counter);
  }
}

async function countOne<T>(send: () => Promise<T>, counter: Counter): Promise<T> {
  try {
    const answer = await send();
    counter.inc({ code: ANSWERED });
    return answer;
  } catch (error) {
    const code = error instanceof KubeError ? error.code : undefined;
    counter.inc({ code: code === undefined ? "<error>" : String(code) });
    throw error;
  }
}
