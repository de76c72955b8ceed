/**
 * Decides which of a machine's IP addresses are internal, and which are external. Pure.
 * @module
 */
import { isGloballyRoutable, type IpAddress } from "../core/net/ip.ts";
import type { Instance, InstanceAddress } from "./instance.ts";

/** The addresses of a machine by type, each once. */
interface ChosenAddresses {
  /** At most one of each family. */
  readonly internal: readonly string[];
  /** Every external address, including one that is internal because its family has no other. */
  readonly external: readonly string[];
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
  return { internal, external: unique(outer) };
}

/**
 * Builds the addresses of an instance: internal ones first (IPv4, then IPv6), no address as both.
 *
 * With `--node-ip`, an address that is internal only because its family has no other stays ExternalIP ({@linkcode
 * Instance.addressesWithNodeIp}).
 */
export function toInstanceAddresses({
  internal,
  external,
}: ChosenAddresses): Pick<Instance, "addresses" | "addressesWithNodeIp"> {
  const shown = external.filter((text) => !internal.includes(text));
  return {
    addresses: listAddresses(internal, shown),
    ...(shown.length < external.length && {
      addressesWithNodeIp: { externalIps: external, repeatsNodeIps: false },
    }),
  };
}

/** Lists internal addresses, then external ones. */
export function listAddresses(
  internal: readonly string[],
  external: readonly string[],
): InstanceAddress[] {
  return [
    ...internal.map((address): InstanceAddress => ({ type: "InternalIP", address })),
    ...external.map((address): InstanceAddress => ({ type: "ExternalIP", address })),
  ];
}

/** Lists the texts of addresses, each once. */
export function unique(list: readonly IpAddress[]): string[] {
  return [...new Set(list.map(({ text }) => text))];
}
