/**
 * Plans to remove what was made for a Service, and lists what Services left or keep. Pure.
 * @module
 */
import type {
  KeptAddress,
  LiveServices,
  LoadBalancerClaim,
  LoadBalancerLeftover,
  LoadBalancerPlan,
  LoadBalancerProblem,
} from "../../../cloud/capabilities/load_balancers.ts";
import { listOwnItems, toDeletion as toItemDeletion } from "./acl.ts";
import { planOrphanRemoval } from "./firewall.ts";
import {
  describeOwner,
  explainUse,
  inPart,
  isGoing,
  isOwn,
  isOwnOrInherited,
  listOwnRules,
  listUnshared,
  type Current,
  toPart,
  toCurrent,
  toStep,
  toWordTag,
} from "./current.ts";
import {
  checkAsked,
  checkClusters,
  checkPending,
  checkUnsigned,
  listUnclear,
  findLost,
  hasRulesOf1x,
  isOwnOrProven,
  listAddresses,
  listUsers,
  listUses,
  mayTag,
  planNaming,
  toUnclear,
  toTagging,
  toTurn,
} from "./ownership.ts";
import {
  ANNOTATIONS,
  findKeptFor,
  isOfCluster,
  isWaiting,
  parseLbName,
  TAG_KEYS,
  toLbName,
  toNotice,
  toWaiting,
} from "./words.ts";
import { listActual } from "./parts.ts";
import { planRemoval } from "./rule.ts";
import { keepsAddress, readAddress } from "./desired.ts";
import type { PartPlan } from "./stickiness.ts";
import type { Step } from "./steps.ts";
import { findUnreadable, findUnreadableAddresses } from "./choose_address.ts";
import { type AclItem, listRulesOn, type PublicAddress, type Observation } from "./observation.ts";
import { quote } from "../../../core/text/printable.ts";

/** Plans to remove everything of a Service: what clients reach first, the address last. */
export function planRelease(cloud: Observation, claim: LoadBalancerClaim): LoadBalancerPlan<Step> {
  const current = toCurrent(cloud, claim);
  const waiting = toAwaiting(current);
  if (waiting !== undefined) return { steps: [waiting], problems: [], parts: [] };
  const addresses = listAddresses(current);
  const plans = addresses.map((one) => planAddressRemoval(current, one, () => false));
  const steps = withItems(
    current,
    plans.flatMap((one) => one.steps),
    () => false,
  );
  const problems = [
    ...plans.flatMap((one) => one.problems),
    ...[...listUnclear(current), ...findLost(current)].map(toUnclear),
    ...checkUnsigned(current),
    ...checkClusters(current),
    ...checkPending(current),
    ...checkAsked(current),
    ...findUnreadable(current, new Set(addresses.map(({ id }) => id))),
    ...listNames(current).flatMap((ip) => findUnreadableAddresses(current, ip)),
  ];
  const isDone = steps.length === 0 && !isWaiting(problems);
  return {
    steps,
    problems,
    // Of a Service that keeps living, it would say that its next address was taken for it.
    ...(isDone && { ingress: [], annotations: { [ANNOTATIONS.isAssociated]: undefined } }),
    parts: listActual(current, addresses),
  };
}

/**
 * Plans to take the Service off an address, and to release the address if it is the Service's own and nothing else uses
 * it. What proves that an address is the Service's own may be on its rules, so it is tagged before they go.
 */
export function planAddressRemoval(
  current: Current,
  address: PublicAddress,
  isNeeded: (item: AclItem) => boolean,
): PartPlan {
  const tagging =
    !isOwn(current, address) && mayTag(current, address) ? [toTagging(current, address)] : [];
  const removal = listOwnRules(current, address.id).flatMap((one) =>
    inPart(toPart(one), planRemoval(current, one, isNeeded)),
  );
  const orphans = isOwnOrInherited(current, address) ? planOrphanRemoval(current, address) : [];
  const steps = [...tagging, ...planNaming(current, address), ...orphans, ...removal];
  if (!isOwnOrProven(current, address)) {
    const isUnclear =
      !isGoing(address) &&
      hasRulesOf1x(current, address) &&
      readAddress(current.claim) !== address.ip;
    return { steps, problems: isUnclear ? [toUnclear(address)] : [] };
  }
  const uses = listUses(current, address);
  const word = uses.length > 0 && isOwn(current, address) ? planWord(current, address) : [];
  const ending = planEnding(current, address);
  const all = [...steps, ...ending.steps];
  const keeping = planKeepingAddress(current, address, [...word, ...all]);
  if (keeping !== undefined)
    return { ...keeping, problems: [...keeping.problems, ...ending.problems] };
  if (ending.steps.length > 0) return { ...ending, steps: all };
  if (uses.length > 0) {
    return { steps: [...word, ...steps], problems: [toKept(current, address, uses)] };
  }
  // Also one that is going: a release that fails at its end leaves it so, until it is released again.
  const change = { kind: "releaseAddress" as const, addressId: address.id };
  const release = toStep(current, `release address ${address.ip}`, change, toTurn(address));
  return { steps: [...steps, release], problems: [] };
}

/**
 * Plans to end the rules of Services that may not use the address of this one: they must not keep it from its release.
 * Nothing if this Service may not use the address either.
 */
function planEnding(current: Current, address: PublicAddress): PartPlan {
  const { cloud, claim } = current;
  const mayUse = explainUse(cloud, claim, address) === undefined;
  const unshared = mayUse ? listUnshared(cloud, address) : [];
  if (unshared.length === 0) return { steps: [], problems: [] };
  const steps = unshared.flatMap(({ rule, claim: other }) =>
    inPart(
      toPart(rule),
      // A job is kept in the record of this Service.
      planRemoval(toCurrent(cloud, other), rule, () => false).map(({ summary, change, lock }) =>
        toStep(current, summary, change, lock),
      ),
    ),
  );
  const owners = new Map(unshared.map(({ claim: { owner } }) => [owner.uid, owner]));
  const others = [...owners.values()];
  const who = others.map(describeOwner).join(", ");
  const message = `public IP ${address.ip} goes, and with it the rules of ${who}, with which it was not shared`;
  return { steps, problems: [{ ...toNotice("AddressNotShared", message), others }] };
}

/** So many idle addresses a namespace keeps: who makes and deletes Services must not get all that the account has. */
const IDLE_MAX = 20;

/**
 * Plans to keep an address for later Services of the namespace; `undefined` if it goes. It is tagged before anything
 * else goes, and nothing ever removes the tag. A Service cannot keep what was taken for one of another namespace.
 *
 * @param removal What takes the Service off the address
 */
function planKeepingAddress(
  current: Current,
  address: PublicAddress,
  removal: readonly Step[],
): PartPlan | undefined {
  const { annotations, owner } = current.claim;
  const { tags, id, ip } = address;
  const isKept = findKeptFor(tags) !== undefined;
  if (isKept)
    return { steps: removal, problems: removal.length > 0 ? [toKeptFor(current, address)] : [] };
  if (!keepsAddress(annotations)) return undefined;
  // It becomes the Service's own first.
  if (!isOwn(current, address) && mayTag(current, address)) return { steps: removal, problems: [] };
  const isOfNamespace = tags.get(TAG_KEYS.service)?.startsWith(`${owner.namespace}/`) ?? false;
  if (!isOwn(current, address) && !isOfNamespace) return undefined;
  const idle = listKept(current.cloud).filter(
    ({ namespace, rules }) => namespace === owner.namespace && rules === 0,
  );
  if (idle.length >= IDLE_MAX) {
    const has = `namespace ${quote(owner.namespace)} already keeps ${idle.length} addresses that no Service uses`;
    const instead = `remove the annotation ${ANNOTATIONS.keepAddress}`;
    const advice = `release one of those that landfall services --kept lists, or ${instead}`;
    const message = `public IP ${ip} cannot be kept: ${has}; ${advice}`;
    return { steps: [], problems: [toWaiting("AddressKept", message)] };
  }
  const kept = new Map([[TAG_KEYS.keptFor, owner.namespace]]);
  const change = { kind: "tagAddress" as const, addressId: id, tags: kept };
  const step = toStep(current, `tag address ${ip} as kept`, change, toTurn(address));
  return { steps: [step, ...removal], problems: [toKeptFor(current, address)] };
}

/** Says why an address stays. */
function toKeptFor(
  { claim: { owner } }: Current,
  { ip, tags }: PublicAddress,
): LoadBalancerProblem {
  const namespace = quote(findKeptFor(tags) ?? owner.namespace);
  const whose = `a Service of namespace ${namespace} that names it`;
  const message = `public IP ${ip} is kept for ${whose}: Landfall never releases it`;
  return toNotice("AddressKept", message);
}

/** The addresses of this cluster that are kept, in order of their namespaces and IPs. */
export function listKept(
  cloud: Pick<Observation, "addresses" | "clusterIds" | "rules">,
): readonly KeptAddress[] {
  return [...cloud.addresses.values()]
    .flatMap(({ id, ip, tags }): KeptAddress[] => {
      const namespace = findKeptFor(tags);
      if (namespace === undefined || !isOfCluster(tags, cloud.clusterIds)) return [];
      const service = tags.get(TAG_KEYS.service);
      const rules = listRulesOn(cloud, id).length;
      return [{ ip, id, namespace, rules, ...(service !== undefined && { service }) }];
    })
    .toSorted((a, b) => (`${a.namespace} ${a.ip}` < `${b.namespace} ${b.ip}` ? -1 : 1));
}

/** Plans to write down the word of a Service on its address, for the time when Kubernetes does not have it any more. */
function planWord(current: Current, address: PublicAddress): readonly Step[] {
  const word = toWordTag(current.claim);
  if (word === undefined || address.tags.has(TAG_KEYS.sharedWith)) return [];
  const tags = new Map([[TAG_KEYS.sharedWith, word]]);
  const change = { kind: "tagAddress" as const, addressId: address.id, tags };
  return [toStep(current, `tag address ${address.ip}`, change, toTurn(address))];
}

/** Says why an address stays, and who releases it. */
function toKept(
  current: Current,
  address: PublicAddress,
  uses: readonly string[],
): LoadBalancerProblem {
  const what = `public IP ${address.ip}`;
  const users = listUsers(current, address);
  if (users !== undefined) {
    const names = users.map(describeOwner).join(", ");
    const use = users.length === 1 ? "uses" : "use";
    const then = "Landfall releases it with the last Service that uses it";
    return toNotice("AddressKept", `${what} stays, because ${names} ${use} it; ${then}`);
  }
  const whose = isOwn(current, address) ? "this Service" : "a Service that is gone";
  const message =
    `${what} was taken for ${whose} and stays, because something else uses it: ` +
    `${uses.join(", ")}; release it by hand when nothing needs it any more`;
  return toNotice("AddressKept", message);
}

/** Adds the deletion of the ACL items of the Service that no rule needs, unless it is planned already. */
export function withItems(
  current: Current,
  steps: readonly Step[],
  isNeeded: (item: AclItem) => boolean,
): readonly Step[] {
  const planned = new Set(
    steps.map(({ change }) => (change.kind === "delete" ? change.id : undefined)),
  );
  const left = listOwnItems(current).filter((one) => !isNeeded(one) && !planned.has(one.id));
  return [...steps, ...left.map((one) => toItemDeletion(current, one, findTurn(current, one)))];
}

/** Plans to wait for a job that an earlier process started: what it makes is not in the observation yet. */
export function toAwaiting(current: Current): Step | undefined {
  const job = current.record?.job;
  if (job === undefined) return undefined;
  const change = { kind: "awaitJob" as const, jobId: job.id, command: job.command };
  // Without a lock: a user who may edit the Service may write a job here that never ends.
  return toStep(current, `wait for ${job.command} (job ${job.id})`, change);
}

function findTurn({ cloud }: Current, { listId }: AclItem): string | undefined {
  return [...cloud.networks.values()].find(({ aclListId }) => aclListId === listId)?.id;
}

/** IPs that an address of the Service may have, as far as the Service says. */
function listNames({ claim, record }: Current): readonly string[] {
  const shown = claim.ingress.flatMap((one) => ("ip" in one ? [one.ip] : []));
  return [...new Set([...shown, readAddress(claim) ?? "", record?.address?.ip ?? ""])];
}

/**
 * The addresses whose tags name this cluster and the UID of a Service that does not exist, in order of their IPs; but
 * none that is kept, or that another Service uses: that has a rule on it, names it or shows it.
 *
 * @param services Besides those that exist, with the UIDs of those that are being released
 */
export function listLeftovers(
  cloud: Pick<Observation, "addresses" | "rules" | "clusterIds">,
  services: LiveServices,
): readonly LoadBalancerLeftover[] {
  const unclaimed = [...cloud.addresses.values()].flatMap(({ id, ip, tags }) => {
    const serviceUid = tags.get(TAG_KEYS.serviceUid);
    if (serviceUid === undefined || services.uids.has(serviceUid)) return [];
    if (findKeptFor(tags) !== undefined) return [];
    if (!isOfCluster(tags, cloud.clusterIds) || services.addresses.has(ip)) return [];
    return [
      { ip, id, service: tags.get(TAG_KEYS.service), serviceUid, on: listRulesOn(cloud, id) },
    ];
  });
  if (unclaimed.length === 0) return [];
  const lbNames = new Set(Array.from(services.uids, toLbName));
  return unclaimed
    .filter(({ on }) => !on.some(({ name }) => lbNames.has(parseLbName(name) ?? "")))
    .map(({ service, on, ...one }) => ({
      ...one,
      ...(service !== undefined && { service }),
      rules: on.length,
    }))
    .toSorted((a, b) => compare(a.ip, b.ip) || compare(a.id, b.id));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
