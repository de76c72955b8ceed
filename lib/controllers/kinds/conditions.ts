/**
 * The conditions in the status of an object of our kinds.
 * @module
 */
import { formatTime } from "../../core/clock.ts";
import { toMessage } from "../../core/text/printable.ts";
import type { ReasonWord } from "./words.ts";

/** A condition, as `metav1.Condition`. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  /** RFC 3339, UTC. */
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** A condition without its time. */
export type Finding<Type extends string> = Omit<
  Condition,
  "lastTransitionTime" | "observedGeneration"
> & { readonly type: Type };

/** What conditions get beside their findings. */
export interface ConditionContext {
  /** Wall-clock time. */
  readonly nowMs: number;
  /** The generation of the spec that the findings are about. */
  readonly generation?: number | undefined;
  /** All types of the kind, in their order. Conditions of other programs come last. */
  readonly order: readonly string[];
}

/** How many fields a message names: an object has a limited size. */
const FIELDS_NAMED_MAX = 50;

/** Creates a finding. @param message A sentence without a full stop */
export function toFinding<Type extends string>(
  type: Type,
  { status, reason }: ReasonWord,
  message: string,
): Finding<Type> {
  return { type, status, reason, message: toMessage(message) };
}

/**
 * Conditions with their times. A condition whose status did not change keeps its time.
 *
 * @param previous Those that the object has. Those without a finding stay as they are
 */
export function toConditions(
  findings: readonly Finding<string>[],
  previous: readonly Condition[],
  { nowMs, generation, order }: ConditionContext,
): Condition[] {
  const now = formatTime(nowMs);
  const found = findings.map((finding): Condition => {
    const before = previous.find(({ type }) => type === finding.type);
    return {
      ...finding,
      lastTransitionTime: before?.status === finding.status ? before.lastTransitionTime : now,
      ...(generation !== undefined && { observedGeneration: generation }),
    };
  });
  const others = previous.filter(({ type }) => found.every((one) => one.type !== type));
  const toRank = ({ type }: Condition): number => {
    const at = order.indexOf(type);
    return at < 0 ? order.length : at;
  };
  return [...found, ...others].toSorted((a, b) => toRank(a) - toRank(b));
}

/**
 * Says which fields of a right spec have no effect.
 *
 * @param words When there are some, and when there are none
 * @param fields `spec.networks[0].bridgeName`
 */
export function findUnsupported(
  words: Readonly<Record<"some" | "none", ReasonWord>>,
  fields: readonly string[],
): Finding<"UnsupportedFields"> {
  const type = "UnsupportedFields";
  if (fields.length === 0)
    return toFinding(type, words.none, "The spec has no field without a meaning");
  const more = fields.length - FIELDS_NAMED_MAX;
  const named = [...fields.slice(0, FIELDS_NAMED_MAX), ...(more > 0 ? [`and ${more} more`] : [])];
  const message = `These fields have no effect, remove them: ${named.join(", ")}`;
  return toFinding(type, words.some, message);
}

/** Finds a condition of a status, for Events about a change. */
export function findCondition(
  status: { readonly conditions?: readonly Condition[] } | undefined,
  type: string,
): Condition | undefined {
  return status?.conditions?.find((one) => one.type === type);
}
