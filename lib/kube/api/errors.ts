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

/** A field that the API server refused, and why. */
export interface RefusedField {
  /** `spec.ports[0].nodePort` */
  readonly field: string;
  /** `Invalid value: 30001: provided port is already allocated` */
  readonly message: string;
}

/** Details of a refusal. */
interface KubeErrorOptions extends ErrorOptions {
  /** HTTP status; absent when there was no reply. */
  code?: number | undefined;
  /** `reason` of the Status object. */
  reason?: string | undefined;
  /** Pause from Retry-After, in milliseconds. */
  retryAfterMs?: number | undefined;
  /** Fields that the server names. @default {none} */
  fields?: readonly RefusedField[] | undefined;
}

/** The API server refused a request, or did not answer. */
export class KubeError extends Error {
  override readonly name = "KubeError";
  readonly kind: KubeErrorKind;
  readonly code: number | undefined;
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly fields: readonly RefusedField[];

  constructor(kind: KubeErrorKind, message: string, options: KubeErrorOptions = {}) {
    super(message, options);
    this.kind = kind;
    this.code = options.code;
    this.reason = options.reason;
    this.retryAfterMs = options.retryAfterMs;
    this.fields = options.fields ?? [];
  }
}

/** Whether an error is a {@linkcode KubeError} of this kind. */
export function isKubeError(error: unknown, kind: KubeErrorKind): error is KubeError {
  return error instanceof KubeError && error.kind === kind;
}
