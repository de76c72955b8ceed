/**
 * Calculates with lists of CIDR blocks of IPv4. Pure.
 *
 * A list is canonical. CloudStack's lists let everyone in when they are empty, see {@linkcode toBlocks}.
 * @module
 */
import { type Cidr, formatCidr, parseCidr } from "../../../../core/net/ip.ts";

/** The list for everyone. */
export const EVERYONE: readonly string[] = ["0.0.0.0/0"];

/** A list as CloudStack keeps it, with everyone in words. */
export function toBlocks(list: readonly string[]): readonly string[] {
  return list.length === 0 ? EVERYONE : list;
}

/** Blocks in canonical form, sorted, each once. Texts that are no block are left out. */
export function canonize(texts: readonly string[]): readonly string[] {
  return toTexts(texts.flatMap((text) => parseCidr(text) ?? []));
}

/** Only the blocks of IPv4. */
export function keepIpv4(list: readonly string[]): readonly string[] {
  return list.filter((text) => parseCidr(text)?.family === 4);
}

/** What is in both lists. Two blocks have nothing in common, or one is inside the other. */
export function intersect(a: readonly string[], b: readonly string[]): readonly string[] {
  const others = toCidrs(b);
  return toTexts(
    toCidrs(a).flatMap((one) =>
      others.flatMap((other) => {
        if (contains(one, other)) return [other];
        return contains(other, one) ? [one] : [];
      }),
    ),
  );
}

/** Whether each address in `inner` is in `outer`. */
export function covers(outer: readonly string[], inner: readonly string[]): boolean {
  const blocks = toCidrs(outer).toSorted((a, b) => (a.first < b.first ? -1 : 1));
  return toCidrs(inner).every(({ first, last }) => {
    // The first address that no block so far covers.
    let open = first;
    for (const block of blocks) {
      if (block.first <= open && open <= block.last) open = block.last + 1n;
    }
    return open > last;
  });
}

/**
 * Whether a block is in both lists, in the same words: then CloudStack takes two firewall rules for the same port as a
 * conflict.
 */
export function sharesBlock(a: readonly string[], b: readonly string[]): boolean {
  return a.some((text) => b.includes(text));
}

/** Whether two lists have the same blocks. */
export function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text) => b.includes(text));
}

function toCidrs(list: readonly string[]): Cidr[] {
  return list.flatMap((text) => {
    const cidr = parseCidr(text);
    return cidr?.family === 4 ? [cidr] : [];
  });
}

function toTexts(blocks: readonly Cidr[]): readonly string[] {
  return [...new Set(blocks.map(formatCidr))].toSorted();
}

function contains(outer: Cidr, inner: Cidr): boolean {
  return outer.first <= inner.first && inner.last <= outer.last;
}
