/**
 * Which Services stand in each other's way at an address.
 * @module
 */
import type { LoadBalancerClaim } from "../capabilities/load_balancers.ts";
import type { Hold, AllocationsReader } from "./allocations.ts";
import { findSharedKey } from "./wishes.ts";

const HOLDS: readonly Hold[] = ["recorded", "reserved", "shown"];

/** Whether one hold is surer than another. */
export function isSurer(one: Hold, other: Hold): boolean {
  return other !== "disputed" && HOLDS.indexOf(one) > HOLDS.indexOf(other);
}

/** Whether the status of a Service shows the address that it has in this way. */
export function isShown(hold: Hold): boolean {
  return hold === "shown" || hold === "disputed";
}

/** Another Service that has an address and does not share it. */
export interface Rival {
  readonly claim: LoadBalancerClaim;
  readonly hold: Hold;
}

/** The other Services that have an address and cannot share it with this one, by their names. */
export function listRivals(
  allocations: AllocationsReader,
  address: string,
  claim: LoadBalancerClaim,
): Rival[] {
  // A pool that was changed takes nothing away from Services that share.
  const isShareable = allocations.pools.find(address)?.isShareable ?? true;
  const sharing = isShareable ? findSharing(claim) : undefined;
  const rivals: Rival[] = [];
  for (const { claim: other, holds } of allocations.listHolders(address)) {
    const hold = holds.get(address);
    if (hold === undefined || other.owner.uid === claim.owner.uid) continue;
    if (sharing === undefined || !canShare(sharing, other)) rivals.push({ claim: other, hold });
  }
  return rivals.toSorted((one, other) => compareOwners(one.claim, other.claim));
}

/**
 * Whether a Service may have an address that rivals have, too, because its own hold is surer than theirs. If both only
 * have records, the name decides: no status has shown it.
 */
export function isBeforeRivals(
  claim: LoadBalancerClaim,
  hold: Hold,
  rivals: readonly Rival[],
): boolean {
  return rivals.every(
    (rival) =>
      isSurer(hold, rival.hold) ||
      (hold === "recorded" && rival.hold === "recorded" && compareOwners(claim, rival.claim) < 0),
  );
}

/** What decides with whom a Service may share an address. */
interface Sharing {
  readonly namespace: string;
  readonly key: string;
  readonly taken: ReadonlySet<string>;
  readonly localPods: string | undefined;
}

function findSharing(claim: LoadBalancerClaim): Sharing | undefined {
  const key = findSharedKey(claim);
  if (key === undefined || claim.ports === undefined) return undefined;
  const taken = new Set(claim.ports.map(toText));
  return { namespace: claim.owner.namespace, key, taken, localPods: claim.localPods };
}

/**
 * Whether another Service may have the same address: in one namespace, with the same key, and no port of the same
 * protocol in both. In one namespace, because a key is no secret: with it, another team could take over ports of an
 * address. With traffic policy `Local`, both have the same Pods: the Node that announces the address has some of both.
 */
function canShare(
  { namespace, key, taken, localPods }: Sharing,
  other: LoadBalancerClaim,
): boolean {
  if (other.owner.namespace !== namespace) return false;
  if (other.ports === undefined || findSharedKey(other) !== key) return false;
  if (other.localPods !== localPods || localPods === "") return false;
  return !other.ports.some((port) => taken.has(toText(port)));
}

function toText({ protocol, port }: { readonly protocol: string; readonly port: number }): string {
  return `${protocol} ${port}`;
}

function compareOwners(
  { owner: one }: LoadBalancerClaim,
  { owner: other }: LoadBalancerClaim,
): number {
  return (
    compareTexts(one.namespace, other.namespace) ||
    compareTexts(one.name, other.name) ||
    compareTexts(one.uid, other.uid)
  );
}

function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
