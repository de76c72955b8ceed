/**
 * Ranges of addresses within a subnet.
 * @module
 */
import { type Cidr, formatCidr, parseCidr } from "../../../core/net/ip.ts";
import type { AddressRange } from "./ip_pool.ts";

/** What the ends of a range are called. */
interface RangeNames {
  readonly start: string;
  readonly stop: string;
}

/**
 * Lists what is wrong with a range. Texts that are no addresses, or no subnet, are another problem.
 *
 * @param subnet In CIDR form; bits of hosts may be set
 */
export function listRangeProblems(
  subnet: string,
  range: AddressRange,
  names: RangeNames = { start: "start", stop: "stop" },
): string[] {
  const [block, first, last] = [subnet, range.start, range.stop].map(parseCidr);
  if (!subnet.includes("/") || block === undefined || first === undefined || last === undefined)
    return [];
  const outside = [
    { name: names.start, end: first },
    { name: names.stop, end: last },
  ].filter(({ end }) => !isWithin(end, block));
  if (outside.length > 0) {
    return outside.map(({ name }) => `${name} must be in ${formatCidr(block)}`);
  }
  return first.first > last.first ? [`${names.start} must not be greater than ${names.stop}`] : [];
}

function isWithin({ family, first }: Cidr, block: Cidr): boolean {
  return family === block.family && block.first <= first && first <= block.last;
}
