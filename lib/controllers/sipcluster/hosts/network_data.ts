/**
 * Reads the static addresses in the network data of a host, in the form of OpenStack. Pure.
 * @module
 */
import { formatIp, isHostAddress, parseCidr, parseIp } from "../../../core/net/ip.ts";
import { quote } from "../../../core/text/printable.ts";
import { isFields } from "../../../core/text/values.ts";

/** What is known of the networks of a host. */
export interface NetworkData {
  /** Static addresses in canonical form, without prefix length, by the ID of the network. */
  readonly addresses: ReadonlyMap<string, string>;
  /** Why other networks have none, in words that come before `on network "…"`. */
  readonly problems: ReadonlyMap<string, string>;
}

/** Why the networks of a host are not known, without any part of the text: it may have passwords. */
export interface NetworkDataProblem {
  readonly problem: string;
  /** What the API server said, if it does not show the Secret. */
  readonly cause?: string;
}

/** Addresses that a service needs, or why a host does not have them, in words that are the same for all such hosts. */
export type AddressResult =
  | { readonly kind: "addresses"; readonly addresses: ReadonlyMap<string, string> }
  | { readonly kind: "trouble"; readonly trouble: string; readonly cause?: string };

/** Longest text, in characters. Real ones have some thousand; the parser blocks the process. */
export const TEXT_LENGTH_MAX = 262_144;

/** More than a host has. */
const NETWORKS_MAX = 1_000;

const UNREADABLE = Symbol("neither JSON nor YAML");
const ALIASED = Symbol("YAML with aliases");
const ANCHOR = /(?:^|[\s,[{:])&\S/;
const ALIAS = /[\s,[{:]\*\S/;

/** Reads a text in JSON or YAML. Networks without an ID are left out. */
export function parseNetworkData(text: string): NetworkData | NetworkDataProblem {
  if (text.length > TEXT_LENGTH_MAX) return { problem: "network data is too long" };
  const raw = parseText(text);
  if (raw === ALIASED) return { problem: "network data has aliases of YAML (*name)" };
  if (raw === UNREADABLE) return { problem: "network data is neither JSON nor YAML" };
  const networks = isFields(raw) ? (raw["networks"] ?? []) : undefined;
  if (!Array.isArray(networks)) return { problem: "network data has no list of networks" };
  if (networks.length > NETWORKS_MAX)
    return { problem: `network data has more than ${NETWORKS_MAX} networks` };
  const addresses = new Map<string, string>();
  const problems = new Map<string, string>();
  for (const network of networks) {
    const id = isFields(network) ? toId(network["id"]) : undefined;
    if (id === undefined) continue;
    const { address, problem } = readAddress(network);
    // An ID may stand for several addresses. The first static one counts.
    if (address !== undefined && !addresses.has(id)) addresses.set(id, address);
    if (problem !== undefined && !problems.has(id)) problems.set(id, problem);
  }
  for (const id of addresses.keys()) problems.delete(id);
  return { addresses, problems };
}

/**
 * Finds the addresses on all of some networks.
 *
 * @param networks IDs, each of which must have a static address
 */
export function toAddresses(
  data: NetworkData | NetworkDataProblem,
  networks: Iterable<string>,
): AddressResult {
  const addresses = new Map<string, string>();
  for (const id of new Set(networks)) {
    if ("problem" in data) {
      const { problem: trouble, cause } = data;
      return { kind: "trouble", trouble, ...(cause !== undefined && { cause }) };
    }
    const address = data.addresses.get(id);
    if (address === undefined) {
      const problem = data.problems.get(id);
      const trouble = problem ? `${problem} on network ${quote(id)}` : `no network ${quote(id)}`;
      return { kind: "trouble", trouble };
    }
    addresses.set(id, address);
  }
  return { kind: "addresses", addresses };
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Each is a copy: 256 KiB with aliases of a long text take 1.5 GB.
    if (ANCHOR.test(text) && ALIAS.test(text)) return ALIASED;
    try {
      return Bun.YAML.parse(text);
    } catch {
      return UNREADABLE;
    }
  }
}

/** YAML reads an ID such as `0` as a number. */
function toId(value: unknown): string | undefined {
  const isId = (typeof value === "string" && value !== "") || typeof value === "number";
  return isId ? String(value) : undefined;
}

const UNUSABLE = "no usable address";

function readAddress({ type, ip_address: given }: Readonly<Record<string, unknown>>): {
  readonly address?: string;
  readonly problem?: string;
} {
  if (typeof type === "string" && /dhcp|slaac/i.test(type)) return { problem: "DHCP" };
  if (given === undefined || given === null || given === "") return { problem: "no address" };
  const network = typeof given === "string" ? parseCidr(given) : undefined;
  if (typeof given !== "string" || network === undefined) return { problem: UNUSABLE };
  const address = parseIp(given.split("/")[0] ?? "");
  if (address === undefined || !isHostAddress(address.text)) return { problem: UNUSABLE };
  // Written by mistake where the address of the host belongs. Two addresses are both for hosts (RFC 3021).
  const isOfNetwork = address.family === 4 && network.last - network.first > 1n;
  if (isOfNetwork && address.text === formatIp(4, network.first)) {
    return { problem: "the address of the network itself" };
  }
  return { address: address.text };
}
