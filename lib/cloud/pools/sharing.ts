/**
 * Which Services stand in each other's way at an address.
 * @module
 */
import { type AddressHost, explainRefusal, findFirst, readWord } from "../address_sharing.ts";
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
  const host = findHost(allocations, address);
  const isRefused = (one: LoadBalancerClaim): boolean =>
    explain(allocations, address, one, host) !== undefined;
  const rivals: Rival[] = [];
  for (const { claim: other, holds } of allocations.listHolders(address)) {
    const hold = holds.get(address);
    if (hold === undefined || other.owner.uid === claim.owner.uid) continue;
    const isUnshared =
      (host === other && isRefused(claim)) ||
      (host?.owner.uid === claim.owner.uid && isRefused(other));
    if (sharing === undefined || isUnshared || !canShare(sharing, other)) {
      rivals.push({ claim: other, hold });
    }
  }
  return rivals.toSorted((one, other) => compareOwners(one.claim, other.claim));
}

/** Why a Service may not use an address that it names, see {@linkcode explainRefusal}. */
export function explainUse(
  allocations: AllocationsReader,
  ip: string,
  claim: LoadBalancerClaim,
): string | undefined {
  // Of a pool that is not shareable, no word gives an address.
  const isShareable = allocations.pools.find(ip)?.isShareable ?? true;
  return explain(allocations, ip, claim, isShareable ? findHost(allocations, ip) : undefined);
}

function explain(
  { pools }: AllocationsReader,
  ip: string,
  { owner }: LoadBalancerClaim,
  host: LoadBalancerClaim | undefined,
): string | undefined {
  if (host?.owner.uid === owner.uid) return undefined;
  const first: AddressHost | undefined = host && { owner: host.owner, word: readWord(host) };
  return explainRefusal({ ip, namespace: owner.namespace, host: first, rules: pools.sharing });
}

/**
 * The Service that has an address first: its status shows it, which only Landfall and administrators write. A record
 * alone, which everyone who may edit the Service can write, comes last. Of several, see {@linkcode findFirst}.
 */
function findHost(allocations: AllocationsReader, address: string): LoadBalancerClaim | undefined {
  let [first, best]: [LoadBalancerClaim[], number] = [[], -Infinity];
  for (const { claim, holds } of allocations.listHolders(address)) {
    const hold = holds.get(address);
    if (hold === undefined) continue;
    const rank = HOLDS.indexOf(hold);
    if (rank > best) [first, best] = [[], rank];
    if (rank === best) first.push(claim);
  }
  return findFirst(first);
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
 * Whether another Service has the same key, and no port of the same protocol. With traffic policy `Local`, both have
 * the same Pods: the Node that announces the address has some of both.
 */
function canShare(
  { namespace, key, taken, localPods }: Sharing,
  other: LoadBalancerClaim,
): boolean {
  if (other.ports === undefined || findSharedKey(other) !== key) return false;
  if (other.localPods !== localPods || localPods === "") return false;
  if (localPods !== undefined && other.owner.namespace !== namespace) return false;
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
