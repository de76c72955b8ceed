/**
 * Reads the stickiness policies of rules. CloudStack shows those of one rule at a time.
 * @module
 */
import type { Limiter } from "../../../../core/concurrency.ts";
import { ApiError } from "../../session/errors.ts";
import type { LoadBalancingApi } from "../../wire/load_balancing_api.ts";
import { isAboutOne } from "./memberships.ts";
import type { StickinessPolicy } from "../view.ts";

/** What is asked about. */
export interface PolicyQuestion {
  /** IDs of the rules in networks with stickiness, each with whether its Service asks for it. */
  readonly rules: ReadonlyMap<string, boolean>;
  /** What was known before, by the ID of the rule. */
  readonly known: ReadonlyMap<string, readonly StickinessPolicy[]>;
  /** Bounds how many questions are asked at once. */
  readonly limiter: Limiter;
}

/**
 * Reads the policies of rules: of those whose Service asks for stickiness, that had a policy, or that were never asked
 * about. A rule without policies whose Service asks for none is not asked about again.
 *
 * @returns The policies by the ID of the rule. Rules that CloudStack, or the role, refuses to show are missing
 * @throws {CloudError} when CloudStack does not answer
 */
export async function readPolicies(
  api: Pick<LoadBalancingApi, "listPolicies">,
  { rules, known, limiter }: PolicyQuestion,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly StickinessPolicy[]>> {
  const policies = new Map<string, readonly StickinessPolicy[]>();
  let isDenied = false;
  const read = async (ruleId: string): Promise<void> => {
    if (isDenied) return;
    try {
      const found = await api.listPolicies(ruleId, signal);
      if (found !== undefined) policies.set(ruleId, found);
    } catch (error) {
      if (isAboutOne(error)) return;
      // A role may lack this command if no Service asks for stickiness. Wrong keys make the look fail elsewhere.
      isDenied ||= error instanceof ApiError && error.kind === "denied";
      if (!isDenied) throw error;
    }
  };
  const reading = [...rules].map(async ([ruleId, isWanted]) => {
    const before = known.get(ruleId);
    if (before?.length === 0 && !isWanted) policies.set(ruleId, before);
    else await limiter.run(() => read(ruleId), signal);
  });
  await Promise.all(reading);
  return policies;
}
