/**
 * Why a cloud gives no answer.
 * @module
 */

/**
 * Why a cloud gave no usable answer.
 *
 * - `unreachable`: no reply in time, or a 5xx; try again
 * - `throttled`: too many requests; wait for as long as the cloud says
 * - `denied`: 401 or 403; may end by itself, but an operator should look
 * - `protocol`: a reply that is not the service's (HTML, wrong shape); an operator should look
 */
export type CloudErrorKind = "unreachable" | "throttled" | "denied" | "protocol";

/** A cloud that cannot answer. Never means that an instance is gone. */
export class CloudError extends Error {
  override readonly name = "CloudError";
  readonly kind: CloudErrorKind;
  /** How long the cloud asks for no more requests, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** HTTP status of the reply; absent when there was none, or when the status is not the problem. */
  readonly status: number | undefined;

  constructor(
    kind: CloudErrorKind,
    message: string,
    options: ErrorOptions & { retryAfterMs?: number; status?: number } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
  }
}
