/**
 * Which Services stand in each other's way at an address.
 * @module
 */
import { type AddressHost, explainRefusal, toHost } from "../address_sharing.ts";
import type { LoadBalancerClaim } from "../capabilities/load_balancers.ts";
import type { Hold, Allocations } from "./allocations.ts";
import { findSharedKey } from "./request.ts";

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
  allocations: Allocations,
  address: string,
  claim: LoadBalancerClaim,
): Rival[] {
  const { pools } = allocations;
  // A pool that was changed takes nothing away from Services that share.
  const isShareable = pools.find(address)?.isShareable ?? true;
  const sharing = isShareable ? findSharing(claim) : undefined;
  const { own, others } = findHolders(allocations, address, claim);
  const place = { ip: address, rules: pools.sharing };
  return others
    .filter(
      (other) =>
        sharing === undefined ||
        !canShare(sharing, other.claim) ||
        lacksWord(place, { claim, hold: own?.hold }, other),
    )
    .toSorted((one, other) => compareOwners(one.claim, other.claim));
}

/** Why a Service may not come onto an address that it names, see {@linkcode explainRefusal}. */
export function explainUse(
  allocations: Allocations,
  ip: string,
  claim: LoadBalancerClaim,
): string | undefined {
  const { pools } = allocations;
  // Of a pool that is not shareable, no word gives an address.
  const isShareable = pools.find(ip)?.isShareable ?? true;
  const hosts = isShareable
    ? findHolders(allocations, ip, claim)
        .others.toSorted((one, other) => rank(other.hold) - rank(one.hold))
        .map((one) => toHost(one.claim))
    : [];
  return explainRefusal({ ip, namespace: claim.owner.namespace, hosts, rules: pools.sharing });
}

/** A Service, and how it has an address, and the other Services that have it. */
function findHolders(
  allocations: Allocations,
  address: string,
  { owner: { uid } }: LoadBalancerClaim,
): { readonly own: Rival | undefined; readonly others: readonly Rival[] } {
  const all = [...allocations.listHolders(address)].flatMap(({ claim, holds }) => {
    const hold = holds.get(address);
    return hold === undefined ? [] : [{ claim, hold }];
  });
  const isOwn = ({ claim }: Rival): boolean => claim.owner.uid === uid;
  return { own: all.find(isOwn), others: all.filter((one) => !isOwn(one)) };
}

/**
 * Whether a word is missing between two Services of which one has an address and the other one has it or wants it. The
 * less sure one needs the word of the other. Of two that Landfall gave it, one has let in the other: one word is
 * enough. A record alone, which everyone who may edit the Service can write, is no reason to need none.
 */
function lacksWord(
  place: Pick<Parameters<typeof explainRefusal>[0], "ip" | "rules">,
  one: { readonly claim: LoadBalancerClaim; readonly hold: Hold | undefined },
  other: Rival,
): boolean {
  const [own, its] = [toHost(one.claim), toHost(other.claim)];
  if (own.owner.namespace === its.owner.namespace) return false;
  const refuses = (host: AddressHost, { owner }: AddressHost): boolean =>
    explainRefusal({ ...place, namespace: owner.namespace, hosts: [host] }) !== undefined;
  const order = rank(one.hold) - rank(other.hold);
  if (order > 0) return refuses(own, its);
  if (order < 0) return refuses(its, own);
  return isSurer(other.hold, "recorded")
    ? refuses(own, its) && refuses(its, own)
    : refuses(own, its) || refuses(its, own);
}

/** How sure a hold is. Least of all none. */
function rank(hold: Hold | undefined): number {
  return hold === undefined ? -2 : HOLDS.indexOf(hold);
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
