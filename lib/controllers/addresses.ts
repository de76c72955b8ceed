/**
 * Plans the addresses of a Node: those of its instance, in the order that the kubelet's `--node-ip` asks for.
 *
 * Follows the rules of `k8s.io/cloud-provider` for the annotation `alpha.kubernetes.io/provided-node-ip`.
 * @module
 */
import type { Instance, InstanceAddress } from "../cloud/instance.ts";
import type { Provider } from "../cloud/provider.ts";
import { type IpAddress, isHostAddress, parseIp } from "../core/net/ip.ts";
import { joinFew, quote } from "../core/text/printable.ts";
import type { Node } from "../kube/kinds/node.ts";
import { PROVIDED_NODE_IP } from "./words.ts";

/** Address types that no kubelet writes. */
const CLOUD_TYPES = ["ExternalIP", "InternalDNS", "ExternalDNS"] as const;
const toFamily = (address: string): 4 | 6 => (address.includes(":") ? 6 : 4);
/** How many conflicts a message names. */
const SHOWN_MAX = 5;
const UNSPECIFIED: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** The list that a Node should have, or the reason why there is none. */
export type AddressPlan =
  | {
      readonly kind: "wanted";
      readonly addresses: readonly InstanceAddress[];
      /** Who else has addresses of the Node or its machine, and what to do, in words. Absent: there is no conflict. */
      readonly conflict?: string;
    }
  /**
   * The Node keeps its addresses: the cloud reports none now, its settings leave addresses alone, or others have all
   * that could be the InternalIP. In the last case, `conflict` says who.
   */
  | { readonly kind: "keep"; readonly conflict?: string }
  /** The annotation cannot be used; the message names it. */
  | { readonly kind: "invalid"; readonly message: string };

/** `Provider.providedNodeIps`, or `leave` if Landfall must not write addresses. */
export type AddressPolicy = Provider["providedNodeIps"] | "leave";

/** Who else has an address in canonical form. Names are words for a message: `the Service web/shop`. */
export interface AddressUses {
  /** The address pool of Landfall that holds it. */
  findPool(ip: string): string | undefined;
  /**
   * A Service that has it.
   *
   * `isNamed`: the spec or an annotation of one names it, which any user of that Service can write. `isShown`:
   * the status of one shows it.
   */
  findService(
    ip: string,
  ): { readonly who: string; readonly isNamed: boolean; readonly isShown: boolean } | undefined;
  /**
   * Another Node that has it, or whose machine reports it. What the kubelet of a machine that runs says is not enough.
   *
   * `isCertain`: the Node has it, and its machine reports it.
   */
  findNode(
    ip: string,
    self: string,
  ): { readonly who: string; readonly isCertain: boolean } | undefined;
  /** Whether a program may have put it on a machine to announce it for a Service, now or until recently. */
  mayBeAnnounced(ip: string): boolean;
  /** Another Node that has it only because the `--node-ip` of its kubelet names it. It takes the address from none. */
  findNodeIp(ip: string, self: string): string | undefined;
}

/** Nothing else is known to have an address. */
const NO_USES: AddressUses = {
  findPool: () => undefined,
  findService: () => undefined,
  findNode: () => undefined,
  findNodeIp: () => undefined,
  mayBeAnnounced: () => true,
};

/** Returns the address policy of a provider. */
export function toAddressPolicy({
  providedNodeIps,
  unmanaged,
}: Pick<Provider, "providedNodeIps" | "unmanaged">): AddressPolicy {
  return unmanaged?.has("addresses") ? "leave" : providedNodeIps;
}

/**
 * Plans the whole address list of a Node.
 *
 * Without `--node-ip`, a Node keeps the InternalIPs that its machine still reports, in any order. It gets no address of
 * another Node, of an address pool or of a Service. A user of a Service can name any address in it: that takes none
 * away, keeps no Node from its first InternalIP, and none from following its machine in a family that it has.
 *
 * @param node The Node, for its annotation, the addresses that it keeps, and its kubelet's `Hostname` addresses
 * @param instance Its instance
 * @param policy Whether annotated IPs count by themselves, or must be among the instance's
 * @param uses Who else has addresses
 */
export function planAddresses(
  node: Node,
  instance: Instance,
  policy: AddressPolicy,
  uses: AddressUses = NO_USES,
): AddressPlan {
  if (policy === "leave") return { kind: "keep" };
  const nodeIps = readNodeIps(node);
  if (typeof nodeIps === "string") {
    const annotation = quote(node.metadata.annotations?.[PROVIDED_NODE_IP] ?? "");
    return {
      kind: "invalid",
      message: `Cannot use annotation ${PROVIDED_NODE_IP} ${annotation}: ${nodeIps}`,
    };
  }
  const inputs = { node, instance, policy, uses, nodeIps };
  const isChosenByKubelet = nodeIps.length > 0;
  const cloud =
    isChosenByKubelet && policy === "trusted"
      ? addTrusted(inputs)
      : isChosenByKubelet
        ? instance.addresses
        : chooseForNode(inputs);
  if (typeof cloud === "string") return { kind: "keep", conflict: cloud };
  if (cloud.length === 0) return { kind: "keep" };

  const preferred: InstanceAddress[] = [];
  for (const ip of nodeIps) {
    const matches = cloud.filter(({ address }) => parseIp(address)?.text === ip);
    if (matches.length === 0) {
      const known = cloud.map(({ address }) => address).join(", ");
      return {
        kind: "invalid",
        message: `Cannot use node IP ${ip} of annotation ${PROVIDED_NODE_IP}: instance "${instance.name}" has ${known}`,
      };
    }
    preferred.push(...matches);
  }
  const taken = new Set(preferred.map(({ type }) => type));
  const rest = cloud.filter(
    ({ type, address }) => !taken.has(type) && !isWithheld(inputs, { type, address }),
  );
  const addresses = withHostname([...preferred, ...rest], node);
  const conflict = describeConflict(inputs, addresses);
  const isNone = preferred.length + rest.length === 0;
  return {
    ...(isNone ? { kind: "keep" } : { kind: "wanted", addresses }),
    ...(conflict && { conflict }),
  };
}

interface AddressInputs {
  readonly node: Node;
  readonly instance: Instance;
  readonly policy: AddressPolicy;
  readonly uses: AddressUses;
  readonly nodeIps: readonly string[];
}

/**
 * Chooses as many InternalIPs of each family as the cloud did, from all that the machine reports. The ExternalIPs
 * follow from them.
 *
 * @returns What to say if others have all of them
 */
function chooseForNode(inputs: AddressInputs): readonly InstanceAddress[] | string {
  const { instance, policy } = inputs;
  const { addresses, addressesWithNodeIp, alternatives = [] } = instance;
  const reported = [...new Set([...listIps(addresses, "InternalIP"), ...alternatives])];
  const left = rank(inputs, reported);
  if (left.length === 0 && reported.length > 0) return describeTaken(inputs, reported);
  const byFamily = Map.groupBy(left, toFamily);
  const internal: string[] = [];
  const isRepeated = addressesWithNodeIp?.repeatsNodeIps ?? policy === "verified";
  const external = isRepeated ? undefined : addressesWithNodeIp?.externalIps;
  const chosen = withExternalIps(addresses, external).flatMap((one): InstanceAddress[] => {
    if (one.type !== "InternalIP") return [one];
    const next = byFamily.get(toFamily(one.address))?.shift();
    if (next === undefined) return [];
    internal.push(next);
    return [{ type: "InternalIP", address: next }];
  });
  return chosen.filter(
    ({ type, address }) => isRepeated || type !== "ExternalIP" || !internal.includes(address),
  );
}

/** Whether an address that is only external stays out: it moves between Nodes, or is another one's. */
function isWithheld(
  { node, policy, uses, nodeIps }: AddressInputs,
  { type, address }: InstanceAddress,
): boolean {
  const ip = parseIp(address)?.text;
  if (type !== "ExternalIP" || ip === undefined || nodeIps.includes(ip)) return false;
  if (uses.findPool(ip) !== undefined) return true;
  if (listNodeIps(node, "ExternalIP").includes(ip)) return false;
  if (uses.findService(ip) !== undefined) return true;
  // An inventory file may say that several machines share one.
  return policy === "trusted" && uses.findNode(ip, node.metadata.name)?.isCertain === true;
}

/** Lists the IPs that may be an InternalIP of a Node, the best one first. */
function rank({ node, uses }: AddressInputs, reported: readonly string[]): string[] {
  const before = listNodeIps(node, "InternalIP");
  const kept = before.filter((ip) => reported.includes(ip));
  const [free, named, rest]: [string[], string[], string[]] = [[], [], []];
  for (const ip of reported) {
    const other = uses.findNode(ip, node.metadata.name);
    const service = uses.findService(ip);
    if (other?.isCertain) continue;
    if (other !== undefined || uses.findPool(ip) !== undefined || service?.isShown) rest.push(ip);
    else if (service === undefined) free.push(ip);
    else named.push(ip);
  }
  const best = [...new Set([...kept, ...free])];
  const families = new Set(best.map(toFamily));
  const held = new Set(before.map(toFamily));
  const isWithout = best.length === 0 && before.length === 0;
  // A machine that announces a virtual IP of another family does not have it as its own.
  const able = [
    ...best,
    ...named.filter((ip) => {
      const family = toFamily(ip);
      return isWithout || (held.has(family) && !families.has(family));
    }),
  ];
  // A Node that has an InternalIP does not change to a virtual IP that its machine announces.
  return able.length > 0 || before.length > 0 ? able : rest.slice(0, 1);
}

function describeTaken({ node, instance, uses }: AddressInputs, ips: readonly string[]): string {
  const who = ips.map((ip) => {
    const other = uses.findNode(ip, node.metadata.name) ?? uses.findService(ip);
    return `${ip} is that of ${other?.who ?? uses.findPool(ip)}`;
  });
  const machine = `instance "${instance.name}"`;
  const before = listNodeIps(node, "InternalIP");
  if (before.length === 0) {
    const what = `Every address of ${machine} is another's: ${joinFew(who, SHOWN_MAX)}`;
    return `${what}. Give the machine an address of its own`;
  }
  return (
    `The Node keeps InternalIP ${before.join(", ")}, although ${machine} does not report it any more or the settings ` +
    `exclude it: every other address of the machine is another's: ${joinFew(who, SHOWN_MAX)}. ` +
    "Give the machine an address of its own, or correct addresses.exclude and addresses.network"
  );
}

/** Who else has the InternalIPs of the Node, what it does not get, and which machines report the same addresses. */
function describeConflict(
  { node, instance, policy, uses, nodeIps }: AddressInputs,
  addresses: readonly InstanceAddress[],
): string | undefined {
  const before = listNodeIps(node, "InternalIP");
  const internal = listIps(addresses, "InternalIP");
  const conflicts = internal.flatMap((ip) => {
    const pool = uses.findPool(ip);
    const service = uses.findService(ip);
    // Programs that make no load balancers write addresses of Nodes into the status.
    const isOdd = service?.isNamed || (service && !before.includes(ip));
    if (pool === undefined && !isOdd) return [];
    const who = [...(service ? [`that of ${service.who}`] : []), ...(pool ? [`in ${pool}`] : [])];
    const what = pool ? "take it out of the pool" : "correct the Service";
    return `InternalIP ${ip} is also ${who.join(" and ")}: ${what}, or give the machine another address`;
  });
  const got = listIps(addresses);
  for (const ip of listReportedIps(instance)) {
    const pool = got.includes(ip) || uses.mayBeAnnounced(ip) ? undefined : uses.findPool(ip);
    if (pool === undefined) continue;
    const what = `${ip} of instance "${instance.name}" is in ${pool}, so the Node does not get it`;
    conflicts.push(`${what}: take it out of the pool, or give the machine another address`);
  }
  // An inventory file may say that several machines share an ExternalIP.
  const reported =
    policy === "trusted" ? listReportedIps(instance) : listIps(instance.addresses, "InternalIP");
  for (const ip of new Set([...internal, ...reported])) {
    const named = internal.includes(ip) ? uses.findNodeIp(ip, node.metadata.name) : undefined;
    if (named !== undefined) {
      conflicts.push(
        `InternalIP ${ip} is also the --node-ip of ${named}: correct --node-ip of the kubelet that is wrong`,
      );
      continue;
    }
    if (uses.findPool(ip) !== undefined || uses.findService(ip) !== undefined) continue;
    const other = uses.findNode(ip, node.metadata.name);
    if (other === undefined) continue;
    const what = `${ip} is also an address of ${other.who} or its machine`;
    const advice = nodeIps.includes(ip) ? "correct --node-ip" : "exclude it if it is a virtual IP";
    conflicts.push(`${what}: ${advice}, or give each machine an address of its own`);
  }
  return conflicts.length === 0 ? undefined : joinFew(conflicts, SHOWN_MAX);
}

/** The IPs of a Node in canonical form. @param type @default {InternalIP and ExternalIP} */
export function listNodeIps({ status }: Node, type?: "ExternalIP" | "InternalIP"): string[] {
  return listIps(status?.addresses ?? [], type);
}

/** An instance never changes, and several looks at each of thousands of Nodes need its IPs. */
const REPORTED = new WeakMap<Instance, readonly string[]>();

/** All IPs that the cloud shows of a machine and that its Node may have, each once, in canonical form. */
export function listReportedIps(instance: Instance): readonly string[] {
  const known = REPORTED.get(instance);
  if (known !== undefined) return known;
  const { addresses, addressesWithNodeIp, alternatives = [] } = instance;
  const { externalIps = [] } = addressesWithNodeIp ?? {};
  const internal = listIps(addresses, "InternalIP");
  const external = listIps(addresses, "ExternalIP");
  const ips = [...new Set([...internal, ...alternatives, ...external, ...externalIps])];
  REPORTED.set(instance, ips);
  return ips;
}

/** IPs in canonical form. @param wanted @default {InternalIP and ExternalIP} */
export function listIps(
  addresses: readonly { readonly type: string; readonly address: string }[],
  wanted?: InstanceAddress["type"],
): string[] {
  if (wanted === undefined) {
    return [...listIps(addresses, "InternalIP"), ...listIps(addresses, "ExternalIP")];
  }
  return addresses.flatMap(({ type, address }) =>
    type === wanted ? (parseIp(address)?.text ?? []) : [],
  );
}

/** Whether a Node has exactly these addresses in this order. */
export function hasAddresses(node: Node, wanted: readonly InstanceAddress[]): boolean {
  const actual = node.status?.addresses ?? [];
  return (
    actual.length === wanted.length &&
    wanted.every(
      ({ type, address }, at) => actual[at]?.type === type && actual[at]?.address === address,
    )
  );
}

/**
 * Lists IPs that a Node keeps, but with another type: InternalIP or ExternalIP.
 *
 * @returns For people: `8.8.4.4 from InternalIP to ExternalIP`
 */
export function listTypeChanges(node: Node, wanted: readonly InstanceAddress[]): string[] {
  const before = toTypesByIp(node.status?.addresses ?? []);
  const changes: string[] = [];
  for (const [ip, types] of toTypesByIp(wanted)) {
    const old = before.get(ip);
    if (old !== undefined && old !== types) changes.push(`${ip} from ${old} to ${types}`);
  }
  return changes;
}

/** Lists how the first InternalIP of each family changes, for people: `from 10.0.0.1 to 10.0.0.2`. */
export function listInternalIpChanges(node: Node, wanted: readonly InstanceAddress[]): string[] {
  const [before, after] = [listNodeIps(node, "InternalIP"), listIps(wanted, "InternalIP")];
  return [4, 6].flatMap((family) => {
    const [from, to] = [before, after].map((ips) => ips.find((ip) => toFamily(ip) === family));
    return from === undefined || to === undefined || from === to ? [] : [`from ${from} to ${to}`];
  });
}

/** By canonical IP: `InternalIP`, `ExternalIP` or `InternalIP and ExternalIP`. */
function toTypesByIp(
  addresses: readonly { readonly type: string; readonly address: string }[],
): Map<string, string> {
  const types = new Map<string, string>();
  for (const type of ["InternalIP", "ExternalIP"]) {
    for (const one of addresses) {
      const ip = one.type === type ? parseIp(one.address)?.text : undefined;
      if (ip === undefined) continue;
      const known = types.get(ip);
      types.set(ip, known === undefined || known === type ? type : `${known} and ${type}`);
    }
  }
  return types;
}

/**
 * Reads the IPs of the kubelet's `--node-ip`.
 *
 * @returns At most two canonical IPs, or what is wrong with the annotation
 */
export function readNodeIps({ metadata }: Node): string[] | string {
  const annotation = metadata.annotations?.[PROVIDED_NODE_IP];
  if (annotation === undefined) return [];
  const ips: IpAddress[] = [];
  for (const part of annotation.split(",")) {
    const ip = parseIp(part.trim());
    if (ip === undefined) return `${quote(part.trim())} is not an IP address`;
    ips.push(ip);
  }
  const texts = ips.map(({ text }) => text);
  const isPair = ips.length === 2 && ips[0]?.family !== ips[1]?.family;
  if (ips.length > 1 && !isPair) return "it must hold a single IP or a dual-stack pair of IPs";
  if (isPair && texts.some((text) => UNSPECIFIED.has(text))) {
    return 'a dual-stack pair cannot include "0.0.0.0" or "::"';
  }
  const useless = texts.find((text) => !isHostAddress(text));
  if (useless !== undefined) return `${useless} cannot be the address of a host`;
  return texts;
}

/**
 * Lists the Node's addresses that only a cloud can have written. For an instance without addresses now; it may be off.
 */
function listCloudAddresses(node: Node): readonly InstanceAddress[] {
  const kept: InstanceAddress[] = [];
  for (const { type, address } of node.status?.addresses ?? []) {
    const known = CLOUD_TYPES.find((one) => one === type);
    if (known) kept.push({ type: known, address });
  }
  return kept;
}

/**
 * Makes the annotated IPs the only InternalIPs. An annotated ExternalIP becomes InternalIP only, unless the cloud wants
 * both.
 */
function addTrusted({ node, instance, nodeIps }: AddressInputs): readonly InstanceAddress[] {
  const { addresses, addressesWithNodeIp } = instance;
  const cloud =
    addresses.length > 0
      ? withExternalIps(addresses, addressesWithNodeIp?.externalIps)
      : listCloudAddresses(node);
  const isRepeated = addressesWithNodeIp?.repeatsNodeIps ?? false;
  const trusted = nodeIps.map((address): InstanceAddress => ({ type: "InternalIP", address }));
  const others = cloud.filter(
    ({ type, address }) =>
      type !== "InternalIP" && (isRepeated || !nodeIps.includes(parseIp(address)?.text ?? "")),
  );
  return [...trusted, ...others];
}

function withExternalIps(
  addresses: readonly InstanceAddress[],
  externalIps: readonly string[] | undefined,
): readonly InstanceAddress[] {
  if (externalIps === undefined) return addresses;
  return [
    ...addresses.filter(({ type }) => type !== "ExternalIP"),
    ...externalIps.map((address): InstanceAddress => ({ type: "ExternalIP", address })),
  ];
}

/** Keeps the kubelet's own Hostname addresses at the end, unless the cloud has some. */
function withHostname(wanted: readonly InstanceAddress[], node: Node): readonly InstanceAddress[] {
  if (wanted.some(({ type }) => type === "Hostname")) return wanted;
  const hostnames = (node.status?.addresses ?? [])
    .filter(({ type }) => type === "Hostname")
    .map(({ address }): InstanceAddress => ({ type: "Hostname", address }));
  return [...wanted, ...hostnames];
}
