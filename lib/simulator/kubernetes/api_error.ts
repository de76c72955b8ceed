/**
 * Refusals of the API server: an HTTP status and a Status object that says why.
 * @module
 */
import type { FaultRule } from "./faults.ts";
import type { JsonObject } from "./patches/json.ts";

/** What a Status object may contain besides code, reason and message. */
interface ApiErrorOptions {
  /** The `details` of the Status. */
  readonly details?: JsonObject;
  /** Sent as header `Retry-After` and as `details.retryAfterSeconds`. */
  readonly retryAfterSeconds?: number;
  /** `metadata.continue` of the Status: how to continue after an expired page. */
  readonly continue?: string;
}

/** A request that the simulated API server refuses. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: number;
  readonly reason: string;
  readonly options: ApiErrorOptions;

  constructor(code: number, reason: string, message: string, options: ApiErrorOptions = {}) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.options = options;
  }

  /** The Status object (Kubernetes API conventions, "Response Status Kind"). */
  toStatus(): JsonObject {
    const { details, retryAfterSeconds } = this.options;
    const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: this.options.continue === undefined ? {} : { continue: this.options.continue },
      status: "Failure",
      message: this.message,
      ...(this.reason === "" ? {} : { reason: this.reason }),
      ...(details === undefined && retryAfterSeconds === undefined
        ? {}
        : { details: { ...details, ...retry } }),
      code: this.code,
    };
  }
}

/** The subject of an error. */
export interface ErrorSubject {
  readonly group: string;
  /** Plural name. */
  readonly resource: string;
  readonly kind: string;
  readonly name: string;
}

function detailsOf(subject: ErrorSubject): JsonObject {
  return {
    name: subject.name,
    ...(subject.group === "" ? {} : { group: subject.group }),
    kind: subject.resource,
  };
}

function qualified(subject: ErrorSubject): string {
  return subject.group === "" ? subject.resource : `${subject.resource}.${subject.group}`;
}

/** 404: there is no such object. */
export function notFound(subject: ErrorSubject): ApiError {
  const message = `${qualified(subject)} "${subject.name}" not found`;
  return new ApiError(404, "NotFound", message, { details: detailsOf(subject) });
}

/** 404: there is no such path. */
export function noSuchPath(): ApiError {
  return new ApiError(404, "NotFound", "the server could not find the requested resource", {
    details: {},
  });
}

/** 409: an object with that name exists already. */
export function alreadyExists(subject: ErrorSubject): ApiError {
  const message = `${qualified(subject)} "${subject.name}" already exists`;
  return new ApiError(409, "AlreadyExists", message, { details: detailsOf(subject) });
}

const STALE =
  "the object has been modified; please apply your changes to the latest version and try again";

/** 409: the write was based on an old version, or on another object with the same name. */
export function conflict(subject: ErrorSubject, cause: string = STALE): ApiError {
  const message = `Operation cannot be fulfilled on ${qualified(subject)} "${subject.name}": ${cause}`;
  return new ApiError(409, "Conflict", message, { details: detailsOf(subject) });
}

/** 409: others manage these fields, and the applied object sets them to other values. */
export function applyConflict(fields: readonly string[]): ApiError {
  const causes = fields.map((field) => ({
    reason: "FieldManagerConflict",
    message: "conflict with another manager",
    field,
  }));
  const message = `Apply failed with ${fields.length} conflict(s): ${fields.join(", ")}`;
  return new ApiError(409, "Conflict", message, { details: { causes } });
}

/** One field that breaks a rule. */
export interface FieldProblem {
  readonly field: string;
  /** `FieldValueInvalid`, `FieldValueForbidden`, `FieldValueRequired`, `FieldValueDuplicate`, … */
  readonly reason: string;
  readonly message: string;
}

/** 422: the object breaks a rule. */
export function invalid(subject: ErrorSubject, problems: readonly FieldProblem[]): ApiError {
  const kind = subject.group === "" ? subject.kind : `${subject.kind}.${subject.group}`;
  const texts = problems.map((problem) => `${problem.field}: ${problem.message}`);
  const text = texts.length === 1 ? texts.join("") : `[${texts.join(", ")}]`;
  const causes = problems.map((problem) => ({ ...problem }));
  const group = subject.group === "" ? {} : { group: subject.group };
  return new ApiError(422, "Invalid", `${kind} "${subject.name}" is invalid: ${text}`, {
    details: { name: subject.name, ...group, kind: subject.kind, causes },
  });
}

/** 400: the request cannot be read. */
export function badRequest(message: string): ApiError {
  return new ApiError(400, "BadRequest", message);
}

/** 410: the requested version is no longer kept. */
export function expired(message: string, continueToken?: string): ApiError {
  const options = continueToken === undefined ? {} : { continue: continueToken };
  return new ApiError(410, "Expired", message, options);
}

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** The answer of a rule that refuses a request. */
export function toRefusal(rule: FaultRule): ApiError {
  const reason = rule.reason ?? REASONS[rule.status] ?? "";
  const message = rule.message ?? `the simulator refuses this request: ${rule.status} ${reason}`;
  const { retryAfterSeconds } = rule;
  const options = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new ApiError(rule.status, reason, message, options);
}
