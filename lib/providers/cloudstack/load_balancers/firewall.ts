/**
 * The firewall rules of an address that let clients reach a load-balancer rule: how they are planned, and changed.
 * @module
 */
import type { LoadBalancerProblem } from "../../../cloud/capabilities/load_balancers.ts";
import { covers, EVERYONE, isSame, sharesBlock, toBlocks } from "./cidrs.ts";
import { toWaiting } from "./words.ts";
import {
  type FirewallRule,
  listFirewallRulesFor,
  listFirewallRulesOn,
  listRulesOn,
  type PublicAddress,
  type Rule,
} from "./observation.ts";
import { isGoing, type Current, toIpProtocol, toStep } from "./current.ts";
import type { ChangeOf, Step } from "./steps.ts";
import type { DesiredPort } from "./desired.ts";
import { FIREWALL_RULES } from "../wire/objects.ts";
import { type Acting, write } from "./acting.ts";

/** What is planned for one port, and in which order: `before` its load-balancer rule is made, and `after`. */
export interface AccessPlan {
  readonly before: readonly Step[];
  readonly after: readonly Step[];
  readonly problems: readonly LoadBalancerProblem[];
}

/** What firewalls and ACLs see of a port. */
export type AccessPort = Pick<DesiredPort, "ipProtocol" | "publicPort">;

/** A port whose clients are to be restricted. */
export interface AccessSite {
  readonly current: Current;
  readonly address: PublicAddress;
  readonly networkId: string;
  readonly port: AccessPort;
  /** Who may connect. Absent: everyone. */
  readonly sources: readonly string[] | undefined;
  /** The load-balancer rule of the port, if it is there. */
  readonly rule: Rule | undefined;
  /** Whether the address is the Service's own, by its tags. */
  readonly isOwn: boolean;
}

/**
 * Plans the firewall rules for exactly one port.
 *
 * CloudStack refuses two rules for a port that have a block in common. So a rule is made before the old one goes if
 * they have none in common; otherwise the old one has to go first. It never lets in more clients than those that it let
 * in before, and those that the Service asks for.
 */
export function planFirewall(site: AccessSite): AccessPlan {
  const { current, address, port, rule, isOwn, networkId } = site;
  const desired = site.sources ?? EVERYONE;
  const remove = (one: FirewallRule): Step => toDeletion(current, one, address.ip, networkId);
  const { exact, foreign } = listAbout(site);
  if (rule === undefined) {
    const { cloud, lbName } = current;
    const unknown = isOwn ? [] : exact.filter(({ id }) => cloud.orphans?.get(id) !== lbName);
    if (unknown.length > 0) return { ...NONE, problems: [inTheWay(site, unknown)] };
    // They are left from a rule that was deleted by hand. They must not open the new one.
    return { ...NONE, before: listWider(exact, desired).map(remove) };
  }
  const kept = exact.find(
    (one) => !isGoing(one) && one.cidrs && isSame(toBlocks(one.cidrs), desired),
  );
  const others = exact.filter((one) => one !== kept);
  const isOpen = foreign.some(({ cidrs }) => cidrs && covers(toBlocks(cidrs), desired));
  if (kept !== undefined || isOpen) {
    return { ...NONE, after: others.map(remove) };
  }
  const conflicting = foreign.filter(
    (one) => one.protocol === port.ipProtocol && mayShare(one, desired),
  );
  if (conflicting.length > 0) {
    const after = listWider(exact, desired).map(remove);
    return { ...NONE, after, problems: [inTheWay(site, conflicting)] };
  }
  const first = others.filter((one) => mayShare(one, desired));
  const last = others.filter((one) => !first.includes(one));
  const after = [...first.map(remove), toCreation(site, desired), ...last.map(remove)];
  return { ...NONE, after };
}

/**
 * Whether firewall rules that are not of the load balancer let in more clients than the Service asks for. Then only the
 * list of the load-balancer rule itself can keep them out.
 */
export function isFirewallWider(site: AccessSite): boolean {
  const { sources } = site;
  return sources !== undefined && listWider(listAbout(site).foreign, sources).length > 0;
}

/** The firewall rules that belong to a load-balancer rule of a Service: for exactly its port. */
export function listFirewallRulesOf(current: Current, rule: Rule): readonly FirewallRule[] {
  // Where the network has no firewall, none was made for the rule.
  if (current.cloud.networks.get(rule.networkId)?.hasFirewall === false) return [];
  const { exact } = listFirewallRulesFor(current.cloud, rule.addressId, rule.publicPort);
  return exact.filter(({ protocol }) => protocol === toIpProtocol(rule));
}

/**
 * Firewall rules on an address of the Service whose load-balancer rule was deleted by hand: for exactly one of its
 * ports, or seen beside a rule of the Service before. The address was taken for the Service alone, so they are its own.
 */
export function listOrphans(current: Current, address: PublicAddress): readonly FirewallRule[] {
  const { cloud, claim, lbName } = current;
  const { ports = [] } = claim;
  // A rule of another Service on the address has its own firewall rules.
  const hasRule = (one: FirewallRule, port: number | undefined): boolean =>
    listRulesOn(cloud, address.id, port).some((rule) => toIpProtocol(rule) === one.protocol);
  const asked = ports.flatMap(({ protocol, port }) =>
    listFirewallRulesFor(cloud, address.id, port).exact.filter(
      (one) => one.protocol === protocol.toLowerCase() && !hasRule(one, port),
    ),
  );
  const seen = listFirewallRulesOn(cloud, address.id).filter(
    (one) => cloud.orphans?.get(one.id) === lbName && !hasRule(one, one.startPort),
  );
  return [...new Set([...asked, ...seen])];
}

/** Plans the deletion of firewall rules that no load-balancer rule belongs to. */
export function planOrphanRemoval(current: Current, address: PublicAddress): readonly Step[] {
  const lock = address.networkId ?? address.vpcId;
  return listOrphans(current, address).map((one) => toDeletion(current, one, address.ip, lock));
}

/** Plans the deletion of the firewall rules of a load-balancer rule that goes. */
export function planFirewallRemoval(current: Current, rule: Rule): readonly Step[] {
  return listFirewallRulesOf(current, rule).map((one) =>
    toDeletion(current, one, rule.ip, rule.networkId),
  );
}

const NONE: AccessPlan = { before: [], after: [], problems: [] };

/** The firewall rules that let packets to a port through: for exactly it, and others, which are foreign. */
function listAbout({ current, address, port }: Pick<AccessSite, "current" | "address" | "port">): {
  readonly exact: readonly FirewallRule[];
  readonly foreign: readonly FirewallRule[];
} {
  const { exact, ranges } = listFirewallRulesFor(current.cloud, address.id, port.publicPort);
  const about = [...exact, ...ranges].filter((one) => isAbout(one, port));
  const isOurs = (one: FirewallRule): boolean =>
    one.protocol === port.ipProtocol && exact.includes(one);
  return {
    exact: about.filter((one) => isOurs(one)),
    foreign: about.filter((one) => !isOurs(one)),
  };
}

/** Whether packets to the port meet a firewall rule or an ACL item. CloudStack shows some protocols as numbers. */
export function isAbout(
  { protocol, startPort, endPort }: Pick<FirewallRule, "endPort" | "protocol" | "startPort">,
  port: AccessPort,
): boolean {
  const number = port.ipProtocol === "tcp" ? "6" : "17";
  if (![port.ipProtocol, number, "all"].includes(protocol)) return false;
  const first = startPort ?? 1;
  const last = endPort ?? startPort ?? 65_535;
  return first <= port.publicPort && port.publicPort <= last;
}

/** Those that let in more clients than those that are desired, as far as can be read. */
export function listWider<T extends Pick<FirewallRule, "cidrs">>(
  all: readonly T[],
  desired: readonly string[],
): readonly T[] {
  return all.filter(({ cidrs }) => cidrs === undefined || !covers(desired, toBlocks(cidrs)));
}

/** A list that cannot be read may have any block. */
function mayShare({ cidrs }: FirewallRule, desired: readonly string[]): boolean {
  return cidrs === undefined || sharesBlock(toBlocks(cidrs), desired);
}

function inTheWay(
  { address, port }: AccessSite,
  rules: readonly FirewallRule[],
): LoadBalancerProblem {
  const what = `firewall rule ${rules.map(({ id }) => id).join(", ")} on ${address.ip}`;
  const advice = "delete it, or use another port";
  return toWaiting(
    "PortInUse",
    `${what} is not of this Service and covers its port ${port.ipProtocol} ${port.publicPort}: ${advice}`,
  );
}

function toDeletion(
  current: Current,
  { id, protocol, startPort }: FirewallRule,
  ip: string,
  lock: string | undefined,
): Step {
  const summary = `delete firewall rule ${protocol} ${startPort ?? "all"} on ${ip}`;
  return toStep(current, summary, { kind: "delete", what: "firewallRule", id }, lock);
}

function toCreation(
  { current, address, port, networkId }: AccessSite,
  cidrs: readonly string[],
): Step {
  const { ipProtocol: protocol, publicPort } = port;
  const summary = `create firewall rule ${protocol} ${publicPort} on ${address.ip}`;
  const change = {
    kind: "createFirewallRule",
    addressId: address.id,
    protocol,
    port: publicPort,
    cidrs,
  };
  return toStep(current, summary, { ...change, kind: "createFirewallRule" }, networkId);
}

/** Opens one port of an address. */
export async function createFirewallRule(
  { addressId, protocol, port, cidrs }: ChangeOf<"createFirewallRule">,
  acting: Acting,
): Promise<void> {
  const fields = { addressId, protocol, startPort: port, endPort: port, cidrs };
  const writing = { command: "createFirewallRule", key: FIREWALL_RULES.key, fields };
  acting.store.putFirewallRule(await write(acting, FIREWALL_RULES, writing));
}
