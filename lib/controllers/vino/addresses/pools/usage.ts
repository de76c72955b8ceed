/**
 * How full IPPools are. Pure.
 * @module
 */
import type { PoolUsage } from "../../../../cloud/pools/usage.ts";
import { parseCidr } from "../../../../core/net/ip.ts";
import { toKey } from "../../../../kube/cache/store.ts";
import type { IpPool } from "../../resource/ip_pool.ts";
import { joinSpans, parseSubnet, toSpan } from "../subnets.ts";

/**
 * Counts, for each pool that can be read, in the order of their namespaces and names: the addresses that are given
 * out, and all that its ranges have. Addresses that the ranges do not have any more count as long as they have an
 * owner.
 */
export function listPoolUsage(pools: Iterable<IpPool>): PoolUsage[] {
  return [...pools]
    .toSorted((a, b) => (toKey(a) < toKey(b) ? -1 : 1))
    .flatMap(({ metadata, spec }) => {
      const subnet = parseSubnet(spec?.subnet ?? "");
      if (spec === undefined || subnet === undefined) return [];
      const { ranges = [], allocatedIPs = [] } = spec;
      const spans = joinSpans(ranges.flatMap((range) => toSpan(range) ?? []));
      const size = spans.reduce((sum, { first, last }) => sum + (last - first + 1n), 0n);
      const outside = allocatedIPs.filter(({ ip }) => {
        const at = parseCidr(ip)?.first;
        return at !== undefined && !spans.some(({ first, last }) => first <= at && at <= last);
      });
      const family = subnet.block.family === 4 ? "IPv4" : "IPv6";
      const total = Number(size) + outside.length;
      return [{ pool: toKey({ metadata }), family, used: allocatedIPs.length, total }];
    });
}
