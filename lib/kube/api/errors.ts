/**
 * Errors of the API server, by kind. Those of its replies come from the reason of their Status object, then from their
 * code. Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
 * @module
 */
import { shorten } from "../../core/text/printable.ts";
import { isFields, parseJson } from "../../core/text/values.ts";
import { toPauseMs } from "../../core/http/request.ts";

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
interface RefusedField {
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

/** Whether the API server refuses a request, and will again until a right or an object is changed. */
export function isRefusal(error: unknown): error is KubeError {
  return isKubeError(error, "forbidden") || isKubeError(error, "invalid");
}

/** The fields of a Status object that Landfall reads. */
interface Status {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
  readonly fields?: readonly RefusedField[];
}

/** The parts of a failed reply that Landfall reads. */
interface FailedReply {
  /** HTTP status. */
  readonly code: number;
  readonly body: string;
  /** From the header. */
  readonly retryAfterMs?: number | undefined;
}

const KIND_BY_REASON: Readonly<Record<string, KubeErrorKind>> = {
  AlreadyExists: "alreadyExists",
  BadRequest: "invalid",
  Conflict: "conflict",
  Expired: "gone",
  Forbidden: "forbidden",
  Gone: "gone",
  InternalError: "unavailable",
  Invalid: "invalid",
  NotFound: "notFound",
  ServerTimeout: "unavailable",
  ServiceUnavailable: "unavailable",
  StoreReadError: "unavailable",
  Timeout: "unavailable",
  TooManyRequests: "throttled",
  Unauthorized: "unauthorized",
};

const KIND_BY_CODE: Readonly<Record<number, KubeErrorKind>> = {
  401: "unauthorized",
  403: "forbidden",
  404: "notFound",
  408: "unavailable",
  409: "conflict",
  410: "gone",
  429: "throttled",
};

/** How many characters to show of another server's page, and of a Kubernetes message, which lists every wrong field. */
const SHOWN_CHARS_MAX = 200;
const MESSAGE_CHARS_MAX = 2_000;

/**
 * The error for a reply.
 *
 * A 404 counts as `notFound` only with a Status object: any proxy on the way can answer 404, and for callers `notFound`
 * proves that the object is gone.
 *
 * @param what The request, as `patch "/api/v1/nodes/a"`
 * @param reply Status, body and requested pause
 */
export function toKubeError(what: string, reply: FailedReply): KubeError {
  const status = parseStatus(reply.body);
  const { code } = reply;
  const reason = status?.reason;
  const { retryAfterSeconds } = status ?? {};
  const retryAfterMs =
    reply.retryAfterMs ??
    (retryAfterSeconds === undefined ? undefined : toPauseMs(retryAfterSeconds * 1_000));
  const shown =
    status?.message === undefined
      ? describeBody(reply)
      : shorten(status.message, MESSAGE_CHARS_MAX);
  const head = reason === undefined ? `${code}` : `${code} ${reason}`;
  return new KubeError(
    toKind(status, code),
    `Cannot ${what}: ${head}${shown === "" ? "" : `: ${shown}`}`,
    { code, reason, retryAfterMs, fields: status?.fields },
  );
}

/** Reads a Status object from JSON text or from a parsed value; `undefined` if it is something else. */
export function parseStatus(given: unknown): Status | undefined {
  const value = typeof given === "string" ? parseJson(given) : given;
  if (!isFields(value) || value["kind"] !== "Status") return undefined;
  const { code, reason, message, details } = value;
  const { retryAfterSeconds: seconds, causes } = isFields(details) ? details : {};
  const fields = listRefusedFields(causes);
  return {
    ...(typeof code === "number" && { code }),
    ...(typeof reason === "string" && reason !== "" && { reason }),
    ...(typeof message === "string" && { message }),
    ...(typeof seconds === "number" && seconds > 0 && { retryAfterSeconds: seconds }),
    ...(fields.length > 0 && { fields }),
  };
}

function listRefusedFields(causes: unknown): RefusedField[] {
  if (!Array.isArray(causes)) return [];
  return causes.flatMap((cause: unknown) => {
    const { field, message } = isFields(cause) ? cause : {};
    if (typeof field !== "string" || typeof message !== "string") return [];
    return [{ field, message: shorten(message, SHOWN_CHARS_MAX) }];
  });
}

function toKind(status: Status | undefined, code: number): KubeErrorKind {
  const { reason = "" } = status ?? {};
  // A reason may be any word, even the name of a property that every object has.
  const byReason = Object.hasOwn(KIND_BY_REASON, reason) ? KIND_BY_REASON[reason] : undefined;
  if (byReason !== undefined) return byReason;
  if (status === undefined && code === 404) return "unavailable";
  const byCode = KIND_BY_CODE[code];
  if (byCode !== undefined) return byCode;
  return code >= 400 && code < 500 ? "invalid" : "unavailable";
}

/** What the API server answers for the kinds of a group that it does not know, as other servers written in Go do. */
const UNKNOWN_PATH = "404 page not found";

function describeBody({ code, body }: FailedReply): string {
  const text = body
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  if (code === 404 && text === UNKNOWN_PATH) {
    return "the CustomResourceDefinition of this kind is not installed, or this is not Kubernetes";
  }
  return text === "" ? "" : `the answer is not from Kubernetes: ${shorten(text, SHOWN_CHARS_MAX)}`;
}
