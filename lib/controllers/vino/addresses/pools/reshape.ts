/**
 * Changes the ranges of an IPPool to those of the networks, but never to less than what is in use. Pure.
 * @module
 */
import { type AddressRange, RANGES_MAX } from "../../resource/ip_pool.ts";
import type { PoolIndex } from "./pool_index.ts";
import { joinSpans, type Span, toRange, toSpan } from "../subnets.ts";

/**
 * The ranges of a pool as the networks of all Vinos want them, and the old ones that have addresses in use.
 *
 * @param wanted Joined
 * @returns The same array if nothing changes
 */
export function reshape(
  { spec: { ranges = [] }, subnet, taken }: PoolIndex,
  wanted: readonly Span[],
): readonly AddressRange[] {
  const strays = [...taken].filter((address) => !isIn(address, wanted));
  const inUse = ranges.flatMap((range) => {
    const span = toSpan(range);
    return span && strays.some((address) => isIn(address, [span])) ? [span] : [];
  });
  const next = joinSpans([...wanted, ...inUse])
    .slice(0, RANGES_MAX)
    .map((span) => toRange(subnet?.block.family ?? 4, span));
  return JSON.stringify(next) === JSON.stringify(ranges) ? ranges : next;
}

/** Whether an address is in one of the spans. */
export function isIn(address: bigint, spans: readonly Span[]): boolean {
  return spans.some(({ first, last }) => first <= address && address <= last);
}
