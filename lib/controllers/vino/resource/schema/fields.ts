/**
 * Parts of schemas that Vinos and IPPools share.
 * @module
 */
import {
  parseCidr,
  parseIp,
  type Cidr,
  formatCidr,
  isInCidr,
  overlaps,
  parseMaskedCidr,
} from "../../../../core/net/ip.ts";
import { form, type Rule, type Schema, text, withRules } from "../../../kinds/parts.ts";
import { BRIDGE_GATEWAY, type VinoNetwork, type VinoNode, type VinoSpec } from "../vino.ts";

import * as v from "valibot";

const EITHER_FAMILY = { anyOf: [{ format: "ipv4" }, { format: "ipv6" }] };
const ADDRESS_LENGTH_MAX = 45;

/** An IP address. */
export function ipAddress(): Schema<string> {
  return v.pipe(
    text(ADDRESS_LENGTH_MAX),
    v.metadata(EITHER_FAMILY),
    v.check((address) => parseIp(address) !== undefined, "must be an IP address"),
  );
}

/** What cannot be the address of a host; an API server refuses only the two that are written most often. */
const OF_HOST: Rule<string> = {
  cel: "!(self in ['0.0.0.0', '::'])",
  message: "must be the address of a host",
  holds: mayBeHost,
  explain: (address) => `no host has ${address}`,
};

/** The address of a host: of a gateway, or of a name server. @param schema Of an address */
export function ofHost(schema: Schema<string>): Schema<string> {
  return withRules(schema, [OF_HOST]);
}

/** A subnet in CIDR form. Bits of hosts may be set, as old manifests have them. */
export function subnet(): Schema<string> {
  return v.pipe(
    text(ADDRESS_LENGTH_MAX + "/128".length),
    v.metadata({ format: "cidr" }),
    v.check(
      (block) => block.includes("/") && parseCidr(block) !== undefined,
      "must be a subnet in CIDR form, such as 192.0.2.0/24",
    ),
  );
}

/** A MAC address that a machine can have. */
export function macAddress(): Schema<string> {
  return form(
    /^[0-9A-Fa-f][02468ACEace](:[0-9A-Fa-f]{2}){5}$/,
    17,
    "six pairs of hexadecimal digits with colons, the first pair even",
  );
}

/** A part of names of objects and machines. */
export function namePart(maxLength: number): Schema<string> {
  return form(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
    maxLength,
    'lower-case letters, digits and "-", with a letter or digit at both ends',
  );
}

/** ID or name of something in the cloud. */
export function idOrName(): Schema<string> {
  return form(/\S/, 256, "an ID or a name");
}

/** A size between two others. @param min As Kubernetes writes quantities */
export function size(min: string, max: string): Schema<string> {
  const [least = 0, most = 0] = [min, max].map(toBytes);
  return v.pipe(
    form(SIZE_FORM, 32, "a size, such as 8Gi"),
    v.check((one) => {
      // A text of another form has its own problem.
      if (!SIZE_FORM.test(one)) return true;
      const bytes = toBytes(one) ?? 0;
      return bytes >= least && bytes <= most;
    }, `must be a size from ${min} to ${max}`),
  );
}

/** Addresses that no host has: unspecified, multicast, and the broadcast address of every network. */
const OF_NO_HOST = toBlocks("0.0.0.0/8", "224.0.0.0/4", "255.255.255.255", "::", "ff00::/8");
/** Routers of IPv6 often have no other address than one of these. */
const LINK_LOCAL = toBlocks("169.254.0.0/16", "fe80::/10");
/** Smaller subnets have no broadcast address, and mostly a gateway outside. */
const SIZE_MIN = 4n;

/** Whether a host may have an address. A text that is none has its own problem. */
export function mayBeHost(address: string): boolean {
  return !OF_NO_HOST.some((block) => isInCidr(address, block));
}

/**
 * Lists gateways of a network that its machines cannot reach. A network whose machines get addresses from a DHCP server
 * may have any.
 */
export function listGatewayProblems({
  subnet = "",
  staticAllocationStart: start,
  routes = [],
}: VinoNetwork): string[] {
  const block = subnet.includes("/") ? parseCidr(subnet) : undefined;
  if (block === undefined || start === undefined) return [];
  return routes.flatMap(({ gateway }, at) => {
    const address = parseCidr(gateway);
    if (address === undefined || !mayBeHost(gateway) || address.family !== block.family) return [];
    const rule = findBrokenRule(address, block);
    return rule === undefined ? [] : [`routes[${at}].gateway must ${rule}, but is ${gateway}`];
  });
}

function findBrokenRule(address: Cidr, block: Cidr): string | undefined {
  const text = formatCidr(block);
  if (block.last - block.first + 1n < SIZE_MIN) return undefined;
  if (!overlaps(address, block)) {
    return LINK_LOCAL.some((one) => overlaps(one, address)) ? undefined : `be in ${text}`;
  }
  if (block.family === 6) return undefined;
  if (address.first === block.first) return `not be the address of the subnet ${text} itself`;
  if (address.first === block.last) return `not be the broadcast address of ${text}`;
  return undefined;
}

/** Lists roles whose machines would have several default routes of one family. */
export function listDoubleDefaults({ nodes = [], networks = [] }: VinoSpec): string[] {
  const byName = new Map(networks.map((network) => [network.name, network]));
  return nodes.flatMap((node) => {
    const all = listDefaults(node, byName);
    return ([4, 6] as const).flatMap((family) => {
      const found = all.filter((one) => one.family === family);
      if (found.length < 2) return [];
      const which = found.map(({ gateway, network }) => `${gateway} of network ${network}`);
      return [`role ${node.name} has ${which.join(" and ")} for IPv${family}`];
    });
  });
}

interface DefaultRoute {
  readonly family: 4 | 6;
  readonly gateway: string;
  readonly network: string;
}

function listDefaults(
  { networkInterfaces = [] }: VinoNode,
  networks: ReadonlyMap<string, VinoNetwork>,
): DefaultRoute[] {
  // Several interfaces on one network all have its one gateway.
  const names = new Set(networkInterfaces.map(({ network }) => network));
  return [...names].flatMap((network) => {
    const { routes = [] } = networks.get(network) ?? {};
    return routes.flatMap((route): DefaultRoute[] => {
      const { gateway } = route;
      const block = parseMaskedCidr(route.network, route.netmask);
      const isLeftOut = gateway === BRIDGE_GATEWAY || parseIp(gateway) === undefined;
      if (block === undefined || isLeftOut || !isAll(block)) return [];
      return [{ family: block.family, gateway, network }];
    });
  });
}

function isAll(block: Cidr): boolean {
  return formatCidr(block).endsWith("/0");
}

function toBlocks(...texts: readonly string[]): Cidr[] {
  return texts.flatMap((text) => parseCidr(text) ?? []);
}

/** What {@linkcode toBytes} reads. */
const SIZE_FORM: RegExp = /^(\d{1,15})(?:\.(\d{1,9}))?([KMGTP]i|[kMGTP])?$/;

const UNITS: Readonly<Record<string, bigint>> = {
  k: 1000n,
  M: 1000n ** 2n,
  G: 1000n ** 3n,
  T: 1000n ** 4n,
  P: 1000n ** 5n,
  Ki: 1024n,
  Mi: 1024n ** 2n,
  Gi: 1024n ** 3n,
  Ti: 1024n ** 4n,
  Pi: 1024n ** 5n,
};

/**
 * Reads a size.
 *
 * @returns Bytes, rounded up as Kubernetes does; `undefined` if the text is no size, or the number is not exact
 */
export function toBytes(size: string): number | undefined {
  const [, whole, fraction = "", unit = ""] = SIZE_FORM.exec(size) ?? [];
  if (whole === undefined) return undefined;
  const scale = 10n ** BigInt(fraction.length);
  const scaled = BigInt(whole + fraction) * (UNITS[unit] ?? 1n);
  const bytes = Number((scaled + scale - 1n) / scale);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
