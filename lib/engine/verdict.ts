/**
 * What follows a reconcile that failed. Pure.
 * @module
 */
import type { LogLevel } from "../core/log.ts";
import { isKubeError } from "../kube/api/errors.ts";

/** How a reconcile ended. */
export type ReconcileOutcomeKind =
  "ok" | "conflict" | "throttled" | "notFound" | "timeout" | "error";

/** What follows a reconcile. `retry`: after milliseconds, by back-off, or when something changes. */
export interface Verdict {
  readonly outcome: ReconcileOutcomeKind;
  readonly retry: number | "backoff" | "change";
  readonly level?: LogLevel;
  readonly error?: unknown;
}

/** A reconcile did not end in time. */
export class ReconcileTimeoutError extends Error {
  override readonly name = "ReconcileTimeoutError";
}

/** Whether the object of a key is gone. `maybe`: the watch still shows it, and may be late. */
export type Absence = "gone" | "maybe" | "exists";

/** Judges an error. */
export function toVerdict(error: unknown, absence: Absence): Verdict {
  if (isKubeError(error, "conflict")) {
    return { outcome: "conflict", retry: "backoff", level: "debug", error };
  }
  // A namespace, a kind or another object may be missing as well, and that does not pass by itself.
  if (isKubeError(error, "notFound") && absence !== "exists") {
    const retry = absence === "gone" ? "change" : "backoff";
    return { outcome: "notFound", retry, level: "debug", error };
  }
  const retryAfterMs = toRetryAfterMs(error);
  if (retryAfterMs !== undefined) {
    return { outcome: "throttled", retry: retryAfterMs, level: "info", error };
  }
  const outcome = error instanceof ReconcileTimeoutError ? "timeout" : "error";
  return { outcome, retry: "backoff", level: "warn", error };
}

/** Errors of clouds and of Kubernetes both have the pause that the server asked for. */
function toRetryAfterMs(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("retryAfterMs" in error)) return undefined;
  const { retryAfterMs } = error;
  return typeof retryAfterMs === "number" && retryAfterMs > 0 ? retryAfterMs : undefined;
}
