/**
 * Changes of stickiness policies.
 * @module
 */
import { LB_SCHEMAS } from "../../wire/load_balancing.ts";
import type { ChangeOf } from "../steps.ts";
import { POLICY_DESCRIPTION } from "../words.ts";
import { type Acting, send, sendRemoval } from "./acting.ts";
import { toIndexed } from "./indexed.ts";

/** Makes a policy. CloudStack replaces the one that the rule has. */
export async function createPolicy(
  { ruleId, name, method, params: wanted }: ChangeOf<"createPolicy">,
  acting: Acting,
): Promise<void> {
  const params = {
    lbruleid: ruleId,
    name,
    methodname: method,
    description: POLICY_DESCRIPTION,
    ...toIndexed("param", "name", wanted),
  };
  const { store } = acting;
  const { policies } = await send(acting, {
    command: "createLBStickinessPolicy",
    params,
    key: "stickinesspolicies",
    schema: LB_SCHEMAS.stickiness,
  });
  const made = policies.find((one) => one.name === name);
  if (made === undefined || made.method !== method) return store.invalidate();
  for (const { id } of store.view?.policies.get(ruleId) ?? []) store.dropPolicy(ruleId, id);
  store.putPolicy(ruleId, made);
}

/** Deletes a policy. */
export async function deletePolicy(
  { policyId, ruleId }: ChangeOf<"deletePolicy">,
  acting: Acting,
): Promise<void> {
  await sendRemoval(acting, "deleteLBStickinessPolicy", policyId);
  acting.store.dropPolicy(ruleId, policyId);
}
