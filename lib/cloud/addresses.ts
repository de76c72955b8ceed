/**
 * Decides which of a machine's IP addresses are internal, and which are external. Pure.
 * @module
 */
import { isGloballyRoutable, type IpAddress } from "../core/net/ip.ts";
import type { InstanceAddresses } from "./instance.ts";

/** Of a machine that reports none, or whose addresses others set. */
export const NO_ADDRESSES: InstanceAddresses = Object.freeze({ addresses: Object.freeze([]) });

/** A Node that announces addresses of a thousand Services reports its own among them. No machine reports more. */
const ALTERNATIVES_MAX = 1_024;

/** The addresses of a machine by type, each once. */
interface ChosenAddresses {
  /** At most one of each family. */
  readonly internal: readonly string[];
  /** Every external address, including one that is internal because its family has no other. */
  readonly external: readonly string[];
  /** All others that may be internal, the preferred one first. */
  readonly alternatives: readonly string[];
}

/**
 * Chooses the types of addresses.
 *
 * ExternalIP: addresses that are routable on the Internet, or declared external. InternalIP: the first address of each
 * family that is not external. If a family has none, its first routable address is InternalIP, too.
 *
 * @param found Usable addresses, the preferred one first
 * @param isDeclared Whether an address is external although it is not routable on the Internet; it is never internal
 */
export function chooseAddresses(
  found: readonly IpAddress[],
  isDeclared: (ip: IpAddress) => boolean,
): ChosenAddresses {
  const outer = found.filter((ip) => isDeclared(ip) || isGloballyRoutable(ip.text));
  const inner = found.filter((ip) => !outer.includes(ip));
  const candidates = [...inner, ...outer.filter((ip) => !isDeclared(ip))];
  const internal = [4, 6].flatMap(
    (family) => candidates.find((ip) => ip.family === family)?.text ?? [],
  );
  const others = unique(candidates).filter((text) => !internal.includes(text));
  return { internal, external: unique(outer), alternatives: others.slice(0, ALTERNATIVES_MAX) };
}

/**
 * Builds the addresses of an instance, frozen: internal ones first (IPv4, then IPv6), no address as both.
 *
 * With `--node-ip`, an address that is internal only because its family has no other stays ExternalIP ({@linkcode
 * Instance.addressesWithNodeIp}).
 *
 * @param main The only external addresses, also if they are internal. @default {those that were chosen}
 */
export function toInstanceAddresses(
  { internal, external, alternatives }: ChosenAddresses,
  main?: readonly string[],
): InstanceAddresses {
  const shown = main ?? external.filter((text) => !internal.includes(text));
  const externalIps = Object.freeze(main ?? external);
  return {
    addresses: Object.freeze([
      ...internal.map((address) => Object.freeze({ type: "InternalIP", address } as const)),
      ...shown.map((address) => Object.freeze({ type: "ExternalIP", address } as const)),
    ]),
    ...((main !== undefined || shown.length < external.length) && {
      addressesWithNodeIp: Object.freeze({ externalIps, repeatsNodeIps: main !== undefined }),
    }),
    ...(alternatives.length > 0 && { alternatives: Object.freeze(alternatives) }),
  };
}

/** Lists the texts of addresses, each once. */
export function unique(list: readonly IpAddress[]): string[] {
  return [...new Set(list.map(({ text }) => text))];
}
