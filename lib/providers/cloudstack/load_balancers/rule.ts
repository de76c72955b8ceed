/**
 * The load-balancer rule of one port, who may reach it, and its backends: how it is planned, and changed.
 * @module
 */
import { EVERYONE, isSame, toBlocks } from "./cidrs.ts";
import {
  describeOwner,
  findRuleHolder,
  inPart,
  isGoing,
  isNameOf,
  type Current,
  toAccessPort,
  toIpProtocol,
  toPart,
  toStep,
} from "./current.ts";
import { findRefusal } from "./choose_address.ts";
import {
  findAccessControl,
  type AccessControl,
  isAccessControl,
  needsRuleList,
  planAccess,
  toNoRuleLists,
} from "./access.ts";
import type { Change, ChangeOf, Step } from "./steps.ts";
import {
  type AclItem,
  listRulesOn,
  type Network,
  type PublicAddress,
  type Rule,
  canUpdateRuleLists,
  hasRuleLists,
} from "./observation.ts";
import type { Desired, DesiredPort } from "./desired.ts";
import type {
  LoadBalancerProblem,
  LoadBalancerSpec,
} from "../../../cloud/capabilities/load_balancers.ts";
import { planBackends } from "./backends.ts";
import { type AccessSite, planFirewallRemoval } from "./firewall.ts";
import { isWaiting, toWaiting } from "./words.ts";
import { type PartPlan, planStickiness } from "./stickiness.ts";
import { isOwnOrProven } from "./ownership.ts";
import { planAclRemoval } from "./acl.ts";
import { RefusedStepError } from "../../../cloud/capabilities/refused_errors.ts";
import { assert } from "../../../core/errors.ts";
import { ApiError } from "../session/errors.ts";
import { INTERNAL, INVALID } from "../session/refusal.ts";
import { RULES } from "../wire/objects.ts";
import { type Acting, sendPlain, write } from "./acting.ts";

/** The rule of one port, as it should be. */
interface RuleSite {
  readonly current: Current;
  readonly address: PublicAddress;
  readonly network: Network;
  readonly port: DesiredPort;
  readonly desired: Pick<Desired, "algorithm" | "description">;
  /** The list of the rule itself. Absent: it lets everyone in. */
  readonly cidrs: readonly string[] | undefined;
}

/** Whether the rule must be made again. */
function mustReplace(site: RuleSite, rule: Rule): boolean {
  const { current, network, port, cidrs } = site;
  return (
    isGoing(rule) ||
    rule.networkId !== network.id ||
    rule.privatePort !== port.privatePort ||
    (rule.protocol !== port.protocol && !canChangeProtocol(site, rule)) ||
    (!hasCidrs(rule, cidrs) && !canUpdateRuleLists(current.cloud))
  );
}

/** The name has the protocol, and changes with it: a server that took only the name knows no such change. */
function canChangeProtocol(site: RuleSite, rule: Rule): boolean {
  return rule.name !== site.port.name && findOther(site) !== undefined;
}

/** Another algorithm than the desired one that the network offers. */
function findOther({ network, desired }: RuleSite): "roundrobin" | "source" | undefined {
  const other = desired.algorithm === "source" ? "roundrobin" : "source";
  return network.algorithms?.has(other) === true ? other : undefined;
}

/** Plans a new rule. With a list of its own, it is never open to others. */
function toCreation(site: RuleSite): Step {
  const { current, address, network, port, desired, cidrs } = site;
  const change: Change = {
    kind: "createRule",
    name: port.name,
    description: desired.description,
    addressId: address.id,
    networkId: network.id,
    publicPort: port.publicPort,
    privatePort: port.privatePort,
    protocol: port.protocol,
    algorithm: desired.algorithm,
    ...(cidrs && { cidrs }),
  };
  const summary = `create rule ${port.protocol} ${port.publicPort} on ${address.ip}`;
  return toStep(current, summary, change, network.id);
}

/**
 * Plans the changes of a rule that can stay: name and description make a rule of version 1.x one of ours.
 *
 * CloudStack stores any change, and sends the rule to the router only with another algorithm or list. So when the
 * protocol changes, or when the router did not take the last change, the rule gets another algorithm for a moment: each
 * observation shows what is left to do, and no failure hides it.
 */
function planUpdate(site: RuleSite, rule: Rule): readonly Step[] {
  const { current, port, desired, cidrs } = site;
  const hasOtherList = !hasCidrs(rule, cidrs);
  const unsentMs = findUnsentMs(current, rule) ?? 0;
  const mustSend = rule.protocol !== port.protocol || unsentMs > SENDING_MS;
  const algorithm = rule.algorithm === desired.algorithm ? undefined : desired.algorithm;
  const written = algorithm ?? (mustSend && !hasOtherList ? findOther(site) : undefined);
  const fields = {
    ...(rule.name !== port.name && { name: port.name }),
    ...(rule.description !== desired.description && { description: desired.description }),
    ...(rule.protocol !== port.protocol && { protocol: port.protocol }),
    ...(written && { algorithm: written }),
    ...(hasOtherList && { cidrs: cidrs ?? EVERYONE }),
  };
  const names = Object.keys(fields);
  if (names.length === 0) return [];
  const summary = `update ${names.join(", ")} of rule ${rule.protocol} ${rule.publicPort} on ${rule.ip}`;
  return [
    toStep(current, summary, { kind: "updateRule", ruleId: rule.id, ...fields }, rule.networkId),
  ];
}

/** Longer than CloudStack usually takes to send a rule to the router. */
const SENDING_MS = 10_000;

/**
 * For how long a rule is known not to have reached the router: one with backends is `Add` until it does. `undefined` if
 * it did.
 */
function findUnsentMs({ cloud }: Current, { id, state }: Rule): number | undefined {
  const sinceMs = cloud.unsent?.get(id);
  if (sinceMs === undefined || state !== "Add") return undefined;
  return cloud.takenAtMs - sinceMs;
}

function checkSent(current: Current, rule: Rule): readonly LoadBalancerProblem[] {
  if (findUnsentMs(current, rule) === undefined) return [];
  const where = `rule ${rule.protocol} ${rule.publicPort} on ${rule.ip}`;
  const message = `CloudStack has not sent ${where} to the router of its network`;
  return [toWaiting("NotKnown", message)];
}

/** Plans the deletion of a rule. */
export function toDeletion(
  current: Current,
  { id, protocol, publicPort, ip, networkId }: Rule,
): Step {
  const summary = `delete rule ${protocol} ${publicPort} on ${ip}`;
  return toStep(current, summary, { kind: "delete", what: "rule", id }, networkId);
}

function hasCidrs(rule: Rule, desired: readonly string[] | undefined): boolean {
  return rule.cidrs !== undefined && isSame(toBlocks(rule.cidrs), desired ?? EVERYONE);
}

/** Where the ports of a Service are to be. */
export interface Site extends Pick<LoadBalancerSpec, "backends" | "ports"> {
  readonly current: Current;
  readonly desired: Desired;
  readonly address: PublicAddress;
  readonly network: Network;
  readonly access: AccessControl;
  /** Whether the address is the Service's own. */
  readonly isOwn: boolean;
  /** Whether an ACL item is of a port that the Service asks for. */
  readonly isNeeded: (item: AclItem) => boolean;
}

/** The plan of a port. */
export interface PortPlan extends PartPlan {
  /** What keeps the rule that is there useful, and clients out of it. Comes before `steps` of any port. */
  readonly keeping: readonly Step[];
}

/**
 * Plans a port.
 *
 * Clients that may not connect must never get in, not even between two steps. A new rule is out of reach until the
 * firewall or the ACL lets clients in; where neither can restrict them, it is made with a list of its own. A rule that
 * is there is changed after the firewall and the ACL, which only ever get narrower than they were, or as asked.
 */
export function planPort(site: Site, port: DesiredPort): PortPlan {
  const { current, address } = site;
  const rules = listRulesOn(current.cloud, address.id, port.publicPort);
  const rule = rules.find(({ name }) => isNameOf(current.lbName, name));
  const foreign = rules.find(({ name }) => !isNameOf(current.lbName, name));
  if (rule === undefined && foreign !== undefined) {
    return { keeping: [], steps: [], problems: [toPortInUse(current, port, foreign)] };
  }
  return planRule(site, port, rule);
}

function planRule(site: Site, port: DesiredPort, rule: Rule | undefined): PortPlan {
  const { current, desired, address, network, access, backends, isOwn } = site;
  const accessSite: AccessSite = {
    current,
    address,
    port,
    // One of the other protocol proves nothing about what lets clients in.
    rule: rule && toIpProtocol(rule) === port.ipProtocol ? rule : undefined,
    isOwn,
    networkId: network.id,
    sources: desired.sources,
  };
  const needsList = needsRuleList(access, accessSite);
  const canHaveList = hasRuleLists(current.cloud);
  if (needsList && !canHaveList) {
    const where = `port ${port.ipProtocol} ${port.publicPort} on ${address.ip}`;
    const keeping = rule === undefined ? [] : planBackends(current, rule, backends);
    return { keeping, steps: [], problems: [toNoRuleLists(where)] };
  }
  const cidrs = needsList ? desired.sources : canHaveList ? desired.ruleCidrs : undefined;
  const ruleSite: RuleSite = { current, address, network, port, desired, cidrs };
  const { before, after, problems } = planAccess(access, accessSite);
  const part = toPart({ addressId: address.id, publicPort: port.publicPort });
  const mustMake = rule === undefined || mustReplace(ruleSite, rule);
  if (mustMake || accessSite.rule === undefined) {
    const all = [...problems, ...(mustMake ? checkRefusal(site, port) : [])];
    if (isWaiting(all)) {
      const rules = rule === undefined ? [] : [rule];
      return { keeping: planKeeping(current, rules, site, desired), steps: [], problems: all };
    }
    // To clients, TCP and UDP are two ports, and the Service asks for one of them.
    const closing = rule === undefined ? [] : planClosing(current, rule, site.isNeeded);
    const deletion = rule === undefined ? [] : [toDeletion(current, rule)];
    const making = mustMake ? [...deletion, toCreation(ruleSite)] : planUpdate(ruleSite, rule);
    return { keeping: [], steps: inPart(part, [...before, ...closing, ...making]), problems: all };
  }
  const stickiness = planStickiness(current, rule, port, desired.stickiness);
  return {
    keeping: [...inPart(part, [...before, ...after]), ...planBackends(current, rule, backends)],
    steps: inPart(part, [...planUpdate(ruleSite, rule), ...stickiness.steps]),
    problems: [
      ...problems,
      ...checkMembers(current, rule),
      ...checkSent(current, rule),
      ...stickiness.problems,
    ],
  };
}

/** Asks whether a rule can be made at all, before the one goes that is there. */
function checkRefusal(
  { address, network }: Site,
  { ipProtocol, publicPort }: DesiredPort,
): readonly LoadBalancerProblem[] {
  const refusal = findRefusal(address, network, publicPort);
  if (refusal === undefined) return [];
  const what = `port ${ipProtocol} ${publicPort}: public IP ${address.ip}`;
  return [toWaiting("AddressNotUsable", `${what} ${refusal}`)];
}

/**
 * Plans rules that stay as they are for now: who may reach them, and their backends. So Nodes come and go as usual, and
 * clients that may no longer connect are kept out at once. So are all clients of a port that the Service does not ask
 * for any more: it says nothing about who may connect there.
 *
 * @param who Who may connect. Absent: not known, so nothing is changed about it
 */
export function planKeeping(
  current: Current,
  rules: readonly Rule[],
  { ports, backends }: Pick<LoadBalancerSpec, "backends" | "ports">,
  who?: { readonly sources?: readonly string[] },
): readonly Step[] {
  const asked = new Set(ports.map(({ protocol, port }) => `${protocol} ${port}`.toLowerCase()));
  return rules.flatMap((rule) => {
    const { ipProtocol, publicPort } = toAccessPort(rule);
    const isAsked = asked.has(`${ipProtocol} ${publicPort}`);
    return [
      ...(who === undefined ? [] : planClients(current, rule, { ...who, isAsked })),
      ...planBackends(current, rule, backends),
    ];
  });
}

function planClients(
  current: Current,
  rule: Rule,
  { sources, isAsked }: { readonly sources?: readonly string[]; readonly isAsked: boolean },
): readonly Step[] {
  const part = toPart(rule);
  const isNeeded = (): boolean => false;
  if (!isAsked) return inPart(part, planClosing(current, rule, isNeeded));
  const { cloud } = current;
  const address = cloud.addresses.get(rule.addressId);
  const network = cloud.networks.get(rule.networkId);
  const access = network && findAccessControl(cloud, network);
  if (address === undefined || access === undefined || !isAccessControl(access)) return [];
  const site: AccessSite = {
    current,
    address,
    networkId: rule.networkId,
    port: toAccessPort(rule),
    sources,
    rule,
    isOwn: isOwnOrProven(current, address),
  };
  const { before, after } = planAccess(access, site);
  return inPart(part, [...before, ...after]);
}

function checkMembers({ cloud }: Current, rule: Rule): readonly LoadBalancerProblem[] {
  if (cloud.members.has(rule.id)) return [];
  const where = `rule ${rule.protocol} ${rule.publicPort} on ${rule.ip}`;
  return [toWaiting("NotKnown", `CloudStack does not show the backends of ${where}`)];
}

function toPortInUse(
  { cloud }: Current,
  { ipProtocol, publicPort }: DesiredPort,
  rule: Rule,
): LoadBalancerProblem {
  const { name, id, ip } = rule;
  const holder = findRuleHolder(cloud, rule);
  if (holder !== undefined) {
    const use = `${describeOwner(holder.claim.owner)} uses port ${publicPort} of ${ip}`;
    const other = `another port than ${ipProtocol} ${publicPort}, or another address`;
    return toWaiting("PortInUse", `${use}: use ${other}`);
  }
  const what = `port ${publicPort} of ${ip} has the load-balancer rule ${name} (${id})`;
  const advice = `which is not of this Service: delete it, or use another port than ${ipProtocol} ${publicPort}`;
  return toWaiting("PortInUse", `${what}, ${advice}`);
}

/**
 * Plans to remove a rule. What lets clients in goes first, and so the rule is the last proof of what belongs to it:
 * after a crash, the next plan still knows.
 *
 * @param isNeeded Whether an ACL item stays, because another rule of the Service needs it
 */
export function planRemoval(
  current: Current,
  rule: Rule,
  isNeeded: (item: AclItem) => boolean,
): readonly Step[] {
  return [...planClosing(current, rule, isNeeded), toDeletion(current, rule)];
}

/** Plans to keep all clients out of a rule that goes. @param isNeeded As that of {@linkcode planRemoval} */
export function planClosing(
  current: Current,
  rule: Rule,
  isNeeded: (item: AclItem) => boolean,
): readonly Step[] {
  return [...planFirewallRemoval(current, rule), ...planAclRemoval(current, rule, isNeeded)];
}

/** Of a rule in the answer to a change. */
const KEY = "loadbalancer";

/** What the server says of a rule that the load balancer of the network does not take on any address. */
const NOT_SUPPORTED =
  /LB service provider cannot support this rule|Modifications in lb rule.* are not supported/i;

/** What the server says of an address with another purpose, if the offering of the network has no conserve mode. */
const HAS_OTHER_USE = /is already used as (\w+) rather than Lb/i;

/** What the server says before its reason: a VM is gone, is there already, or is in another network. */
const NOT_ASSIGNED = /Failed to assign load balancer rule due to:/i;

/** Makes a rule without backends. It opens no firewall: that is another step. */
export async function createRule(
  { kind: _kind, description, ...fields }: ChangeOf<"createRule">,
  acting: Acting,
): Promise<void> {
  const command = "createLoadBalancerRule";
  const params = { description, openfirewall: "false" };
  try {
    acting.store.putRule(await write(acting, RULES, { command, key: KEY, fields, params }));
  } catch (error) {
    throw toUnsupported(fields, error) ?? toUsed(error) ?? error;
  }
}

/** Changes some fields of a rule. */
export async function updateRule(
  { kind: _kind, ruleId, ...fields }: ChangeOf<"updateRule">,
  acting: Acting,
): Promise<void> {
  const { store } = acting;
  const command = "updateLoadBalancerRule";
  const params = { id: ruleId };
  try {
    store.putRule(await write(acting, RULES, { command, key: KEY, fields, params }));
  } catch (error) {
    if (error instanceof ApiError) store.noteUnsent(ruleId);
    const rule = store.observation?.rules.get(ruleId);
    throw (rule && toUnsupported({ ...rule, ...fields }, error)) ?? error;
  }
  // The answer has the state of before the router took it.
  store.addMembers(ruleId, []);
}

/** Sends traffic to more VMs. CloudStack adds none of them if it refuses one, or has one already. */
export async function addBackends(
  { ruleId, vmIds }: ChangeOf<"addBackends">,
  acting: Acting,
): Promise<void> {
  await sendPlain(acting, "assignToLoadBalancerRule", toMembers(ruleId, vmIds));
  acting.store.addMembers(ruleId, vmIds);
}

/** Whether CloudStack refused to send traffic to the VMs of a step. */
export function isNotAssigned(error: ApiError): boolean {
  return error.code === INTERNAL && NOT_ASSIGNED.test(error.message);
}

/** Sends traffic to fewer VMs. */
export async function removeBackends(
  { ruleId, vmIds }: ChangeOf<"removeBackends">,
  acting: Acting,
): Promise<void> {
  await sendPlain(acting, "removeFromLoadBalancerRule", toMembers(ruleId, vmIds));
  acting.store.removeMembers(ruleId, vmIds);
}

/**
 * The network does not say beforehand what its load balancer refuses: which port is its own is a setting of the server,
 * and the network lists UDP even where HAProxy does not take it.
 */
function toUnsupported(
  { protocol, publicPort }: Pick<Rule, "protocol" | "publicPort">,
  error: unknown,
): RefusedStepError | undefined {
  if (!(error instanceof ApiError && error.code === INVALID)) return undefined;
  if (!NOT_SUPPORTED.test(error.message)) return undefined;
  const why =
    protocol === "udp"
      ? "HAProxy on a virtual router takes no UDP"
      : "a virtual router keeps one port for itself, by default 8081";
  const what = `port ${publicPort}: the load balancer of the network does not take ${protocol} on it`;
  const advice = "remove the port from the Service, or use a network with another load balancer";
  const problem = toWaiting("UnsupportedService", `${what} (error ${INVALID}; ${why}): ${advice}`);
  return new RefusedStepError(problem, error);
}

/** The network does not say how its address may be used: the server alone knows whether it can be shared. */
function toUsed(error: unknown): RefusedStepError | undefined {
  if (!(error instanceof ApiError && error.code === INVALID)) return undefined;
  const [found, use = ""] = HAS_OTHER_USE.exec(error.message) ?? [];
  if (found === undefined) return undefined;
  const why = `the offering of its network has no conserve mode, and it is in use for ${use}`;
  const message = `the address takes no load-balancer rule (error ${INVALID}; ${why}): name another address`;
  return new RefusedStepError(toWaiting("AddressNotUsable", message), error);
}

function toMembers(id: string, vmIds: readonly string[]): Readonly<Record<string, string>> {
  assert(vmIds.length > 0, "a change of backends names at least one VM");
  return { id, virtualmachineids: vmIds.join(",") };
}
