/**
 * Reads which clients may use a Service. Pure.
 * @module
 */
import { type Cidr, CIDRS_MAX, formatCidr, parseCidr } from "../../../core/net/ip.ts";
import { quote } from "../../../core/text/printable.ts";
import type { Service } from "../../../kube/kinds/service.ts";
import { SOURCE_RANGES } from "../words.ts";

/** CIDRs in canonical form, sorted, each once; absent without a restriction. Or what is wrong. */
type SourceRanges = { readonly ranges?: readonly string[] } | { readonly problem: string };

const EVERYWHERE = { IPv4: "0.0.0.0/0", IPv6: "::/0" } as const;

/**
 * Reads `spec.loadBalancerSourceRanges`, or without entries there, the annotation.
 *
 * A Service is unrestricted only if its ranges have all addresses of each of its families: `0.0.0.0/0` alone does not
 * open a Service for IPv6.
 */
export function readSourceRanges(
  { metadata, spec }: Service,
  families: readonly (keyof typeof EVERYWHERE)[],
): SourceRanges {
  const written = spec?.loadBalancerSourceRanges ?? [];
  const annotation = metadata.annotations?.[SOURCE_RANGES]?.trim() ?? "";
  const isInSpec = written.length > 0;
  if (!isInSpec && annotation === "") return {};
  const field = isInSpec ? "spec.loadBalancerSourceRanges" : `annotation ${SOURCE_RANGES}`;
  const texts = isInSpec ? written : annotation.split(",", CIDRS_MAX + 1);
  if (texts.length > CIDRS_MAX) {
    return { problem: `${field}: has more than ${CIDRS_MAX} CIDRs; use fewer, larger ones` };
  }
  const ranges = new Map<string, Cidr>();
  for (const text of texts) {
    const cidr = text.includes("/") ? parseCidr(text) : undefined;
    if (cidr === undefined) {
      const problem = `${field}: ${quote(text.trim())} is not a CIDR, for example 10.0.0.0/24`;
      return { problem };
    }
    ranges.set(formatCidr(cidr), cidr);
  }
  if (families.every((family) => ranges.has(EVERYWHERE[family]))) return {};
  return {
    ranges: [...ranges.entries()].sort(([, a], [, b]) => compare(a, b)).map(([text]) => text),
  };
}

/** IPv4 first, then by the first address, then the larger block. */
function compare(a: Cidr, b: Cidr): number {
  if (a.family !== b.family) return a.family - b.family;
  if (a.first !== b.first) return a.first < b.first ? -1 : 1;
  return a.last === b.last ? 0 : a.last > b.last ? -1 : 1;
}
