/**
 * What a Service asks of the address pools, in its annotations and in `spec.loadBalancerIP`.
 * @module
 */
import { parseIp } from "../../core/net/ip.ts";
import { isLabelValue } from "../../core/text/label.ts";
import { quote } from "../../core/text/printable.ts";
import type { LoadBalancerClaim } from "../capabilities/load_balancers.ts";
import { type Family, toFamily } from "./pool.ts";
import { ADDRESS_POOL, KUBE_VIP_IPS, LOAD_BALANCER_IPS, SHARED_ADDRESS } from "./words.ts";

/** What a Service asks for. */
export interface Wishes {
  /** Name of the pool. Absent: any. */
  readonly pool?: string;
  /** Addresses in canonical form by family. Empty: any. */
  readonly addresses: ReadonlyMap<Family, string>;
  /** Where it asks for them, for messages. */
  readonly source: string;
  /** Services of its namespace with the same key may share its address. Absent: none may. */
  readonly sharedKey?: string;
  /** What cannot be read; no full stop. Then nothing may change. */
  readonly problem?: string;
}

const SPEC_FIELD = "spec.loadBalancerIP";
const ADDRESSES_MAX = 2;

/** The texts of a Service that ask for something. */
type Asking = Pick<LoadBalancerClaim, "address" | "annotations" | "record">;

/**
 * Reads what a Service asks for.
 *
 * @param readsKubeVip Whether the addresses that a Service without a record already names for kube-vip are a wish: a
 * Service that kube-vip announced before keeps them
 */
export function parseWishes(claim: Asking, readsKubeVip: boolean): Wishes {
  const pool = readText(claim, ADDRESS_POOL);
  const sharedKey = readText(claim, SHARED_ADDRESS);
  const { source, text } = findAddresses(claim, readsKubeVip);
  const { addresses, problem: wrong } = parseAddresses(source, text);
  const problem = wrong ?? checkKey(sharedKey);
  return {
    addresses,
    source,
    ...(pool !== undefined && { pool }),
    ...(sharedKey !== undefined && { sharedKey }),
    ...(problem !== undefined && { problem }),
  };
}

/** The key with which a Service shares its address; `undefined` if it has none that can be used. */
export function findSharedKey(claim: Asking): string | undefined {
  const key = readText(claim, SHARED_ADDRESS);
  return checkKey(key) === undefined ? key : undefined;
}

function readText({ annotations }: Asking, key: string): string | undefined {
  const text = Object.hasOwn(annotations, key) ? annotations[key]?.trim() : undefined;
  return text === "" ? undefined : text;
}

function findAddresses(
  claim: Asking,
  readsKubeVip: boolean,
): { readonly source: string; readonly text: string | undefined } {
  const own = readText(claim, LOAD_BALANCER_IPS);
  if (own !== undefined) return { source: LOAD_BALANCER_IPS, text: own };
  const field = claim.address?.trim();
  if (field) return { source: SPEC_FIELD, text: field };
  if (!readsKubeVip || claim.record !== undefined) return { source: SPEC_FIELD, text: undefined };
  return { source: KUBE_VIP_IPS, text: readText(claim, KUBE_VIP_IPS) };
}

function parseAddresses(
  source: string,
  text: string | undefined,
): Pick<Wishes, "addresses" | "problem"> {
  const addresses = new Map<Family, string>();
  if (text === undefined) return { addresses };
  const parts = text.split(",", ADDRESSES_MAX + 1);
  for (const part of parts) {
    const address = parseIp(part)?.text;
    if (address === undefined || parts.length > ADDRESSES_MAX || addresses.has(toFamily(address))) {
      const form = "one IP address, or an IPv4 and an IPv6 address with a comma between them";
      return { addresses: new Map(), problem: `${source} must be ${form}, but is ${quote(text)}` };
    }
    addresses.set(toFamily(address), address);
  }
  return { addresses };
}

function checkKey(key: string | undefined): string | undefined {
  if (key === undefined || isLabelValue(key)) return undefined;
  const form = 'at most 63 letters, digits, "-", "_" or "."';
  return `${SHARED_ADDRESS} must have ${form}, but is ${quote(key)}`;
}
