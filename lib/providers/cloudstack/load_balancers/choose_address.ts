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
  findDoubtful,
  findLost,
  isWithoutChoice,
  isOwnOrProven,
  toDoubt,
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
  type Scene,
  toStep,
} from "./scene.ts";
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
export function chooseAddress(scene: Scene, spec: LoadBalancerSpec): AddressChoice {
  const named = readAddress(spec);
  if (named !== undefined) return choosePinned(scene, spec, named);
  const newNetwork = findNewNetwork(scene, spec.backends);
  const found = findCurrent(scene, newNetwork);
  if (found !== undefined) return useAddress(scene, found, newNetwork);
  if (newNetwork === undefined) return { problems: [toNoNetwork(scene, spec.backends)] };
  const unreadable = findUnreadableAddresses(scene);
  const problems = [
    ...checkNetwork(newNetwork),
    ...unreadable,
    ...checkPending(scene),
    // The record has room for one address, and only one of the same place is asked for again.
    ...(isAskedFor(scene, newNetwork) ? [] : checkAsked(scene)),
  ];
  if (problems.length > 0) return { network: newNetwork, problems };
  // One that CloudStack is still giving shows no network yet.
  const lost = findLost(scene).filter(
    (one) => isInNetwork(one, newNetwork) || one.state === "Allocating",
  );
  const doubts = [...findDoubtful(scene), ...lost].map(toDoubt);
  // The record is about to say something else.
  const notices = [...doubts, ...checkUnsigned(scene)];
  return { network: newNetwork, take: toTaking(scene, newNetwork), problems: notices };
}

/** The ID of the network of the rules of the Service on an address: that of most of them. */
function findRuledNetwork(scene: Scene, { id }: PublicAddress): string | undefined {
  const counts = new Map<string, number>();
  for (const { networkId } of listOwnRules(scene, id)) {
    counts.set(networkId, (counts.get(networkId) ?? 0) + 1);
  }
  return [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))[0]?.[0];
}

function findNewNetwork(
  { view }: Scene,
  backends: readonly LoadBalancerBackend[],
): Network | undefined {
  return view.networks.get(chooseNetwork(view, backends) ?? "");
}

/** The address that the Service has, although it names none. */
function findCurrent(scene: Scene, network: Network | undefined): PublicAddress | undefined {
  const { view, claim } = scene;
  const rank = (one: PublicAddress): readonly number[] => [
    isShown(claim, one.ip) && isOwn(scene, one) ? 1 : 0,
    isShown(claim, one.ip) ? 1 : 0,
    listOwnRules(scene, one.id).length,
    isOwn(scene, one) ? 1 : 0,
  ];
  const fits = (one: PublicAddress): boolean =>
    network !== undefined && findRefusal(one, network) === undefined;
  const all = [...view.addresses.values()].filter((one) => !isGoing(one));
  const having = all.filter(
    (one) => listOwnRules(scene, one.id).length > 0 || (isOwnOrProven(scene, one) && fits(one)),
  );
  const [best] = having.toSorted((a, b) => compare(rank(b), rank(a)) || (a.ip < b.ip ? -1 : 1));
  if (best !== undefined) return best;
  // An address that the Service named before, and whose only rule is just being made again.
  return all.find((one) => isShown(claim, one.ip) && fits(one) && !isOfAnother(scene, one));
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [at, value] of a.entries()) {
    const difference = value - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function choosePinned(scene: Scene, spec: LoadBalancerSpec, text: string): AddressChoice {
  const { view } = scene;
  const ip = parseIp(text);
  if (ip?.family !== 4) {
    const field =
      text === spec.address ? "spec.loadBalancerIP" : `annotation ${ANNOTATIONS.address}`;
    const message = `${field} is ${quote(text)}: write an IPv4 address`;
    return { problems: [toWaiting("AddressNotUsable", message)] };
  }
  const newNetwork = findNewNetwork(scene, spec.backends);
  const named = [...view.addresses.values()]
    .filter((one) => one.ip === ip.text)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const found = named.find((one) => newNetwork && isInNetwork(one, newNetwork)) ?? named[0];
  if (found === undefined) {
    if (newNetwork === undefined) return { problems: [toNoNetwork(scene, spec.backends)] };
    const refusal = explainFree(view, spec, ip.text);
    const problems = [
      ...(refusal === undefined ? [] : [toUnusable(refusal)]),
      ...checkNetwork(newNetwork),
      ...findUnreadableAddresses(scene, ip.text),
      ...checkPending(scene),
      // The record has room for one address.
      ...(scene.record?.address?.ip === ip.text ? [] : checkAsked(scene)),
    ];
    if (problems.length > 0) return { network: newNetwork, problems };
    const take = toTaking(scene, newNetwork, ip.text);
    return { network: newNetwork, take, problems: checkUnsigned(scene) };
  }
  const own = view.networks.get(found.networkId ?? "");
  const hasNodes = own !== undefined && listBackends(view, own.id, spec.backends).length > 0;
  return useAddress(scene, found, hasNodes ? own : (newNetwork ?? own));
}

/**
 * Uses an address, unless it cannot have the rules of the Service. Those that it has already show that it can.
 *
 * @param newNetwork The network if it has no rules yet
 */
function useAddress(
  scene: Scene,
  address: PublicAddress,
  newNetwork: Network | undefined,
): AddressChoice {
  const ruled = findRuledNetwork(scene, address);
  const network = ruled === undefined ? newNetwork : scene.view.networks.get(ruled);
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
  const unshared = explainUse(scene.view, scene.claim, address);
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
function isAskedFor({ record }: Scene, network: Network): boolean {
  const asked = record?.address;
  if (asked === undefined || isWithoutChoice(asked)) return false;
  return isSamePlace(asked.place, toPlace(network));
}

function toTaking(scene: Scene, network: Network, ip?: string): Step {
  const { id, name } = network;
  const summary = `take ${ip === undefined ? "an address" : `address ${ip}`} for network ${name}`;
  const change = { kind: "takeAddress" as const, place: toPlace(network), ...(ip && { ip }) };
  return toStep(scene, summary, change, id);
}

function toPlace({ id, vpcId }: Network): Place {
  return vpcId === undefined ? { networkId: id } : { vpcId };
}

function toNoNetwork(
  { view }: Scene,
  backends: readonly LoadBalancerBackend[],
): LoadBalancerProblem {
  if (backends.length === 0) {
    return toWaiting(
      "NetworkNotUsable",
      "no Node may get traffic, so none says in which network the load balancer should be",
    );
  }
  const id = chooseNetwork(view, backends);
  if (id !== undefined) {
    return toWaiting("NotKnown", `CloudStack does not show the network ${id} of the Nodes`);
  }
  const why = "CloudStack shows none of their VMs with a network interface";
  return toWaiting("NetworkNotUsable", `the network of the Nodes is not known: ${why}`);
}

/** Names what may be of the Service, or on one of its addresses, and cannot be read. */
export function findUnreadable(
  scene: Scene,
  addressIds: ReadonlySet<string>,
): readonly LoadBalancerProblem[] {
  return scene.view.unreadable.filter((one) => mayMatter(scene, addressIds, one)).map(toProblem);
}

/** Names addresses that cannot be read. One of them may be of the Service: it must get no other one. */
export function findUnreadableAddresses(
  { view }: Scene,
  ip?: string,
): readonly LoadBalancerProblem[] {
  return view.unreadable
    .filter(({ kind, name }) => kind === "address" && (ip === undefined || (name ?? ip) === ip))
    .map(toProblem);
}

function mayMatter(
  { lbName }: Scene,
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
