/**
 * Why a cloud gives no answer.
 * @module
 */

/**
 * Why a cloud gave no usable answer.
 *
 * - `unreachable`: no reply in time, or a 5xx; try again
 * - `throttled`: too many requests; wait for as long as the cloud says
 * - `denied`: 401 or 403; it may pass without help, but an operator should look
 * - `protocol`: a reply that is not the service's (HTML, wrong shape); an operator should look
 */
export type CloudErrorKind = "unreachable" | "throttled" | "denied" | "protocol";

/** The error when a cloud cannot answer. It never means that an instance is gone. */
export class CloudError extends Error {
  override readonly name = "CloudError";
  readonly kind: CloudErrorKind;
  /** How long the cloud asks Landfall to send no more requests, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** HTTP status of the reply; absent without a reply, or when the status is not the problem. */
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
