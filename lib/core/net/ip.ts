/**
 * IP addresses and CIDR blocks: reading, canonical form, membership, and what is routable on the Internet.
 * @module
 */

/** An address or the start of a block, as bits. */
interface IpValue {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

/**
 * Most CIDRs of one list that a user of the cluster writes. Such lists are read again whenever anything changes:
 * without a limit, the objects of one user could keep the process busy for minutes.
 */
export const CIDRS_MAX = 1_000;

/** A block of addresses, read once by {@linkcode parseCidr}. */
export interface Cidr {
  readonly family: 4 | 6;
  /** The first and last address, as bits: comparing is faster than shifting. */
  readonly first: bigint;
  readonly last: bigint;
}

/** An IP address in canonical text (RFC 5952 for IPv6), with its family. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly text: string;
}

/** Without leading zeros: octal to some readers, decimal to others. Each refresh reads thousands of addresses. */
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const WIDTH = { 4: 32, 6: 128 } as const;

/**
 * Blocks that no packet on the Internet may come from or go to: the IANA special-purpose registries (RFC 6890 and
 * updates) and multicast. IPv6 is routable within 2000::/3 only, less what is listed here.
 */
const NOT_GLOBAL: readonly Cidr[] = toCidrs(
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 " +
    "192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 " +
    "2001::/23 2001:db8::/32 2002::/16 3fff::/20",
);
const GLOBAL_IPV6: readonly Cidr[] = toCidrs("2000::/3");

/** Link-local, loopback, multicast, unspecified and broadcast: no other machine can use these to reach one. */
const NEVER_A_HOST: readonly Cidr[] = toCidrs(
  "0.0.0.0/8 127.0.0.0/8 169.254.0.0/16 224.0.0.0/4 255.255.255.255/32 ::/128 ::1/128 fe80::/10 ff00::/8",
);

const LOOPBACK: readonly Cidr[] = toCidrs("127.0.0.0/8 ::1/128");

/**
 * Reads an IP address. Surrounding blanks are allowed; zones (`fe80::1%eth0`), ports, leading zeros in IPv4 and CIDR
 * suffixes are not. An IPv4-mapped IPv6 address is the IPv4 address.
 *
 * @returns The canonical form, or `undefined` if the text is not an address
 */
export function parseIp(text: string): IpAddress | undefined {
  const trimmed = text.trim();
  if (IPV4.test(trimmed)) return { family: 4, text: trimmed };
  const value = toValue(trimmed);
  return value && { family: value.family, text: formatValue(value) };
}

/**
 * Reads a block such as `10.0.0.0/8` or `2001:db8::/32`; a bare address is a block of one. Host bits may be set.
 *
 * @returns The block, or `undefined` when the text is none
 */
export function parseCidr(text: string): Cidr | undefined {
  const [address = "", prefixText, ...more] = text.trim().split("/");
  const value = toValue(address);
  if (value === undefined || more.length > 0) return undefined;
  const width = WIDTH[value.family];
  if (prefixText !== undefined && !/^\d{1,3}$/.test(prefixText)) return undefined;
  const prefix = prefixText === undefined ? width : Number(prefixText);
  if (prefix > width) return undefined;
  const rest = BigInt(width - prefix);
  const first = (value.bits >> rest) << rest;
  return { family: value.family, first, last: first + (1n << rest) - 1n };
}

/** Writes a block so that equal blocks have equal texts: `10.0.0.0/8`, `2001:db8::/32`. */
export function formatCidr({ family, first, last }: Cidr): string {
  const rest = (last - first).toString(2).replace(/^0$/, "").length;
  return `${formatValue({ family, bits: first })}/${WIDTH[family] - rest}`;
}

/** Reads CIDRs as users write them. A bare address is none. @returns The first text that is none, if there is one */
export function parseCidrs(texts: readonly string[]): {
  readonly cidrs: readonly Cidr[];
  readonly bad?: string;
} {
  const bad = texts.find((text) => !text.includes("/") || parseCidr(text) === undefined);
  return bad === undefined
    ? { cidrs: texts.flatMap((text) => parseCidr(text) ?? []) }
    : { cidrs: [], bad };
}

/** CIDRs in canonical form, sorted as texts, each once. */
export function formatCidrs(cidrs: readonly Cidr[]): readonly string[] {
  return [...new Set(cidrs.map(formatCidr))].toSorted();
}

/** The netmask of a block in the form of an address: `255.255.255.0` of a block of 256 IPv4 addresses. */
export function formatNetmask({ family, first, last }: Cidr): string {
  const all = (1n << BigInt(WIDTH[family])) - 1n;
  return formatValue({ family, bits: all - (last - first) });
}

/**
 * Reads a block that is written as an address and a netmask: `192.0.2.0` and `255.255.255.0`. Host bits may be set.
 *
 * @returns The block, or `undefined` when a text is no address, the families differ, or the mask has a one after a zero
 */
export function parseMaskedCidr(address: string, netmask: string): Cidr | undefined {
  const [value, mask] = [toValue(address.trim()), toValue(netmask.trim())];
  if (value === undefined || mask === undefined || value.family !== mask.family) return undefined;
  const size = (1n << BigInt(WIDTH[mask.family])) - mask.bits;
  if ((size & (size - 1n)) !== 0n) return undefined;
  const first = value.bits & mask.bits;
  return { family: value.family, first, last: first + size - 1n };
}

/** The canonical text of an address, as {@linkcode parseIp} gives it. @param bits Within the range of its family */
export function formatIp(family: 4 | 6, bits: bigint): string {
  return formatValue({ family, bits });
}

/** Whether an address is in a block. A text that is not an address is in none. */
export function isInCidr(address: string, cidr: Cidr): boolean {
  const value = toValue(address.trim());
  return value !== undefined && contains(cidr, value);
}

/** Whether an address is routable on the Internet: not private, shared, link-local, documentation, multicast … */
export function isGloballyRoutable(address: string): boolean {
  const value = toValue(address.trim());
  if (value === undefined || NOT_GLOBAL.some((cidr) => contains(cidr, value))) return false;
  return value.family === 4 || GLOBAL_IPV6.some((cidr) => contains(cidr, value));
}

/** Whether other machines can reach a host by this address: not link-local, loopback, multicast … */
export function isHostAddress(address: string): boolean {
  const value = toValue(address.trim());
  return value !== undefined && !NEVER_A_HOST.some((cidr) => contains(cidr, value));
}

/** Whether {@linkcode isHostAddress} holds for every address of a block. */
export function hasOnlyHosts(cidr: Cidr): boolean {
  return !NEVER_A_HOST.some((one) => overlaps(one, cidr));
}

/** Whether two blocks have an address in common. */
export function overlaps(one: Cidr, other: Cidr): boolean {
  return one.family === other.family && one.first <= other.last && other.first <= one.last;
}

/** What is left of blocks without others, in their order. */
export function subtract<T extends Cidr>(blocks: readonly T[], others: readonly Cidr[]): T[] {
  let left = [...blocks];
  for (const other of others) {
    left = left.flatMap((one) => {
      if (!overlaps(one, other)) return [one];
      const before = { ...one, last: other.first - 1n };
      const after = { ...one, first: other.last + 1n };
      return [before, after].filter(({ first, last }) => first <= last);
    });
  }
  return left;
}

/**
 * Whether a host name or address reaches only this machine: `localhost`, or a loopback address, with or without
 * brackets. Other names do not count.
 */
export function isLoopbackHost(host: string): boolean {
  if (host.toLowerCase() === "localhost") return true;
  const value = toValue(host.replace(/^\[(.*)\]$/, "$1"));
  return value !== undefined && LOOPBACK.some((cidr) => contains(cidr, value));
}

function contains(cidr: Cidr, value: IpValue): boolean {
  return cidr.family === value.family && cidr.first <= value.bits && value.bits <= cidr.last;
}

function toValue(text: string): IpValue | undefined {
  const value = text.includes(":") ? toIpv6(text) : toIpv4(text);
  // ::ffff:a.b.c.d is an IPv4 address on a socket for both families.
  if (value?.family === 6 && value.bits >> 32n === 0xffffn) {
    return { family: 4, bits: value.bits & 0xffff_ffffn };
  }
  return value;
}

function toIpv4(text: string): IpValue | undefined {
  if (!IPV4.test(text)) return undefined;
  const bits = text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  return { family: 4, bits: BigInt(bits) };
}

function toIpv6(text: string): IpValue | undefined {
  const sides = text.split("::");
  if (sides.length > 2) return undefined;
  const [head, tail] = sides.map((side, at) => toGroups(side, at === sides.length - 1));
  if (head === undefined || (sides.length === 2 && tail === undefined)) return undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (sides.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array<number>(missing).fill(0), ...(tail ?? [])];
  return { family: 6, bits: groups.reduce((bits, group) => (bits << 16n) | BigInt(group), 0n) };
}

/** Groups of one side of an IPv6 address; an IPv4 address at the end of the last side gives two. */
function toGroups(side: string, last: boolean): number[] | undefined {
  if (side === "") return [];
  const groups: number[] = [];
  const parts = side.split(":");
  for (const [at, part] of parts.entries()) {
    if (part.includes(".") && last && at === parts.length - 1) {
      const embedded = toIpv4(part);
      if (embedded === undefined) return undefined;
      groups.push(Number(embedded.bits >> 16n), Number(embedded.bits & 0xffffn));
    } else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

function formatValue({ family, bits }: IpValue): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((by) => (bits >> by) & 0xffn).join(".");
  const groups = Array.from({ length: 8 }, (_, at) =>
    ((bits >> BigInt(112 - 16 * at)) & 0xffffn).toString(16),
  );
  const { start, length } = findZeroRun(groups);
  if (length < 2) return groups.join(":");
  return `${groups.slice(0, start).join(":")}::${groups.slice(start + length).join(":")}`;
}

/** The longest run of zero groups, the first of equals. */
function findZeroRun(groups: readonly string[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [at, group] of groups.entries()) {
    if (group !== "0") start = at + 1;
    else if (at + 1 - start > best.length) best = { start, length: at + 1 - start };
  }
  return best;
}

function toCidrs(text: string): Cidr[] {
  return text.split(" ").flatMap((block) => parseCidr(block) ?? []);
}
