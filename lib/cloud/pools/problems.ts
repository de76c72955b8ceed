/**
 * What may keep a Service from the addresses that it asks for, as Events say it.
 * @module
 */
import type {
  LoadBalancerClaim,
  LoadBalancerOwner,
  LoadBalancerProblem,
} from "../capabilities/load_balancers.ts";
import { findClosest } from "../../core/text/edit_distance.ts";
import { quote } from "../../core/text/printable.ts";
import type { AddressPool } from "./pool.ts";
import type { Rival } from "./sharing.ts";

/** The reasons of the Events, with what each means. */
export const POOL_PROBLEMS = {
  AddressConflict:
    "Something else has the address of the Service, too: a Service that does not share it, a Node or a machine.",
  AddressNotAnnounced:
    "No program announces an address of the Service: it gets none, or keeps the one that it has.",
  AddressNotAvailable: "The Service asks for an address that it cannot have.",
  AddressNotUsable:
    "The Service asks for an address that a Service of another namespace has, or an operator gave to others.",
  AddressOutsidePools: "The Service keeps an address that it would not get any more.",
  AddressPoolExhausted: "Every address that the Service could have is in use.",
  AddressWishIgnored: "An annotation for MetalLB asks for what the Service does not have.",
  AddressWishInvalid: "An annotation of the Service cannot be used.",
  InvalidAnnotation: "An annotation has a value that Landfall does not understand.",
  NoAddressPool: "No address pool is for the Service.",
} as const;

/** A reason of {@linkcode POOL_PROBLEMS}. */
type PoolProblemReason = keyof typeof POOL_PROBLEMS;

/** The Service must wait. */
export function toWaiting(reason: PoolProblemReason, message: string): LoadBalancerProblem {
  return { reason, message };
}

/** The Service has its addresses, but something should be looked at. */
export function toNotice(reason: PoolProblemReason, message: string): LoadBalancerProblem {
  return { reason, message, isWaiting: false };
}

const NAMED_MAX = 3;

/** The names of a few rivals: `Service web/shop`, `Services web/a, web/b and web/c`. */
export function nameRivals(rivals: readonly Rival[]): string {
  const names = rivals.map(({ claim }) => nameService(claim));
  if (names.length === 1) return `Service ${names.join("")}`;
  const isFew = names.length <= NAMED_MAX;
  const named = names.slice(0, isFew ? -1 : NAMED_MAX).join(", ");
  return `Services ${named} and ${isFew ? names.at(-1) : `${names.length - NAMED_MAX} more`}`;
}

const POOLS_NAMED_MAX = 10;

/** A name of which there is no pool, with the pools that there are. */
export function describeUnknownPool(written: string, pools: readonly AddressPool[]): string {
  const names = pools.map(({ name }) => name);
  const meant = findClosest(written, names);
  const hint = meant === undefined ? "" : ` (did you mean ${meant}?)`;
  const more = names.length > POOLS_NAMED_MAX ? ` and ${names.length - POOLS_NAMED_MAX} more` : "";
  const known = names.slice(0, POOLS_NAMED_MAX).join(", ") + more;
  return `${quote(written)}, which is no pool${hint}; ${known === "" ? "there is none" : `the pools are ${known}`}`;
}

/** More than these get to know of a conflict at the next full pass. */
const OWNERS_MAX = 100;

/** The Services of rivals. */
export function listOwners(rivals: readonly Rival[]): LoadBalancerOwner[] {
  return rivals.slice(0, OWNERS_MAX).map(({ claim }) => claim.owner);
}

/** `web/shop`. */
export function nameService({ owner }: Pick<LoadBalancerClaim, "owner">): string {
  return `${owner.namespace}/${owner.name}`;
}
