/**
 * Chooses the public IP address of a Service. Pure. What cannot be read is not taken for absent.
 * @module
 */
import type {
  LoadBalancerBackend,
  LoadBalancerProblem,
  LoadBalancerSpec,
} from "../../../cloud/capabilities/load_balancers.ts";
import { parseIp } from "../../../core/net/ip.ts";
import { quote } from "../../../core/text/printable.ts";
import { chooseNetwork, listBackends } from "./backends.ts";
import {
  checkAsked,
  checkPending,
  checkUnsigned,
  listUnclear,
  findLost,
  isWithoutChoice,
  isOwnOrProven,
  toUnclear,
} from "./ownership.ts";
import { toUnusable } from "../../../cloud/address_sharing.ts";
import {
  explainFree,
  explainUse,
  isGoing,
  isNameOf,
  isOfAnother,
  isOwn,
  isShown,
  listOwnRules,
  type Current,
  toStep,
} from "./current.ts";
import { readAddress } from "./desired.ts";
import { ANNOTATIONS, isAclReasonOf, toWaiting } from "./words.ts";
import { isSamePlace, type Place } from "./record.ts";
import type { Step } from "./steps.ts";
import type { Network, PublicAddress, Unreadable } from "./observation.ts";

/** Where the load balancer of a Service is, or will be. */
export interface AddressChoice {
  /** Absent: `take` is to be done first, or a problem is in the way. */
  readonly address?: PublicAddress;
  readonly network?: Network;
  /** Why the Service would not get the address, if it had nothing there yet. */
  readonly refusal?: string;
  /** Takes an address. Must not be done while the Service asks for something that is not possible. */
  readonly take?: Step;
  readonly problems: readonly LoadBalancerProblem[];
}

const DNS_PORT = 53;

/**
 * Chooses the address: the one that the Service names; else the one that it has. If it has several, after a crash or a
 * change by hand, the one that its status shows, then the one with most rules. Never takes a new one while it has one.
 */
export function chooseAddress(current: Current, spec: LoadBalancerSpec): AddressChoice {
  const named = readAddress(spec);
  if (named !== undefined) return choosePinned(current, spec, named);
  const newNetwork = findNewNetwork(current, spec.backends);
  const found = findCurrent(current, newNetwork);
  if (found !== undefined) return useAddress(current, found, newNetwork);
  if (newNetwork === undefined) return { problems: [toNoNetwork(current, spec.backends)] };
  const unreadable = findUnreadableAddresses(current);
  const problems = [
    ...checkNetwork(newNetwork),
    ...unreadable,
    ...checkPending(current),
    // The record has room for one address, and only one of the same place is asked for again.
    ...(isAskedFor(current, newNetwork) ? [] : checkAsked(current)),
  ];
  if (problems.length > 0) return { network: newNetwork, problems };
  // One that CloudStack is still giving shows no network yet.
  const lost = findLost(current).filter(
    (one) => isInNetwork(one, newNetwork) || one.state === "Allocating",
  );
  const doubts = [...listUnclear(current), ...lost].map(toUnclear);
  // The record is about to say something else.
  const notices = [...doubts, ...checkUnsigned(current)];
  return { network: newNetwork, take: toTaking(current, newNetwork), problems: notices };
}

/** The ID of the network of the rules of the Service on an address: that of most of them. */
function findRuledNetwork(current: Current, { id }: PublicAddress): string | undefined {
  const counts = new Map<string, number>();
  for (const { networkId } of listOwnRules(current, id)) {
    counts.set(networkId, (counts.get(networkId) ?? 0) + 1);
  }
  return [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))[0]?.[0];
}

function findNewNetwork(
  { cloud }: Current,
  backends: readonly LoadBalancerBackend[],
): Network | undefined {
  return cloud.networks.get(chooseNetwork(cloud, backends) ?? "");
}

/** The address that the Service has, although it names none. */
function findCurrent(current: Current, network: Network | undefined): PublicAddress | undefined {
  const { cloud, claim } = current;
  const rank = (one: PublicAddress): readonly number[] => [
    isShown(claim, one.ip) && isOwn(current, one) ? 1 : 0,
    isShown(claim, one.ip) ? 1 : 0,
    listOwnRules(current, one.id).length,
    isOwn(current, one) ? 1 : 0,
  ];
  const fits = (one: PublicAddress): boolean =>
    network !== undefined && findRefusal(one, network) === undefined;
  const all = [...cloud.addresses.values()].filter((one) => !isGoing(one));
  const having = all.filter(
    (one) => listOwnRules(current, one.id).length > 0 || (isOwnOrProven(current, one) && fits(one)),
  );
  const [best] = having.toSorted((a, b) => compare(rank(b), rank(a)) || (a.ip < b.ip ? -1 : 1));
  if (best !== undefined) return best;
  // An address that the Service named before, and whose only rule is just being made again.
  return all.find((one) => isShown(claim, one.ip) && fits(one) && !isOfAnother(current, one));
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [at, value] of a.entries()) {
    const difference = value - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function choosePinned(current: Current, spec: LoadBalancerSpec, text: string): AddressChoice {
  const { cloud } = current;
  const ip = parseIp(text);
  if (ip?.family !== 4) {
    const field =
      text === spec.address ? "spec.loadBalancerIP" : `annotation ${ANNOTATIONS.address}`;
    const message = `${field} is ${quote(text)}: write an IPv4 address`;
    return { problems: [toWaiting("AddressNotUsable", message)] };
  }
  const newNetwork = findNewNetwork(current, spec.backends);
  const named = [...cloud.addresses.values()]
    .filter((one) => one.ip === ip.text)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const found = named.find((one) => newNetwork && isInNetwork(one, newNetwork)) ?? named[0];
  if (found === undefined) {
    if (newNetwork === undefined) return { problems: [toNoNetwork(current, spec.backends)] };
    const refusal = explainFree(cloud, spec, ip.text);
    const problems = [
      ...(refusal === undefined ? [] : [toUnusable(refusal)]),
      ...checkNetwork(newNetwork),
      ...findUnreadableAddresses(current, ip.text),
      ...checkPending(current),
      // The record has room for one address.
      ...(current.record?.address?.ip === ip.text ? [] : checkAsked(current)),
    ];
    if (problems.length > 0) return { network: newNetwork, problems };
    const take = toTaking(current, newNetwork, ip.text);
    return { network: newNetwork, take, problems: checkUnsigned(current) };
  }
  const own = cloud.networks.get(found.networkId ?? "");
  const hasNodes = own !== undefined && listBackends(cloud, own.id, spec.backends).length > 0;
  return useAddress(current, found, hasNodes ? own : (newNetwork ?? own));
}

/**
 * Uses an address, unless it cannot have the rules of the Service. Those that it has already show that it can.
 *
 * @param newNetwork The network if it has no rules yet
 */
function useAddress(
  current: Current,
  address: PublicAddress,
  newNetwork: Network | undefined,
): AddressChoice {
  const ruled = findRuledNetwork(current, address);
  const network = ruled === undefined ? newNetwork : current.cloud.networks.get(ruled);
  const cannot = (why: string): AddressChoice => ({
    ...(network && { network }),
    problems: [toWaiting("AddressNotUsable", `public IP ${address.ip} ${why}`)],
  });
  if (network === undefined) {
    const message = `CloudStack does not show the network of public IP ${address.ip}`;
    return { problems: [toWaiting("NotKnown", message)] };
  }
  const problems = checkNetwork(network);
  if (problems.length > 0) return { network, problems };
  if (address.state !== "Allocated") return cannot(`is ${address.state}`);
  const unshared = explainUse(current.cloud, current.claim, address);
  // One that has rules goes on with them, and is asked again before a rule is made.
  if (ruled !== undefined) {
    return { address, network, problems: [], ...(unshared !== undefined && { refusal: unshared }) };
  }
  if (unshared !== undefined) return { network, problems: [toUnusable(unshared)] };
  const refusal = findRefusal(address, network);
  return refusal === undefined ? { address, network, problems: [] } : cannot(refusal);
}

/**
 * Why CloudStack would refuse a new rule on an address, as far as can be known beforehand. The rules that it has may
 * be older than the reason.
 *
 * @param port The port of the rule. Absent: the ports do not matter
 */
export function findRefusal(
  address: PublicAddress,
  network: Network,
  port?: number,
): string | undefined {
  const other = "name another address";
  if (address.isStaticNat) return `has static NAT: disable it, or ${other}`;
  if (!isInNetwork(address, network)) {
    const where = `${quote(network.name)} (${network.id})`;
    return `is not in the network ${where} of the Nodes, nor free for it: ${other}`;
  }
  if (port !== DNS_PORT || !network.hasDns || !address.isSourceNat) return undefined;
  return `is the source NAT of its network, which answers DNS on port ${port}: use another port, or ${other}`;
}

function checkNetwork({ name, id, hasLoadBalancers }: Network): readonly LoadBalancerProblem[] {
  if (hasLoadBalancers) return [];
  const message = `the network ${quote(name)} (${id}) of the Nodes offers no load balancing`;
  return [toWaiting("NetworkNotUsable", message)];
}

/** An address of a VPC is in each tier, until it has a rule in one. */
function isInNetwork({ networkId, vpcId }: PublicAddress, network: Network): boolean {
  if (network.vpcId === undefined) return networkId === network.id;
  return vpcId === network.vpcId && (networkId ?? network.id) === network.id;
}

/** Whether the address that the record names was asked for to serve a network. */
/** Whether the same address is asked for again. Without a choice, each request may give another one. */
function isAskedFor({ record }: Current, network: Network): boolean {
  const asked = record?.address;
  if (asked === undefined || isWithoutChoice(asked)) return false;
  return isSamePlace(asked.place, toPlace(network));
}

function toTaking(current: Current, network: Network, ip?: string): Step {
  const { id, name } = network;
  const summary = `take ${ip === undefined ? "an address" : `address ${ip}`} for network ${name}`;
  const change = { kind: "takeAddress" as const, place: toPlace(network), ...(ip && { ip }) };
  return toStep(current, summary, change, id);
}

function toPlace({ id, vpcId }: Network): Place {
  return vpcId === undefined ? { networkId: id } : { vpcId };
}

function toNoNetwork(
  { cloud }: Current,
  backends: readonly LoadBalancerBackend[],
): LoadBalancerProblem {
  if (backends.length === 0) {
    return toWaiting(
      "NetworkNotUsable",
      "no Node may get traffic, so none says in which network the load balancer should be",
    );
  }
  const id = chooseNetwork(cloud, backends);
  if (id !== undefined) {
    return toWaiting("NotKnown", `CloudStack does not show the network ${id} of the Nodes`);
  }
  const why = "CloudStack shows none of their VMs with a network interface";
  return toWaiting("NetworkNotUsable", `the network of the Nodes is not known: ${why}`);
}

/** Names what may be of the Service, or on one of its addresses, and cannot be read. */
export function findUnreadable(
  current: Current,
  addressIds: ReadonlySet<string>,
): readonly LoadBalancerProblem[] {
  return current.cloud.unreadable
    .filter((one) => mayMatter(current, addressIds, one))
    .map(toProblem);
}

/** Names addresses that cannot be read. One of them may be of the Service: it must get no other one. */
export function findUnreadableAddresses(
  { cloud }: Current,
  ip?: string,
): readonly LoadBalancerProblem[] {
  return cloud.unreadable
    .filter(({ kind, name }) => kind === "address" && (ip === undefined || (name ?? ip) === ip))
    .map(toProblem);
}

function mayMatter(
  { lbName }: Current,
  addressIds: ReadonlySet<string>,
  { kind, name, addressId }: Unreadable,
): boolean {
  const isOn = addressId !== undefined && addressIds.has(addressId);
  if (kind === "rule") return isOn || name === undefined || isNameOf(lbName, name);
  if (kind === "firewallRule") return isOn || (addressId === undefined && addressIds.size > 0);
  if (kind === "aclItem") return name !== undefined && isAclReasonOf(lbName, name);
  return false;
}

function toProblem({ kind, id, name, problem }: Unreadable): LoadBalancerProblem {
  const words = { address: "public IP address", rule: "load-balancer rule", network: "network" };
  const what =
    kind === "firewallRule" ? "firewall rule" : kind === "aclItem" ? "ACL item" : words[kind];
  const which = [
    name === undefined ? [] : [quote(name)],
    id === undefined ? [] : [`(${id})`],
  ].flat();
  return toWaiting("UnreadableObject", `${[what, ...which].join(" ")}: ${problem}`);
}
