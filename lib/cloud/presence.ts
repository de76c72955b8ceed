/**
 * Creates the Presence `unknown`. Pure.
 * @module
 */
import { describeError } from "../core/errors.ts";
import { CloudError } from "./errors.ts";
import type { Presence, UnknownReason } from "./provider.ts";

/** Presence of a machine that may or may not exist. @param message What is wrong and what to do; no full stop */
export function toUnknown(reason: UnknownReason, message: string): Presence & { kind: "unknown" } {
  return { kind: "unknown", reason, message };
}

/** The same when the cloud gave no answer. The reason is the kind of the error, or `unreachable` for other errors. */
export function toUnanswered(error: unknown): Presence & { kind: "unknown" } {
  const reason = error instanceof CloudError ? error.kind : "unreachable";
  return toUnknown(reason, describeError(error));
}
