/**
 * What it means when a list lacks a VM: rarely that it may be gone.
 * @module
 */
import { toUnknown } from "../../../cloud/presence.ts";
import type { Presence, UnknownReason } from "../../../cloud/provider.ts";
import { type AbsenceQuestion, MOVING } from "./absence.ts";
import { NEVER_SHOWN } from "../scope/named_pools.ts";
import { NO_POOL_ADVICE } from "../rights.ts";
import { findNameless } from "../wire/schema.ts";

const REMOVED = "the pool was removed from Xen Orchestra, which cannot tell any more";

/**
 * Says why the VM of a provider ID is not in an inventory. It is `notListed`, one observation of absence, only if the
 * list was asked for the VM, every pool that may hold it answered in full, and it is not on its way to another.
 */
export function judgeUnlisted(question: AbsenceQuestion): Presence {
  const { vmId, poolIds, inventory, isMoving, removed } = question;
  const { coverage, lookedFor, undecodable } = inventory;
  const say = (reason: UnknownReason, why: string): Presence =>
    toUnknown(reason, `VM ${vmId} is not listed, ${why}`);
  if (lookedFor?.has(vmId) === false) {
    return say("noInventory", "but the last list was not asked for it; the next one will tell");
  }
  if (poolIds.length === 0) {
    const advice = "if the VM is gone, delete the Node";
    return say("notCovered", `and its provider ID names no pool to look at; ${advice}`);
  }
  for (const poolId of poolIds) {
    const pool = coverage.get(poolId);
    if (pool?.complete) continue;
    const gone = removed.find((one) => one.poolId === poolId);
    const { name = poolId, reason = NEVER_SHOWN } =
      gone === undefined ? (pool ?? {}) : { name: gone.name, reason: REMOVED };
    // Without a single pool it is more likely that the user may see none.
    const isOneShown =
      gone !== undefined || [...coverage.values()].some(({ complete }) => complete);
    const advice = isOneShown
      ? "if the pool was removed for good, delete the Node"
      : NO_POOL_ADVICE;
    return say("notCovered", `and its pool ${name} is not shown in full: ${reason}; ${advice}`);
  }
  if (isMoving) return say("notCovered", `but ${MOVING}`);
  const nameless = findNameless(undecodable);
  if (nameless) return say("undecodable", `but one that cannot be read is: ${nameless}`);
  return say("notListed", "which alone proves nothing");
}
