/**
 * What a Service asks of the address pools, in its annotations and in `spec.loadBalancerIP`.
 * @module
 */
import { parseIp } from "../../core/net/ip.ts";
import { isLabelValue } from "../../core/text/label.ts";
import { quote } from "../../core/text/printable.ts";
import type { LoadBalancerClaim } from "../capabilities/load_balancers.ts";
import { type Family, toFamily } from "./pool.ts";
import {
  ADDRESS_POOL,
  KUBE_VIP_IPS,
  LOAD_BALANCER_IPS,
  METALLB_IPS,
  METALLB_POOL,
  METALLB_SHARED,
  SHARED_ADDRESS,
} from "./words.ts";

/** What a Service asks for. */
export interface PoolRequest {
  /** Name of the pool. Absent: any. */
  readonly pool?: string;
  /** Where it asks for the pool, for messages. */
  readonly poolSource: string;
  /** Addresses in canonical form by family. Empty: any. */
  readonly addresses: ReadonlyMap<Family, string>;
  /** Where it asks for them, for messages. */
  readonly source: string;
  /** Services of its namespace with the same key may share its address. Absent: none may. */
  readonly sharedKey?: string;
  /** Whether the address must be of a shareable pool. With the key of MetalLB, another one will do. */
  readonly needsShareable: boolean;
  /** What cannot be read; no full stop. Then nothing may change. */
  readonly problem?: string;
  /** What it asks MetalLB for, by kind, in the order in which it counts. */
  readonly metalLb: Readonly<Record<"ips" | "key" | "pool", readonly Asked[]>>;
}

/** What an annotation says. */
export interface Asked {
  readonly source: string;
  readonly text: string;
}

const SPEC_FIELD = "spec.loadBalancerIP";
const ADDRESSES_MAX = 2;
/** With one of these, kube-vip asks a DHCP server. */
export const UNSPECIFIED: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** The texts of a Service that ask for something. */
type RequestTexts = Pick<LoadBalancerClaim, "address" | "annotations" | "ingress" | "record">;

/**
 * Reads what a Service asks for.
 *
 * @param readsKubeVip Whether the addresses that a Service without a record already names for kube-vip are a request: a
 * Service that kube-vip announced before keeps them
 */
export function parseRequest(claim: RequestTexts, readsKubeVip: boolean): PoolRequest {
  const ownKey = readText(claim, SHARED_ADDRESS);
  const sharedKey = findSharedKey(claim);
  const hasNone = claim.record === undefined && claim.ingress.length === 0;
  const ownPool = findText(claim, [ADDRESS_POOL]);
  const pool = ownPool ?? (hasNone ? findText(claim, METALLB_POOL) : undefined);
  const own = findAddresses(claim, readsKubeVip);
  const asked = own ?? (hasNone ? findText(claim, METALLB_IPS) : undefined);
  const { source = SPEC_FIELD, text } = asked ?? {};
  const { addresses, problem: wrong } = parseAddresses(source, text);
  const problem = wrong ?? checkKey(ownKey);
  return {
    addresses,
    source,
    poolSource: pool?.source ?? ADDRESS_POOL,
    needsShareable: ownKey !== undefined,
    metalLb: {
      ips: listTexts(claim, METALLB_IPS),
      pool: listTexts(claim, METALLB_POOL),
      key: listTexts(claim, METALLB_SHARED),
    },
    ...(pool !== undefined && { pool: pool.text }),
    ...(sharedKey !== undefined && { sharedKey }),
    ...(problem !== undefined && { problem }),
  };
}

/** The key with which a Service shares its address; `undefined` if it has none that can be used. */
export function findSharedKey(claim: RequestTexts): string | undefined {
  const key = findText(claim, [SHARED_ADDRESS, ...METALLB_SHARED])?.text;
  return checkKey(key) === undefined ? key : undefined;
}

/**
 * Whether kube-vip must ask a DHCP server: an unspecified address such as `0.0.0.0` is in `spec.loadBalancerIP` or,
 * without that, in its own annotation. Landfall never writes it.
 */
export function asksForDhcp(claim: RequestTexts): boolean {
  if (readText(claim, LOAD_BALANCER_IPS) !== undefined) return false;
  const text = claim.address?.trim() || readText(claim, KUBE_VIP_IPS);
  return text !== undefined && text.split(",").every((part) => UNSPECIFIED.has(part.trim()));
}

function readText({ annotations }: RequestTexts, key: string): string | undefined {
  const text = Object.hasOwn(annotations, key) ? annotations[key]?.trim() : undefined;
  return text === "" ? undefined : text;
}

/** The annotations of these that say something. */
function listTexts(claim: RequestTexts, keys: readonly string[]): readonly Asked[] {
  return keys.flatMap((source) => {
    const text = readText(claim, source);
    return text === undefined ? [] : [{ source, text }];
  });
}

/** The first annotation of these that says something. */
function findText(claim: RequestTexts, keys: readonly string[]): Asked | undefined {
  return listTexts(claim, keys)[0];
}

function findAddresses(claim: RequestTexts, readsKubeVip: boolean): Asked | undefined {
  const own = findText(claim, [LOAD_BALANCER_IPS]);
  if (own !== undefined) return own;
  const field = claim.address?.trim();
  if (field) return { source: SPEC_FIELD, text: field };
  return readsKubeVip && claim.record === undefined ? findText(claim, [KUBE_VIP_IPS]) : undefined;
}

function parseAddresses(
  source: string,
  text: string | undefined,
): Pick<PoolRequest, "addresses" | "problem"> {
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

/** Whether a text names exactly one of these addresses, or two of both families. */
export function namesOnly({ text }: Asked, addresses: readonly string[]): boolean {
  return text.split(",").every((part) => addresses.includes(parseIp(part)?.text ?? ""));
}
