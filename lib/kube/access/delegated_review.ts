/**
 * Asks the API server which user a token belongs to, and whether that user has a right. Sources: TokenReview and
 * SubjectAccessReview, https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1/
 * and https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/subject-access-review-v1/
 * @module
 */
import type { Counter, MetricsRegistry } from "../../core/metrics.ts";
import type { KubeClient } from "../api/client.ts";
import { KubeError } from "../api/errors.ts";
import { isFields } from "../../core/text/values.ts";
import { isText } from "../kinds/resource.ts";
import { sendReview } from "./rights.ts";

/** A user in the words of the API server. */
interface ReviewedUser {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** A path that is not an object. */
interface NonResourceAccess {
  readonly path: string;
  readonly verb: string;
}

/** Asks about other users. */
export interface DelegatedReviewer {
  /**
   * @returns The user of the token; `undefined` if the API server does not accept it
   * @throws {KubeError} when the API server gives no clear answer, or the signal's reason
   */
  authenticate(token: string, signal: AbortSignal): Promise<ReviewedUser | undefined>;
  /** @throws {KubeError} as above */
  authorize(user: ReviewedUser, access: NonResourceAccess, signal: AbortSignal): Promise<boolean>;
}

/** Status of an answered review: 201, although the API server stores nothing. */
const ANSWERED = "201";

/** Metrics of reviews, with the names that Kubernetes components use. */
interface ReviewMetrics {
  readonly tokens: Counter;
  readonly rights: Counter;
}

/** Registers the metrics of reviews; once per registry. */
export function createReviewMetrics(metrics: MetricsRegistry): ReviewMetrics {
  return {
    tokens: metrics.counter({
      name: "apiserver_delegated_authn_request_total",
      help: "TokenReview requests to the API server, by status code",
    }),
    rights: metrics.counter({
      name: "apiserver_delegated_authz_request_total",
      help: "SubjectAccessReview requests to the API server, by status code",
    }),
  };
}

/** Creates a reviewer. It sends nothing before the first question. */
export function createDelegatedReviewer(
  client: KubeClient,
  { tokens, rights }: ReviewMetrics,
): DelegatedReviewer {
  return {
    async authenticate(token, signal) {
      const review = { group: "authentication", kind: "TokenReview" } as const;
      return toUser(await count(sendReview(client, review, { token }, signal), tokens));
    },
    async authorize({ username, uid, groups, extra }, { path, verb }, signal) {
      const review = { group: "authorization", kind: "SubjectAccessReview" } as const;
      const user = { user: username, ...(uid && { uid }), ...(groups && { groups }) };
      const spec = { ...user, ...(extra && { extra }), nonResourceAttributes: { path, verb } };
      const status = await count(sendReview(client, review, spec, signal), rights);
      const { allowed, denied = false } = isFields(status) ? status : {};
      // Only a clear answer counts. Both allowed and denied is none, by the definition of the API.
      const isClear = typeof allowed === "boolean" && typeof denied === "boolean";
      if (!isClear || (allowed && denied)) throw toUnclear("SubjectAccessReview");
      return allowed;
    },
  };
}

function toUser(status: unknown): ReviewedUser | undefined {
  if (!isFields(status)) throw toUnclear("TokenReview");
  if (status["authenticated"] !== true) return undefined;
  const { username, uid, groups, extra } = isFields(status["user"]) ? status["user"] : {};
  if (typeof username !== "string" || username === "") throw toUnclear("TokenReview");
  // A user with missing fields may be a different user.
  if (!isAbsentOr(isText, uid) || !isAbsentOr(isTexts, groups) || !isAbsentOr(isExtra, extra)) {
    throw toUnclear("TokenReview");
  }
  return { username, ...(uid && { uid }), ...(groups && { groups }), ...(extra && { extra }) };
}

function isAbsentOr<T>(
  is: (value: unknown) => value is T,
  value: unknown,
): value is T | null | undefined {
  return value === undefined || value === null || is(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

function isExtra(value: unknown): value is Readonly<Record<string, readonly string[]>> {
  return isFields(value) && Object.values(value).every(isTexts);
}

function toUnclear(kind: string): KubeError {
  return new KubeError("unavailable", `Cannot ask for a ${kind}: the answer is not a ${kind}`);
}

async function count<T>(asked: Promise<T>, counter: Counter): Promise<T> {
  try {
    const answer = await asked;
    counter.inc({ code: ANSWERED });
    return answer;
  } catch (error) {
    const code = error instanceof KubeError ? error.code : undefined;
    counter.inc({ code: code === undefined ? "<error>" : String(code) });
    throw error;
  }
}
