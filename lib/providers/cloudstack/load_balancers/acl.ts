/**
 * The items of a VPC tier's ACL list that let clients reach a load-balancer rule: how they are planned, and changed.
 * @module
 */
import type { LoadBalancerProblem } from "../../../cloud/capabilities/load_balancers.ts";
import { covers, EVERYONE, isSame, keepIpv4, toBlocks } from "./cidrs.ts";
import {
  type AccessPlan,
  type AccessPort,
  type AccessSite,
  isAbout,
  listWider,
} from "./firewall.ts";
import { isAclReason, isAclReasonOf, isOf1x, toAclReason, toNotice, toWaiting } from "./words.ts";
import { isNameOf, type Current, toAccessPort, toIpProtocol, toStep } from "./current.ts";
import type { ChangeOf, Step } from "./steps.ts";
import { type AclItem, type Rule, hasRuleLists } from "./observation.ts";
import { ACL_ITEMS } from "../wire/objects.ts";
import { type Acting, write } from "./acting.ts";

/** A port behind an ACL list that can be changed. */
export interface AclSite extends AccessSite {
  readonly listId: string;
  /** All items of the list. */
  readonly items: readonly AclItem[];
}

/**
 * Plans the item of one port. An item is changed in place, so clients are not cut off. One item belongs to one Service:
 * an item of another load balancer for the same port does not count, because it goes with the other one.
 */
export function planAcl(site: AclSite): AccessPlan {
  const { current, port, rule, items } = site;
  const desired = site.sources ?? EVERYONE;
  const mine = items.filter((one) => isMine(site, one) && isAllowing(one) && isExactly(one, port));
  const opened = findOpened(site, desired);
  if (opened !== undefined) return { before: [], after: [], problems: [opened] };
  const kept = mine.find((one) => isFor(one, desired)) ?? mine[0] ?? findOwnerless(site);
  const spare = mine
    .filter((one) => one !== kept)
    .map((one) => toDeletion(current, one, site.networkId));
  if (kept !== undefined) {
    const before = [...toUpdate(site, kept, desired), ...spare];
    return { before, after: [], problems: findDenied(site, kept, desired) };
  }
  const exact = items.filter((one) => !isOfAny(one) && one.isIngress && isExactly(one, port));
  const deny = findDeny(site, desired);
  const isOpen =
    exact.length > 0 &&
    exact.every((one) => one.isAllow && isFor(one, desired, "more")) &&
    exact.some(({ number }) => deny === undefined || number < deny.number);
  if (isOpen) return { before: [], after: [], problems: [] };
  if (exact.length > 0) return { before: [], after: [], problems: [inTheWay(site, exact)] };
  const place = findPlace(site, desired);
  if (typeof place === "object") return { before: [], after: [], problems: [place] };
  // Only beside its rule, so that it never outlives it.
  const after = rule === undefined ? [] : [toCreation(site, desired, place)];
  return { before: [], after, problems: [] };
}

/**
 * Whether items that are not of the load balancer let in more clients than the Service asks for. Then only the list of
 * the load-balancer rule itself can keep them out.
 */
export function isAclWider(site: AclSite): boolean {
  const { sources, port, items } = site;
  if (sources === undefined) return false;
  const ownerless = findOwnerless(site);
  const others = items.filter(
    (one) => !isMine(site, one) && one !== ownerless && isAllowing(one) && isAbout(one, port),
  );
  return listWider(others, sources).length > 0;
}

/** Plans the deletion of the items of a load-balancer rule that goes, except those that stay for another one. */
export function planAclRemoval(
  current: Current,
  rule: Rule,
  isNeeded: (item: AclItem) => boolean,
): readonly Step[] {
  const port = toAccessPort(rule);
  const own = listOwnItems(current).filter((one) => isExactly(one, port) && !isNeeded(one));
  const listId = current.cloud.networks.get(rule.networkId)?.aclListId;
  const items = listId === undefined ? [] : (current.cloud.aclItems.get(listId) ?? []);
  return [...own, ...listOwnerless(current, rule, items)].map((one) =>
    toDeletion(current, one, rule.networkId),
  );
}

/** All items of the Service in all lists that the observation shows. */
export function listOwnItems({ cloud, lbName }: Current): readonly AclItem[] {
  return [...cloud.aclItems.values()].flat().filter(({ reason }) => isAclReasonOf(lbName, reason));
}

/** Plans the deletion of an item of the Service. @param lock The network in which one change is made at a time */
export function toDeletion(
  current: Current,
  { id, protocol, startPort }: AclItem,
  lock?: string,
): Step {
  const summary = `delete ACL item ${protocol} ${startPort ?? "all"}`;
  return toStep(current, summary, { kind: "delete", what: "aclItem", id }, lock);
}

/** Whether an item is for exactly one port. */
export function isExactly(one: AclItem, { ipProtocol, publicPort }: AccessPort): boolean {
  const last = one.endPort ?? one.startPort;
  return one.protocol === ipProtocol && one.startPort === publicPort && last === publicPort;
}

/** Whether an item lets clients in. */
export function isAllowing({ isIngress, isAllow }: AclItem): boolean {
  return isIngress && isAllow;
}

function isMine({ current }: AclSite, { reason }: AclItem): boolean {
  return isAclReasonOf(current.lbName, reason);
}

function isOfAny({ reason }: AclItem): boolean {
  return isAclReason(reason);
}

/** Whether an item lets in exactly these, or these and more. */
function isFor({ cidrs }: AclItem, desired: readonly string[], how?: "more"): boolean {
  if (cidrs === undefined) return false;
  return how === "more" ? covers(toBlocks(cidrs), desired) : isSame(toBlocks(cidrs), desired);
}

/** An item of version 1.x for the port: beside the rule of the port, or one on the address that the Service leaves. */
function findOwnerless({ current, items, port }: AclSite): AclItem | undefined {
  return current.rules
    .filter(({ publicPort }) => publicPort === port.publicPort)
    .flatMap((rule) => listOwnerless(current, rule, items))
    .find((one) => isExactly(one, port));
}

/**
 * Items that version 1.x of the Go provider made for a rule, which had no reason. They count only beside a rule of that
 * version, and only if no other rule of it in the list may need them.
 */
function listOwnerless(
  current: Current,
  rule: Rule,
  items: readonly AclItem[],
): readonly AclItem[] {
  const { cloud, lbName } = current;
  if (!isOf1x(rule.description)) return [];
  const port = toAccessPort(rule);
  const listId = cloud.networks.get(rule.networkId)?.aclListId;
  const isShared = [...cloud.rules.values()].some(
    (one) =>
      !isNameOf(lbName, one.name) &&
      one.publicPort === port.publicPort &&
      toIpProtocol(one) === port.ipProtocol &&
      cloud.networks.get(one.networkId)?.aclListId === listId &&
      isOf1x(one.description),
  );
  if (isShared) return [];
  return items.filter(
    (one) =>
      (one.reason ?? "") === "" &&
      isAllowing(one) &&
      isExactly(one, port) &&
      one.cidrs !== undefined &&
      isSame(keepIpv4(toBlocks(one.cidrs)), EVERYONE),
  );
}

function toUpdate(site: AclSite, kept: AclItem, desired: readonly string[]): readonly Step[] {
  const { current, port, networkId, listId } = site;
  const fields = {
    ...(!isFor(kept, desired) && { cidrs: desired }),
    ...(!isMine(site, kept) && { reason: toAclReason(current.lbName) }),
  };
  if (Object.keys(fields).length === 0) return [];
  const summary = `update ACL item ${port.ipProtocol} ${port.publicPort}`;
  return [
    toStep(
      current,
      summary,
      { kind: "updateAclItem", itemId: kept.id, listId, ...fields },
      networkId,
    ),
  ];
}

function toCreation(site: AclSite, cidrs: readonly string[], number: number | undefined): Step {
  const { current, port, networkId, listId } = site;
  const { ipProtocol: protocol, publicPort } = port;
  const summary = `create ACL item ${protocol} ${publicPort}`;
  const reason = toAclReason(current.lbName);
  const fields = { listId, networkId, protocol, port: publicPort, cidrs, reason };
  const change = {
    kind: "createAclItem" as const,
    ...fields,
    ...(number !== undefined && { number }),
  };
  return toStep(current, summary, change, networkId);
}

/**
 * The first item that denies all of the clients. An item that denies some of them stays in front: it is a blocklist.
 */
function findDeny({ items, port }: AclSite, desired: readonly string[]): AclItem | undefined {
  return items
    .filter(
      (one) => one.isIngress && !one.isAllow && isAbout(one, port) && isFor(one, desired, "more"),
    )
    .toSorted((a, b) => a.number - b.number)[0];
}

/** @returns The number of a new item; `undefined` for the end of the list */
function findPlace(
  site: AclSite,
  desired: readonly string[],
): number | LoadBalancerProblem | undefined {
  const deny = findDeny(site, desired);
  if (deny === undefined) return undefined;
  const used = new Set(site.items.map(({ number }) => number));
  for (let number = deny.number - 1; number > 0; number -= 1) if (!used.has(number)) return number;
  const what = `ACL item ${deny.number} (${deny.id}) of the list ${site.listId} denies`;
  const advice = "give it a higher number, so that one before it is free";
  const message = `${what} ${site.port.ipProtocol} ${site.port.publicPort}: ${advice}`;
  return toWaiting("PortInUse", message);
}

function findDenied(
  site: AclSite,
  kept: AclItem,
  desired: readonly string[],
): readonly LoadBalancerProblem[] {
  const deny = findDeny(site, desired);
  if (deny === undefined || deny.number > kept.number) return [];
  const { ipProtocol, publicPort } = site.port;
  const message =
    `ACL item ${deny.number} (${deny.id}) denies ${ipProtocol} ${publicPort} ` +
    `before item ${kept.number} allows it`;
  return [toNotice("PortInUse", message)];
}

/**
 * Says that an item as asked would let more clients in to another Service, which has the same port. Its rule keeps them
 * out, if the server has lists for rules.
 */
function findOpened(
  { current, items, port }: AclSite,
  desired: readonly string[],
): LoadBalancerProblem | undefined {
  if (hasRuleLists(current.cloud)) return undefined;
  const other = items.find(
    (one) =>
      isOfAny(one) &&
      !isAclReasonOf(current.lbName, one.reason) &&
      isAllowing(one) &&
      isExactly(one, port) &&
      !isFor(one, desired, "more"),
  );
  if (other === undefined) return undefined;
  const what = `ACL item ${other.id} lets other clients in to ${port.ipProtocol} ${port.publicPort}`;
  const advice =
    "ask for the same source ranges, or for another port, or upgrade to CloudStack 4.18";
  const message = `${what}, for another Service in the same network: ${advice}`;
  return toWaiting("SourceRangesNotPossible", message);
}

function inTheWay({ port, listId }: AclSite, items: readonly AclItem[]): LoadBalancerProblem {
  const what = `ACL item ${items.map(({ id }) => id).join(", ")} in the list ${listId}`;
  const message =
    `${what} is not of this Service and decides about its port ${port.ipProtocol} ${port.publicPort}: ` +
    "delete it, or use another port";
  return toWaiting("PortInUse", message);
}

/** Lets clients reach one port of a tier. */
export async function createAclItem(
  { kind: _kind, networkId, port, number, ...rest }: ChangeOf<"createAclItem">,
  acting: Acting,
): Promise<void> {
  const fields = { ...rest, startPort: port, endPort: port, isIngress: true, isAllow: true };
  const params = {
    networkid: networkId,
    traffictype: "Ingress",
    action: "Allow",
    ...(number !== undefined && { number: String(number) }),
  };
  const writing = { command: "createNetworkACL", key: ACL_ITEMS.key, fields, params };
  acting.store.putAclItem(await write(acting, ACL_ITEMS, writing));
}

/** Changes the clients of an item, its reason, or both. */
export async function updateAclItem(
  { kind: _kind, itemId: id, listId: _list, ...fields }: ChangeOf<"updateAclItem">,
  acting: Acting,
): Promise<void> {
  const params = { id, partialupgrade: "true" };
  const writing = { command: "updateNetworkACLItem", key: ACL_ITEMS.key, fields, params };
  acting.store.putAclItem(await write(acting, ACL_ITEMS, writing));
}
