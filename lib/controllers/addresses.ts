/**
 * Plans the addresses of a Node: those of its instance, in the order that the kubelet's `--node-ip` asks for.
 *
 * Follows the rules of `k8s.io/cloud-provider` for the annotation `alpha.kubernetes.io/provided-node-ip`.
 * @module
 */
import type { Instance, InstanceAddress } from "../cloud/instance.ts";
import type { Provider } from "../cloud/provider.ts";
import { type IpAddress, isHostAddress, parseIp } from "../core/net/ip.ts";
import { quote } from "../core/text/printable.ts";
import type { Node } from "../kube/kinds/node.ts";
import { PROVIDED_NODE_IP } from "./words.ts";

/** Address types that no kubelet writes. */
const CLOUD_TYPES = ["ExternalIP", "InternalDNS", "ExternalDNS"] as const;
const UNSPECIFIED: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** The list that a Node should have, or the reason why there is none. */
type AddressPlan =
  | { readonly kind: "wanted"; readonly addresses: readonly InstanceAddress[] }
  /** The Node keeps its addresses: the cloud reports none now, or its settings leave addresses alone. */
  | { readonly kind: "keep" }
  /** The annotation cannot be used; the message names it. */
  | { readonly kind: "invalid"; readonly message: string };

/** `Provider.providedNodeIps`, or `leave` if Landfall must not write addresses. */
export type AddressPolicy = Provider["providedNodeIps"] | "leave";

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
 * @param node The Node, for its annotation and its kubelet's `Hostname` addresses
 * @param instance Its instance
 * @param policy Whether annotated IPs count by themselves, or must be among the instance's
 */
export function planAddresses(node: Node, instance: Instance, policy: AddressPolicy): AddressPlan {
  if (policy === "leave") return { kind: "keep" };
  const annotation = node.metadata.annotations?.[PROVIDED_NODE_IP];
  const nodeIps = annotation === undefined ? [] : parseNodeIps(annotation);
  if (typeof nodeIps === "string") {
    return {
      kind: "invalid",
      message: `Cannot use annotation ${PROVIDED_NODE_IP} ${quote(annotation ?? "")}: ${nodeIps}`,
    };
  }
  const cloud = policy === "trusted" ? addTrusted(node, instance, nodeIps) : instance.addresses;
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
  const rest = cloud.filter(({ type }) => !taken.has(type));
  return { kind: "wanted", addresses: withHostname([...preferred, ...rest], node) };
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
 * Parses the annotation.
 *
 * @returns One or two canonical IPs, or what is wrong with it
 */
function parseNodeIps(annotation: string): string[] | string {
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
function addTrusted(
  node: Node,
  { addresses, addressesWithNodeIp }: Instance,
  nodeIps: readonly string[],
): readonly InstanceAddress[] {
  if (nodeIps.length === 0) return addresses;
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
    ...externalIps.map((address): InstanceAddress => ({ type: "ExternalIP", address })),
    ...addresses.filter(({ type }) => type !== "ExternalIP"),
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
