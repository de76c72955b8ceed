/**
 * Plans to remove what was made for a Service. Pure.
 * @module
 */
import type {
  LoadBalancerClaim,
  LoadBalancerPlan,
  LoadBalancerProblem,
} from "../../../../cloud/capabilities/load_balancers.ts";
import { listOwnItems, toDeletion as toItemDeletion } from "../clients/acl.ts";
import { planOrphanRemoval } from "../clients/firewall.ts";
import { describeOwner } from "../reading/inheritance.ts";
import {
  checkAsked,
  checkClusters,
  checkPending,
  checkUnsigned,
  findDoubtful,
  findLost,
  hasRulesOf1x,
  isOwnOrProven,
  listAddresses,
  listUsers,
  listUses,
  mayTag,
  planNaming,
  toDoubt,
  toTagging,
  toTurn,
} from "./ownership.ts";
import { isWaiting, toNotice } from "../wanted/problems.ts";
import { listActual } from "./parts.ts";
import { planRemoval } from "./removal.ts";
import {
  inPart,
  isGoing,
  isOwn,
  isOwnOrInherited,
  listOwnRules,
  type Scene,
  toPart,
  toScene,
  toStep,
} from "./scene.ts";
import type { PartPlan } from "./stickiness.ts";
import type { Step } from "../steps.ts";
import { findUnreadable, findUnreadableAddresses } from "./unreadable.ts";
import type { AclItem, PublicAddress, View } from "../view.ts";

/** Plans to remove everything of a Service: what clients reach first, the address last. */
export function planRelease(view: View, claim: LoadBalancerClaim): LoadBalancerPlan<Step> {
  const scene = toScene(view, claim);
  const waiting = toAwaiting(scene);
  if (waiting !== undefined) return { steps: [waiting], problems: [], parts: [] };
  const addresses = listAddresses(scene);
  const plans = addresses.map((one) => planAddressRemoval(scene, one, () => false));
  const steps = withItems(
    scene,
    plans.flatMap((one) => one.steps),
    () => false,
  );
  const problems = [
    ...plans.flatMap((one) => one.problems),
    ...[...findDoubtful(scene), ...findLost(scene)].map(toDoubt),
    ...checkUnsigned(scene),
    ...checkClusters(scene),
    ...checkPending(scene),
    ...checkAsked(scene),
    ...findUnreadable(scene, new Set(addresses.map(({ id }) => id))),
    ...listNames(scene).flatMap((ip) => findUnreadableAddresses(scene, ip)),
  ];
  const isDone = steps.length === 0 && !isWaiting(problems);
  return { steps, problems, ...(isDone && { ingress: [] }), parts: listActual(scene, addresses) };
}

/**
 * Plans to take the Service off an address, and to release the address if it is the Service's own and nothing else uses
 * it. What proves that an address is the Service's own may be on its rules, so it is tagged before they go.
 */
export function planAddressRemoval(
  scene: Scene,
  address: PublicAddress,
  isNeeded: (item: AclItem) => boolean,
): PartPlan {
  const tagging =
    !isOwn(scene, address) && mayTag(scene, address) ? [toTagging(scene, address)] : [];
  const removal = listOwnRules(scene, address.id).flatMap((one) =>
    inPart(toPart(one), planRemoval(scene, one, isNeeded)),
  );
  const orphans = isOwnOrInherited(scene, address) ? planOrphanRemoval(scene, address) : [];
  const steps = [...tagging, ...planNaming(scene, address), ...orphans, ...removal];
  if (!isOwnOrProven(scene, address)) {
    const isDoubtful =
      !isGoing(address) && hasRulesOf1x(scene, address) && scene.claim.address !== address.ip;
    return { steps, problems: isDoubtful ? [toDoubt(address)] : [] };
  }
  const uses = listUses(scene, address);
  if (uses.length > 0) return { steps, problems: [toKept(scene, address, uses)] };
  // Also one that is going: a release that fails at its end leaves it so, until it is released again.
  const change = { kind: "releaseAddress" as const, addressId: address.id };
  const release = toStep(scene, `release address ${address.ip}`, change, toTurn(address));
  return { steps: [...steps, release], problems: [] };
}

/** Says why an address stays, and who releases it. */
function toKept(
  scene: Scene,
  address: PublicAddress,
  uses: readonly string[],
): LoadBalancerProblem {
  const what = `public IP ${address.ip}`;
  const users = listUsers(scene, address);
  if (users !== undefined) {
    const names = users.map(describeOwner).join(", ");
    const use = users.length === 1 ? "uses" : "use";
    const then = "Landfall releases it with the last Service that uses it";
    return toNotice("AddressKept", `${what} stays, because ${names} ${use} it; ${then}`);
  }
  const whose = isOwn(scene, address) ? "this Service" : "a Service that is gone";
  const message =
    `${what} was taken for ${whose} and stays, because something else uses it: ` +
    `${uses.join(", ")}; release it by hand when nothing needs it any more`;
  return toNotice("AddressKept", message);
}

/** Adds the deletion of the ACL items of the Service that no rule needs, unless it is planned already. */
export function withItems(
  scene: Scene,
  steps: readonly Step[],
  isNeeded: (item: AclItem) => boolean,
): readonly Step[] {
  const planned = new Set(
    steps.map(({ change }) => (change.kind === "deleteAclItem" ? change.itemId : undefined)),
  );
  const left = listOwnItems(scene).filter((one) => !isNeeded(one) && !planned.has(one.id));
  return [...steps, ...left.map((one) => toItemDeletion(scene, one, findTurn(scene, one)))];
}

/** Plans to wait for a job that an earlier process started: what it makes is not in the look yet. */
export function toAwaiting(scene: Scene): Step | undefined {
  const job = scene.record?.job;
  if (job === undefined) return undefined;
  const change = { kind: "awaitJob" as const, jobId: job.id, command: job.command };
  // Without a lock: a user who may edit the Service may write a job here that never ends.
  return toStep(scene, `wait for ${job.command} (job ${job.id})`, change);
}

function findTurn({ view }: Scene, { listId }: AclItem): string | undefined {
  return [...view.networks.values()].find(({ aclListId }) => aclListId === listId)?.id;
}

/** IPs that an address of the Service may have, as far as the Service says. */
function listNames({ claim, record }: Scene): readonly string[] {
  const shown = claim.ingress.flatMap((one) => ("ip" in one ? [one.ip] : []));
  return [...new Set([...shown, claim.address ?? "", record?.address?.ip ?? ""])];
}
