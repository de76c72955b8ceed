/**
 * Errors of the API server, by kind.
 * @module
 */

/**
 * Why the API server refused or did not answer.
 *
 * `conflict` 409 · `alreadyExists` 409 with that reason · `notFound` 404 · `gone` 410 or Expired · `forbidden` 403 ·
 * `unauthorized` 401 · `throttled` 429 · `invalid` 422 and 400 · `unavailable` 5xx, no connection, time-out
 */
export type KubeErrorKind =
  | "conflict"
  | "alreadyExists"
  | "notFound"
  | "gone"
  | "forbidden"
  | "unauthorized"
  | "throttled"
  | "invalid"
  | "unavailable";

/** Details of a refusal. */
export interface KubeErrorOptions extends ErrorOptions {
  /** HTTP status; absent when there was no reply. */
  code?: number;
  /** `reason` of the Status object. */
  reason?: string;
  /** Pause from Retry-After, in milliseconds. */
  retryAfterMs?: number;
}

/** The API server refused a request, or did not answer. */
export class KubeError extends Error {
  override readonly name = "KubeError";
  readonly kind: KubeErrorKind;
  readonly code: number | undefined;
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(kind: KubeErrorKind, message: string, options: KubeErrorOptions = {}) {
    super(message, options);
    this.kind = kind;
    this.code = options.code;
    this.reason = options.reason;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Whether an error is a {@linkcode KubeError} of this kind. */
export function isKubeError(error: unknown, kind: KubeErrorKind): error is KubeError {
  return error instanceof KubeError && error.kind === kind;
}
