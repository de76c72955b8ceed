/**
 * Presences about which nothing is known. Pure.
 * @module
 */
import { describeError } from "../core/errors.ts";
import { CloudError } from "./errors.ts";
import type { Presence, UnknownReason } from "./provider.ts";

/** It is unknown whether a Node's machine exists. @param message What is wrong and what to do; no full stop */
export function toUnknown(reason: UnknownReason, message: string): Presence & { kind: "unknown" } {
  return { kind: "unknown", reason, message };
}

/** The same because the cloud gave no answer: its kind of error, or `unreachable` when it has none. */
export function toUnanswered(error: unknown): Presence & { kind: "unknown" } {
  const reason = error instanceof CloudError ? error.kind : "unreachable";
  return toUnknown(reason, describeError(error));
}
