/**
 * Calculates with lists of CIDR blocks of IPv4. Pure.
 *
 * A list is canonical. CloudStack's lists let everyone in when they are empty, see {@linkcode toBlocks}.
 * @module
 */
import { type Cidr, formatCidrs, parseCidr } from "../../../core/net/ip.ts";

/** The list for everyone. */
export const EVERYONE: readonly string[] = ["0.0.0.0/0"];

/** A list as CloudStack keeps it, with everyone in words. */
export function toBlocks(list: readonly string[]): readonly string[] {
  return list.length === 0 ? EVERYONE : list;
}

/** Only the blocks of IPv4. */
export function keepIpv4(list: readonly string[]): readonly string[] {
  return list.filter((text) => parseCidr(text)?.family === 4);
}

/** What is in both lists. Two blocks have nothing in common, or one is inside the other. */
export function intersect(a: readonly string[], b: readonly string[]): readonly string[] {
  const [one, other] = [toCidrs(a), toCidrs(b)];
  const [ofOne, ofOther] = [merge(one, 0n), merge(other, 0n)];
  return formatCidrs([
    ...one.filter((block) => isInside(block, ofOther)),
    ...other.filter((block) => isInside(block, ofOne)),
  ]);
}

/** Whether each address in `inner` is in `outer`. */
export function covers(outer: readonly string[], inner: readonly string[]): boolean {
  const ranges = merge(toCidrs(outer), 1n);
  return toCidrs(inner).every((block) => isInside(block, ranges));
}

/**
 * Whether a block is in both lists, in the same words: then CloudStack takes two firewall rules for the same port as a
 * conflict.
 */
export function sharesBlock(a: readonly string[], b: readonly string[]): boolean {
  const texts = new Set(b);
  return a.some((text) => texts.has(text));
}

/** Whether two lists have the same blocks. */
export function isSame(a: readonly string[], b: readonly string[]): boolean {
  const texts = new Set(b);
  return a.length === b.length && a.every((text) => texts.has(text));
}

function toCidrs(list: readonly string[]): Cidr[] {
  return list.flatMap((text) => {
    const cidr = parseCidr(text);
    return cidr?.family === 4 ? [cidr] : [];
  });
}

type Range = Pick<Cidr, "first" | "last">;

/**
 * The same addresses as ranges in order: a Service may list thousands of blocks.
 *
 * @param reach `1n`: blocks that touch become one range, too. `0n`: each range is a block
 */
function merge(blocks: readonly Cidr[], reach: bigint): readonly Range[] {
  const ranges: Range[] = [];
  for (const block of blocks.toSorted((a, b) => (a.first < b.first ? -1 : 1))) {
    const last = ranges.at(-1);
    if (last === undefined || block.first > last.last + reach) ranges.push(block);
    else if (block.last > last.last) ranges[ranges.length - 1] = { ...last, last: block.last };
  }
  return ranges;
}

/** Whether a block is in one of the merged ranges. */
function isInside({ first, last }: Range, ranges: readonly Range[]): boolean {
  let [low, high] = [0, ranges.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const range = ranges[middle];
    if (range === undefined || (range.first <= first && last <= range.last))
      return range !== undefined;
    if (first < range.first) high = middle - 1;
    else low = middle + 1;
  }
  return false;
}
