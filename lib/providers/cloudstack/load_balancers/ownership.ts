/**
 * Decides which public IP addresses are of a Service, and which of them may be released. Pure.
 *
 * An address is of a Service if its tags say so, or if they name a Service that is gone and this one uses the address.
 * The record and what version 1.x left can only prove that it may be tagged.
 * @module
 */
import type {
  LoadBalancerOwner,
  LoadBalancerProblem,
} from "../../../cloud/capabilities/load_balancers.ts";
import { formatTime } from "../../../core/clock.ts";
import { quote } from "../../../core/text/printable.ts";
import {
  findRuleHolder,
  isNamed,
  isOfSibling,
  isOwn,
  isOwnOrInherited,
  listForeignRules,
  listOwnRules,
  type Current,
  toStep,
} from "./current.ts";
import { type AskedAddress, SKEW_MS } from "./record.ts";
import { isAssociatedBy1x, readAddress } from "./desired.ts";
import { listFirewallRulesOf, listOrphans } from "./firewall.ts";
import { isOf1x, TAG_KEYS, toNotice, toTags, toWaiting } from "./words.ts";
import { listFirewallRulesOn, type PublicAddress } from "./observation.ts";
import type { Step } from "./steps.ts";

/**
 * How long CloudStack may carry out a request: as long as its signature is valid, and its clock may be behind. With a
 * shorter validity it would be no less: a request that was accepted may wait for a lock of the database, for which the
 * installation guide of CloudStack sets ten minutes.
 */
const ANSWER_MS = 11 * 60_000;
/** How long a record proves by itself that an address is ours. Users may write an old one again, backups bring it. */
const PROOF_MS = 86_400_000;

/** Whether an address is of the Service, or proven to become so. */
export function isOwnOrProven(current: Current, address: PublicAddress): boolean {
  return isOwnOrInherited(current, address) || mayTag(current, address);
}

/**
 * The addresses that are of the Service, or have rules of it, by IP. The one that the record names comes first: the
 * record has no room for the next one before that one is done.
 */
export function listAddresses(current: Current): readonly PublicAddress[] {
  const rank = ({ ip }: PublicAddress): number => (ip === current.record?.shared ? 0 : 1);
  return [...current.cloud.addresses.values()]
    .filter((one) => isOwnOrProven(current, one) || listOwnRules(current, one.id).length > 0)
    .toSorted((a, b) => rank(a) - rank(b) || (a.ip < b.ip ? -1 : 1));
}

/** Whether an address without tags may be tagged: the record or version 1.x prove that it was taken for the Service. */
export function mayTag(current: Current, address: PublicAddress): boolean {
  return isProvenByRecord(current, address) || isLeftBy1x(current, address);
}

/**
 * Whether the record names an address: free when it was chosen, or named by CloudStack's answer; now in the place that
 * it was taken for, used by nothing, without tags, and taken when Landfall may have. Where CloudStack says who took it,
 * that must be us; otherwise, the record must be of the last day.
 */
export function isProvenByRecord(current: Current, address: PublicAddress): boolean {
  const asked = findAsked(current, address);
  if (asked === undefined) return false;
  // One that was not free has an ID only since CloudStack answered the request for it.
  const isTaken = asked.wasFree || asked.id !== undefined;
  const isProof = isTaken && current.cloud.takenAtWallMs <= asked.atMs + PROOF_MS;
  const by = current.cloud.allocatedBy?.get(address.id);
  return (
    isIn(asked, address) &&
    isTakenInTime(asked, address) &&
    address.state === "Allocated" &&
    address.hasRules !== true &&
    isIdle(current, address) &&
    (by === "us" || (by === undefined && isProof))
  );
}

/**
 * Whether the address was taken while CloudStack may have carried out the recorded request. It was free before, so an
 * earlier time only says that clocks differ.
 */
function isTakenInTime({ atMs }: AskedAddress, { allocatedAtMs = atMs }: PublicAddress): boolean {
  return allocatedAtMs <= atMs + ANSWER_MS + SKEW_MS;
}

/** What the record says about an address. */
export function findAsked(current: Current, address: PublicAddress): AskedAddress | undefined {
  const asked = current.record?.address;
  if (asked === undefined) return undefined;
  if (isWithoutChoice(asked))
    return findUnseen(current, asked)?.id === address.id ? asked : undefined;
  return isNamedBy(asked, address) ? asked : undefined;
}

/**
 * The address that CloudStack chose for the Service before its answer was lost: the only one that our user took then,
 * and that nothing uses or marks. A Service that has one needs none.
 */
function findUnseen(current: Current, asked: AskedAddress): PublicAddress | undefined {
  const { addresses, allocatedBy } = current.cloud;
  if (addresses.values().some((one) => isOwn(current, one))) return undefined;
  const taken = [...addresses.values()].filter(
    (one) =>
      allocatedBy?.get(one.id) === "us" &&
      isTakenInTime(asked, one) &&
      (isIn(asked, one) || one.state === "Allocating") &&
      isIdle(current, one),
  );
  return taken.length === 1 ? taken[0] : undefined;
}

/** Whether a record names an address. */
export function isNamedBy(asked: AskedAddress, { id, ip }: PublicAddress): boolean {
  if (isWithoutChoice(asked)) return false;
  return (asked.id ?? id) === id && (asked.ip ?? ip) === ip;
}

/**
 * Whether version 1.x of the Go provider took an address, which has no record of it: rules of that version are on it
 * and nothing else is, and `spec.loadBalancerIP` does not name it, or the Service has the annotation of that version.
 *
 * If the Service names another address, that was changed: the address may be the user's own.
 */
function isLeftBy1x(current: Current, address: PublicAddress): boolean {
  const { claim } = current;
  if (!hasRulesOf1x(current, address) || address.tags.size > 0) return false;
  if (listUses(current, address).length > 0) return false;
  const named = readAddress(claim);
  if (named !== undefined && named !== address.ip) return false;
  // The annotation says nothing: Leaseweb's provider writes the address that it took there, too.
  return claim.address !== address.ip || isAssociatedBy1x(claim.annotations);
}

/** Whether version 1.x of the Go provider made the rules of the Service on an address. */
export function hasRulesOf1x(current: Current, { id }: PublicAddress): boolean {
  const rules = listOwnRules(current, id);
  return rules.length > 0 && rules.every(({ description }) => isOf1x(description));
}

/** Addresses that the record names, and that cannot be proven to be the Service's: they stay. */
export function listUnclear(current: Current): readonly PublicAddress[] {
  return [...current.cloud.addresses.values()].filter(
    (one) =>
      findAsked(current, one) &&
      !isOwnOrInherited(current, one) &&
      !isProvenByRecord(current, one) &&
      !isPending(current, one),
  );
}

/**
 * Says that the Service must wait for an address that the record names and CloudStack is still taking. Until it is
 * done, CloudStack does not show its network, so nothing is proven yet, and no other address may be taken. A restart of
 * the server cuts the job off, and then it is never done.
 */
export function checkPending(current: Current): readonly LoadBalancerProblem[] {
  return [...current.cloud.addresses.values()]
    .filter((one) => isPending(current, one))
    .map(({ ip, id }) => {
      const untilMs = (current.record?.address?.atMs ?? 0) + ANSWER_MS;
      const message =
        `public IP ${ip} is being taken for this Service, and CloudStack has not finished; ` +
        `if it is in the state Allocating after ${formatTime(untilMs)}, a restart of CloudStack cut that off: ` +
        `release it (cmk disassociate ipaddress id=${id}), and Landfall takes one again`;
      return toWaiting("AddressNotUsable", message);
    });
}

/** Another user's job is nothing to wait for: CloudStack may show it no more as soon as it ends. */
function isPending(current: Current, address: PublicAddress): boolean {
  const { id, state, tags } = address;
  if (state !== "Allocating" || tags.size > 0 || current.cloud.allocatedBy?.get(id) === "others")
    return false;
  return findAsked(current, address) !== undefined;
}

/**
 * An address that was asked for without an answer may still come: CloudStack carries out a request as long as its
 * signature is valid. Only then an observation proves that none came.
 */
export function checkAsked(current: Current): readonly LoadBalancerProblem[] {
  const { cloud, record } = current;
  const asked = record?.address;
  if (asked === undefined) return [];
  const isShown = [...cloud.addresses.values()].some(
    (one) => findAsked(current, one) !== undefined,
  );
  const untilMs = asked.atMs + ANSWER_MS;
  // A time far in the future is none that Landfall wrote, not even with a wrong clock.
  if (isShown || untilMs <= cloud.takenAtWallMs) return [];
  if (asked.atMs > cloud.takenAtWallMs + SKEW_MS) return [];
  const what = asked.ip === undefined ? "a public IP" : `public IP ${asked.ip}`;
  const until = formatTime(untilMs);
  const message = `${what} was asked for without an answer, and may come until ${until}`;
  return [toWaiting("NotKnown", message)];
}

/**
 * Addresses that may have been taken for the Service without a choice: the record says that one was asked for, and
 * nothing says which one came.
 */
export function findLost(current: Current): readonly PublicAddress[] {
  const asked = current.record?.address;
  if (asked === undefined || !isWithoutChoice(asked) || findUnseen(current, asked)) return [];
  return [...current.cloud.addresses.values()].filter((one) => isIdle(current, one));
}

/** Whether a record says only that an address was asked for, and CloudStack chooses it. */
export function isWithoutChoice({ id, ip }: AskedAddress): boolean {
  return id === undefined && ip === undefined;
}

/** Whether nothing says whose an address is, or uses it. */
function isIdle(current: Current, address: PublicAddress): boolean {
  return (
    address.tags.size === 0 &&
    listUses(current, address).length === 0 &&
    listOwnRules(current, address.id).length === 0
  );
}

function isIn({ place }: AskedAddress, { vpcId, networkId }: PublicAddress): boolean {
  return "vpcId" in place ? vpcId === place.vpcId : networkId === place.networkId;
}

/** Says that an address stays, although it may have been taken for the Service. */
export function toUnclear({ ip }: PublicAddress): LoadBalancerProblem {
  const why = "Landfall may have taken it for this Service, and cannot prove it";
  const advice = "release it by hand if nothing needs it";
  return toNotice("AddressNotOurs", `public IP ${ip} stays: ${why}; ${advice}`);
}

/**
 * Says that an address stays that a record which Landfall did not sign names, or may mean. No advice to release it:
 * anyone who may edit the Service can write any address there.
 */
export function checkUnsigned(current: Current): readonly LoadBalancerProblem[] {
  const { unsigned } = current;
  if (unsigned === undefined) return [];
  // One that CloudStack is still giving shows no network yet.
  const mayBeMeant = (one: PublicAddress): boolean =>
    isWithoutChoice(unsigned)
      ? (isIn(unsigned, one) || one.state === "Allocating") && isIdle(current, one)
      : isNamedBy(unsigned, one) && !isOwnOrInherited(current, one);
  const what = isWithoutChoice(unsigned) ? "may mean it" : "names it";
  const why = `the record on the Service ${what}, but is not signed with the keys in use`;
  return [...current.cloud.addresses.values()]
    .filter((one) => mayBeMeant(one))
    .map(({ ip }) => toNotice("AddressNotOurs", `public IP ${ip} stays: ${why}`));
}

/**
 * Says that addresses stay whose tags name the Service and another cluster: this cluster may have had another ID, or
 * another one may be a copy of it.
 */
export function checkClusters(current: Current): readonly LoadBalancerProblem[] {
  const { cloud, claim } = current;
  return [...cloud.addresses.values()]
    .filter((one) => one.tags.get(TAG_KEYS.serviceUid) === claim.owner.uid && !isOwn(current, one))
    .map(({ ip, tags }) => {
      const cluster = tags.get(TAG_KEYS.cluster) ?? "";
      const why = `its tag ${TAG_KEYS.cluster} is ${quote(cluster)}, which is not the ID of this cluster`;
      const advice = "release it by hand if nothing needs it";
      return toNotice("AddressNotOurs", `public IP ${ip} stays: ${why}; ${advice}`);
    });
}

/** What uses an address besides the Service, in words. */
export function listUses(current: Current, address: PublicAddress): readonly string[] {
  const own = new Set(
    [
      ...listOwnRules(current, address.id).flatMap((rule) => listFirewallRulesOf(current, rule)),
      ...(isOwnOrInherited(current, address) ? listOrphans(current, address) : []),
    ].map(({ id }) => id),
  );
  const firewall = listFirewallRulesOn(current.cloud, address.id).filter(({ id }) => !own.has(id));
  return [
    ...listForeignRules(current, address.id).map(
      ({ name, id }) => `load-balancer rule ${name} (${id})`,
    ),
    ...firewall.map(({ id }) => `firewall rule ${id}`),
    ...(address.isSourceNat ? ["source NAT of its network"] : []),
    ...(address.isStaticNat ? ["static NAT"] : []),
    ...(address.usedBy === undefined ? [] : [address.usedBy]),
  ];
}

/** The Services that use an address besides this one; `undefined` if something else uses it, too. */
export function listUsers(
  current: Current,
  address: PublicAddress,
): readonly LoadBalancerOwner[] | undefined {
  const rules = listForeignRules(current, address.id);
  const firewall = new Set(
    rules.flatMap((rule) => listFirewallRulesOf(current, rule)).map(({ id }) => id),
  );
  if (listUses(current, address).length !== rules.length + firewall.size) return undefined;
  const users = new Map<string, LoadBalancerOwner>();
  for (const rule of rules) {
    const { claim } = findRuleHolder(current.cloud, rule) ?? {};
    if (claim === undefined) return undefined;
    users.set(claim.owner.uid, claim.owner);
  }
  return [...users.values()];
}

/** Plans to tag what was taken for the Service: the record that proves it is about to name another address. */
export function tagProven(current: Current): readonly Step[] {
  return [...current.cloud.addresses.values()]
    .filter((one) => !isOwn(current, one) && mayTag(current, one))
    .map((one) => toTagging(current, one));
}

/** Plans to tag an address that {@linkcode mayTag}. */
export function toTagging(current: Current, address: PublicAddress): Step {
  const { cloud, claim } = current;
  const tags = toTags(cloud.clusterIds[0], claim.owner);
  const asked = findAsked(current, address);
  const isUnseen = asked !== undefined && isWithoutChoice(asked);
  const kind = "tagAddress" as const;
  const change = { kind, addressId: address.id, tags, ...(isUnseen && { isUnseen }) };
  return toStep(current, `tag address ${address.ip}`, change, toTurn(address));
}

/**
 * Plans to name an address in the record that has the tags of another Service of this cluster, unless the Service names
 * it itself. Otherwise nothing would say that the Service used it when its rules are gone.
 */
export function planNaming(current: Current, address: PublicAddress): readonly Step[] {
  const { cloud, claim, record } = current;
  const { id, ip, tags } = address;
  if (!isOfSibling(cloud, tags, claim.owner.uid) || isNamed(current, address)) return [];
  if (record?.shared === ip || listOwnRules(current, id).length === 0) return [];
  const change = { kind: "keepShared" as const, ip };
  return [toStep(current, `name address ${ip} in the record`, change)];
}

/** The network in which CloudStack does one change of an address at a time. */
export function toTurn({ networkId, vpcId }: PublicAddress): string | undefined {
  return networkId ?? vpcId;
}
