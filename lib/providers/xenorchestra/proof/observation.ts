/**
 * Judges what it means that a list lacks a VM. Often it does not mean that the VM is gone.
 * @module
 */
import { type Presence, toUnknown, type UnknownReason } from "../../../cloud/provider.ts";
import { findNameless } from "../../../cloud_http/decode.ts";
import { type AbsenceQuestion, MOVING } from "./absence.ts";
import { NEVER_SHOWN } from "../scope/pools.ts";
import { NO_POOL_ADVICE } from "../model/presence.ts";

const REMOVED = "the pool was removed from Xen Orchestra";

/**
 * Says why the VM of a provider ID is not in an inventory. The result is `notListed`, one observation of absence, only
 * if the request included the VM, every pool that may hold it answered in full, and it is not migrating.
 */
export function judgeUnlisted(question: AbsenceQuestion): Presence {
  const { vmId, poolIds, inventory, isMoving, removed } = question;
  const { coverage, lookedFor, undecodable } = inventory;
  const say = (reason: UnknownReason, why: string): Presence =>
    toUnknown(reason, `Cannot find VM ${vmId}: ${why}`);
  if (lookedFor?.has(vmId) === false) {
    return say("noInventory", "the last list did not include it; Landfall asks again");
  }
  if (poolIds.length === 0) {
    const advice = "if the VM is gone, delete the Node";
    return say("notCovered", `its provider ID names no pool to check; ${advice}`);
  }
  for (const poolId of poolIds) {
    const pool = coverage.get(poolId);
    if (pool?.complete) continue;
    const gone = removed.find((one) => one.poolId === poolId);
    const { name = poolId, reason = NEVER_SHOWN } =
      gone === undefined ? (pool ?? {}) : { name: gone.name, reason: REMOVED };
    // If no pool is shown, the user most likely has no right to see pools.
    const isOneShown =
      gone !== undefined || [...coverage.values()].some(({ complete }) => complete);
    const keep = gone ? "if the VM is gone" : "if the pool was removed for good";
    const advice = isOneShown ? `${keep}, delete the Node` : NO_POOL_ADVICE;
    return toUnknown("notCovered", `Cannot check VM ${vmId} in pool ${name}: ${reason}; ${advice}`);
  }
  if (isMoving) return say("notCovered", MOVING);
  const nameless = findNameless(undecodable);
  if (nameless)
    return say("undecodable", `the list holds a VM that Landfall cannot read: ${nameless}`);
  return say(
    "notListed",
    "Xen Orchestra does not list it, which alone does not prove that it is gone",
  );
}
