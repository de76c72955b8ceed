/**
 * Everything of a simulated CloudStack that load balancers leave behind, in a form by which two runs can be compared:
 * names instead of IDs, sorted, without times.
 * @module
 */
import type { FirewallRule } from "./firewall.ts";
import {
  type AppliedRule,
  type LoadBalancerRule,
  type PortForwarding,
  readStoredParameters,
} from "./load_balancing.ts";
import type { PublicIp } from "./records.ts";
import type { CloudStackState } from "./state.ts";
import type { AclItem, AclList } from "./vpcs.ts";

/** The state of a cloud. Two clouds with equal summaries serve the same. */
export interface CloudSummary {
  /** Addresses with an owner, and all that is on them. */
  readonly addresses: readonly AddressSummary[];
  /** Lists of network ACL items of VPCs. */
  readonly aclLists: readonly object[];
  /** What belongs to nothing any more, as a sentence each. Nothing that a server does makes one. */
  readonly orphans: readonly string[];
}

/** An address with an owner. */
export interface AddressSummary {
  readonly address: string;
  readonly owner: string;
  readonly state: string;
  readonly network: string | undefined;
  readonly vpc: string | undefined;
  /** `source`, `static` with the name of the machine, or `none`. */
  readonly nat: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly loadBalancerRules: readonly object[];
  readonly firewallRules: readonly object[];
  readonly portForwardings: readonly object[];
}

/** What {@linkcode summarizeCloud} takes. */
interface SummaryOptions {
  /** Whether an address counts as any other one, since the client chose it at random. @default {none does} */
  readonly isChosen?: (ip: PublicIp, tags: Readonly<Record<string, string>>) => boolean;
}

/** Summarizes a cloud. */
export function summarizeCloud(state: CloudStackState, options: SummaryOptions = {}): CloudSummary {
  const owned = [...state.publicIps.values()].filter((ip) => ip.accountId !== undefined);
  const addresses = owned.map((ip) => toAddress(ip, state, options));
  const lists = [...state.aclLists.values()].filter(({ vpcId }) => vpcId !== undefined);
  return {
    addresses: toSorted(addresses),
    aclLists: toSorted(lists.map((list) => toAclList(list, state))),
    orphans: listOrphans(state).toSorted(),
  };
}

function toAddress(
  ip: PublicIp,
  state: CloudStackState,
  { isChosen = () => false }: SummaryOptions,
): AddressSummary {
  const tags = toTags(ip.id, state);
  const isHere = ({ ipId }: { readonly ipId: string }): boolean => ipId === ip.id;
  const rules = [...state.loadBalancerRules.values()].filter((rule) => isHere(rule));
  const firewallRules = [...state.firewallRules.values()].filter((rule) => isHere(rule));
  const forwardings = [...state.portForwardings.values()].filter((one) => isHere(one));
  return {
    address: isChosen(ip, tags) ? "any" : ip.address,
    owner: state.accounts.get(ip.accountId ?? "")?.name ?? "",
    state: ip.state,
    network: state.networks.get(ip.networkId ?? "")?.name,
    vpc: state.vpcs.get(ip.vpcId ?? "")?.name,
    nat: toNat(ip, state),
    tags,
    loadBalancerRules: toSorted(rules.map((rule) => toRule(rule, state))),
    firewallRules: toSorted(firewallRules.map((rule) => toFirewall(rule, state))),
    portForwardings: toSorted(forwardings.map((one) => toForwarding(one, state))),
  };
}

function toNat({ isSourceNat, staticNatVmId }: PublicIp, { vms }: CloudStackState): string {
  if (isSourceNat) return "source";
  return staticNatVmId === undefined ? "none" : `static ${vms.get(staticNatVmId)?.name}`;
}

function toRule(rule: LoadBalancerRule, state: CloudStackState): object {
  const members = rule.members.map(({ vmId, ip }) => `${state.vms.get(vmId)?.name} ${ip}`);
  return {
    name: rule.name,
    description: rule.description,
    ports: `${rule.publicPort}:${rule.privatePort}`,
    protocol: rule.protocol,
    algorithm: rule.algorithm,
    sources: toSources(rule.cidrList),
    network: state.networks.get(rule.networkId)?.name,
    state: rule.state,
    members: members.toSorted(),
    applied: toApplied(rule.applied),
    policies: toPolicies(rule, state),
    tags: toTags(rule.id, state),
  };
}

function toPolicies(rule: LoadBalancerRule, state: CloudStackState): readonly object[] {
  const policies = [...state.stickinessPolicies.values()].filter((one) => one.ruleId === rule.id);
  return toSorted(
    policies.map(({ name, methodName, description, parameters, isRevoked }) => ({
      name,
      methodName,
      description,
      parameters: readStoredParameters(parameters),
      isRevoked,
    })),
  );
}

/** A rule that the router has without members serves as little as one that it does not have. */
function toApplied(applied: AppliedRule | undefined): object | undefined {
  if (applied === undefined || applied.backends.length === 0) return undefined;
  const { cidrList, backends, ...rest } = applied;
  return { ...rest, sources: toSources(cidrList), backends: backends.toSorted() };
}

/** Blanks or commas, in any order: the same sources. */
function toSources(cidrList: string | undefined): readonly string[] {
  return (cidrList ?? "")
    .split(/[ ,]+/)
    .filter((one) => one !== "")
    .toSorted();
}

function toFirewall(rule: FirewallRule, state: CloudStackState): object {
  const { protocol, icmpType, icmpCode, cidrs } = rule;
  return {
    protocol,
    ports: toPorts(rule),
    ...(icmpType !== undefined && { icmp: `${icmpType}/${icmpCode}` }),
    sources: cidrs.toSorted(),
    state: rule.state,
    tags: toTags(rule.id, state),
  };
}

function toForwarding(one: PortForwarding, state: CloudStackState): object {
  return {
    protocol: one.protocol,
    ports: `${one.publicPort}-${one.publicEndPort}:${one.privatePort}-${one.privateEndPort}`,
    vm: state.vms.get(one.vmId)?.name,
    tags: toTags(one.id, state),
  };
}

function toAclList({ id, name, vpcId }: AclList, state: CloudStackState): object {
  const all = [...state.aclItems.values()].filter(({ listId }) => listId === id);
  const toItems = (wanted: AclItem["trafficType"]): object[] =>
    toDecisions(
      all.filter(({ trafficType }) => trafficType === wanted),
      state,
    );
  const vpc = state.vpcs.get(vpcId ?? "")?.name;
  return { name, vpc, ingress: toItems("Ingress"), egress: toItems("Egress") };
}

/** Items in the order in which they decide, without their numbers. Neighbours that do the same have no order. */
function toDecisions(items: readonly AclItem[], state: CloudStackState): object[] {
  const groups: AclItem[][] = [];
  for (const item of items.toSorted((one, two) => one.number - two.number)) {
    const last = groups.at(-1);
    if (last?.[0]?.action === item.action) last.push(item);
    else groups.push([item]);
  }
  return groups.flatMap((group) => toSorted(group.map((item) => toAclItem(item, state))));
}

function toAclItem(item: AclItem, state: CloudStackState): object {
  const { protocol, action, icmpType, icmpCode, reason } = item;
  return {
    action,
    protocol,
    ports: toPorts(item),
    ...(icmpType !== undefined && { icmp: `${icmpType}/${icmpCode}` }),
    sources: item.cidrs.toSorted(),
    reason,
    state: item.state,
    tags: toTags(item.id, state),
  };
}

function toPorts(range: {
  readonly startPort?: number | undefined;
  readonly endPort?: number | undefined;
}): string {
  return range.startPort === undefined ? "all" : `${range.startPort}-${range.endPort}`;
}

function toTags(resourceId: string, { tags }: CloudStackState): Readonly<Record<string, string>> {
  const pairs = tags.of(resourceId).map(({ key, value }) => [key, value]);
  return Object.fromEntries(pairs.toSorted());
}

/** Rules of addresses without an owner, members that do not exist, and tags of objects that are gone. */
function listOrphans(state: CloudStackState): string[] {
  const { publicIps, loadBalancerRules, portForwardings, firewallRules, vms } = state;
  const isOwned = (ipId: string): boolean => publicIps.get(ipId)?.accountId !== undefined;
  const rules = [loadBalancerRules, portForwardings, firewallRules].flatMap((map) => [
    ...map.values(),
  ]);
  const members = [...loadBalancerRules.values()].flatMap((rule) => rule.members);
  const policies = [...state.stickinessPolicies.values()];
  const known = [publicIps, loadBalancerRules, portForwardings, firewallRules, vms];
  const tagged = [...known, state.networks, state.vpcs, state.aclLists, state.aclItems];
  return [
    ...rules.filter(({ ipId }) => !isOwned(ipId)).map(({ id }) => `rule ${id} has no address`),
    ...members.filter(({ vmId }) => !vms.has(vmId)).map(({ vmId }) => `member ${vmId} is gone`),
    ...policies
      .filter(({ ruleId }) => !loadBalancerRules.has(ruleId))
      .map(({ name }) => `policy ${name} has no rule`),
    ...state.tags.all
      .filter(({ resourceId }) => !tagged.some((map) => map.has(resourceId)))
      .map(({ resourceType, key }) => `tag ${key} of a ${resourceType} that is gone`),
  ];
}

/** Sorted by content, so that the order in which objects were made does not matter. */
function toSorted<T extends object>(items: readonly T[]): T[] {
  const texts = new Map(items.map((item) => [item, JSON.stringify(item)]));
  return items.toSorted((one, two) => ((texts.get(one) ?? "") < (texts.get(two) ?? "") ? -1 : 1));
}
