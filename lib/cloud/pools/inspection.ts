/**
 * What an operator should know about the address pools: how full they are, and which addresses are in conflict or
 * outside.
 * @module
 */
import type { LoadBalancerClaim } from "../capabilities/load_balancers.ts";
import type { Finding } from "../inspection.ts";
import { joinFew } from "../../core/text/printable.ts";
import { Allocations, listShown, type Occupied } from "./allocations.ts";
import type { PoolMap } from "./pool.ts";
import { describeUnknownPool, nameRivals, nameService } from "./problems.ts";
import { isShown, listRivals } from "./sharing.ts";
import { listUsage, type PoolUsage } from "./usage.ts";
import { parseRequest } from "./request.ts";

/** More conflicts than these are counted, and not named. */
const NAMED_MAX = 10;
/** Of more Services than these, only the first ones are named. */
const SERVICES_MAX = 5;
/** A larger number is not written out. */
const COUNTED_MAX = 1_000_000;

/** Looks at the pools, at the Services that have addresses, and at what else uses addresses. Pure. */
export function inspectPools(
  pools: PoolMap,
  claims: Iterable<LoadBalancerClaim>,
  occupied: Occupied,
): Finding[] {
  const all = [...claims];
  const allocations = new Allocations(pools);
  allocations.sync(all);
  allocations.setOccupied(occupied);
  return [
    ...listUsage(allocations).map(toSizeFinding),
    ...listOccupied(allocations, occupied),
    ...listConflicts(allocations, all),
    ...listOutside(allocations, all),
    ...listUnknownPools(pools, all),
  ];
}

/** Says which Services name a pool that there is not, once for each such name. */
function listUnknownPools(
  { pools }: PoolMap,
  claims: readonly LoadBalancerClaim[],
): readonly Finding[] {
  const known = new Set(pools.map(({ name }) => name));
  const groups = Map.groupBy(claims, (claim) => {
    const { pool, poolSource } = parseRequest(claim, false);
    if (pool === undefined || known.has(pool)) return undefined;
    return `${poolSource} names ${describeUnknownPool(pool, pools)}`;
  });
  groups.delete(undefined);
  return [...groups].map(([what, some]): Finding => {
    const who = some.length === 1 ? "Service" : `${some.length} Services`;
    const message = `${who} ${nameFirst(some)}: ${what}`;
    const advice = "correct the annotation, or add the pool to loadBalancers.pools";
    return { level: "warning", code: "addressPoolUnknown", message, advice };
  });
}

/** Says for each pool which of its addresses something else uses. */
function listOccupied(allocations: Allocations, occupied: Occupied): Finding[] {
  const byPool = new Map<string, string[]>();
  const given: string[] = [];
  for (const address of occupied.keys()) {
    const pool = allocations.pools.find(address);
    const [holder] = allocations.listHolders(address);
    const [occupant] = allocations.listOccupants(address, holder?.claim.owner.uid ?? "");
    if (pool === undefined || occupant === undefined) continue;
    if (holder !== undefined && occupant.mayAnnounce) continue;
    if (holder === undefined && occupant.isGiven === true && occupant.owner !== undefined) {
      given.push(`${nameService({ owner: occupant.owner })} (${address})`);
      continue;
    }
    const whose = holder ? `the address of the Service ${nameService(holder.claim)} and ` : "";
    const uses = byPool.get(pool.name) ?? [];
    byPool.set(pool.name, [...uses, `${address} is ${whose}${occupant.what}`]);
  }
  const unserved = given.length === 0 ? [] : [toUnserved(given)];
  const used = [...byPool].map(([pool, uses]): Finding => {
    const message = `address pool ${pool} holds addresses that something else uses: ${joinFew(uses, NAMED_MAX)}`;
    const advice = "Landfall gives them to no other Service; take them out of the pool";
    return { level: "warning", code: "addressPoolInUse", message, advice };
  });
  return [...unserved, ...used];
}

/** Says which Services have addresses of Landfall that it does not serve: most often, its flags for classes changed. */
function toUnserved(given: readonly string[]): Finding {
  const [services, addresses, them] =
    given.length === 1
      ? ["1 Service", "an address", "it"]
      : [`${given.length} Services`, "addresses", "them"];
  const what = `Landfall gave ${services} ${addresses} of a pool and does not serve ${them} now`;
  const message = `${what}: ${joinFew(given, NAMED_MAX)}`;
  const advice = "set --load-balancer-class or --serve-services-without-class so that it does";
  return { level: "warning", code: "addressPoolUnserved", message, advice };
}

function toSizeFinding({ pool, family, used, total }: PoolUsage): Finding {
  const all = total > COUNTED_MAX ? "more than a million" : total;
  const message = `address pool ${pool}: ${used} of ${all} ${family} addresses are in use`;
  if (used < total) return { level: "ok", code: "addressPool", message };
  const advice = "add addresses to it, or delete Services that are not needed";
  return { level: "warning", code: "addressPoolFull", message, advice };
}

/** Says each conflict once, at the Service that comes first. */
function listConflicts(allocations: Allocations, claims: readonly LoadBalancerClaim[]): Finding[] {
  const said = new Set<string>();
  const found = claims.flatMap((claim) =>
    listShown(claim).flatMap((address): Finding[] => {
      const rivals = listRivals(allocations, address, claim).filter(({ hold }) => isShown(hold));
      if (rivals.length === 0) return [];
      const all = [claim, ...rivals.map((rival) => rival.claim)];
      const holds = all.map(({ owner }) => `${address} ${owner.uid}`);
      if (holds.every((hold) => said.has(hold))) return [];
      for (const hold of holds) said.add(hold);
      const others = nameRivals(rivals);
      const message = `Service ${nameService(claim)} shows ${address}, which is also the address of ${others}`;
      const advice = "let one of them ask for another address";
      return [{ level: "warning", code: "addressConflict", message, advice }];
    }),
  );
  if (found.length <= NAMED_MAX) return found;
  const message = `${found.length - NAMED_MAX} more Services show addresses of others`;
  return [...found.slice(0, NAMED_MAX), { level: "warning", code: "addressConflict", message }];
}

function listOutside(allocations: Allocations, claims: readonly LoadBalancerClaim[]): Finding[] {
  const outside = claims.filter((claim) =>
    listShown(claim).some((address) => allocations.pools.find(address) === undefined),
  );
  if (outside.length === 0) return [];
  const who = outside.length === 1 ? "1 Service shows" : `${outside.length} Services show`;
  const message = `${who} an address outside the address pools: ${nameFirst(outside)}`;
  const advice = "they keep it; add it to a pool if it should be managed";
  return [{ level: "warning", code: "addressOutsidePools", message, advice }];
}

/** The names of the first ones. */
function nameFirst(claims: readonly LoadBalancerClaim[]): string {
  const names = claims.slice(0, SERVICES_MAX).map(nameService).join(", ");
  return claims.length > SERVICES_MAX ? `${names}, …` : names;
}
