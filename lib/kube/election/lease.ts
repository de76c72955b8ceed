/**
 * The Lease by which processes agree on a leader: its fields, and what is written into them.
 * Source: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { type Lease, LEASES } from "../kinds/lease.ts";
import { isFields } from "../kinds/shape.ts";

/** Which Lease replicas elect their leader by. */
export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** Duration of a Lease that was given back; the same in client-go. */
const RELEASED_SECONDS = 1;
/** The API server takes no more transitions than this. */
const INT32_MAX = 2 ** 31 - 1;

/** What a holder writes about itself. */
export interface Claim {
  readonly identity: string;
  /** Milliseconds; written as whole seconds, rounded up, so that others never wait less than the holder counts on. */
  readonly durationMs: number;
  /** Wall-clock milliseconds. */
  readonly nowMs: number;
}

/** Who holds a Lease; `""` when nobody does. What is no name is somebody all the same, who is not us. */
export function findHolder(lease: Lease): string {
  const holder: unknown = toSpec(lease).holderIdentity ?? "";
  return typeof holder === "string" ? holder : JSON.stringify(holder);
}

/** Whether its holder gave it back: others may have it at once. Who empties it by hand changes the holder alone. */
export function isReleased(lease: Lease): boolean {
  return findHolder(lease) === "" && toSpec(lease).leaseDurationSeconds === RELEASED_SECONDS;
}

/**
 * For how long its holder may be silent, in milliseconds.
 *
 * @param fallbackMs Counts when the Lease does not say, or not in a way to be counted: to wait is safe, to take is not
 */
export function readDurationMs(lease: Lease, fallbackMs: number): number {
  const seconds: unknown = toSpec(lease).leaseDurationSeconds;
  const isCount = typeof seconds === "number" && seconds > 0 && seconds <= INT32_MAX;
  return isCount ? seconds * 1_000 : fallbackMs;
}

/** Whether nobody wrote the record since: labels and annotations of the Lease do not count. */
export function isSameRecord(before: Lease | undefined, after: Lease): boolean {
  return before !== undefined && isDeepStrictEqual(toSpec(before), toSpec(after));
}

/** A Lease that nobody had before, to be created. */
export function toFirstLease({ namespace, name }: LeaseName, claim: Claim): Lease {
  const { apiVersion, kind } = LEASES;
  const spec = { ...toRecord(claim), acquireTime: toMicroTime(claim.nowMs), leaseTransitions: 0 };
  return { apiVersion, kind, metadata: { namespace, name }, spec };
}

/** The Lease with a new holder. Everything else in it stays, as in all of these: it is written back whole. */
export function toAcquired(lease: Lease, claim: Claim): Lease {
  const spec = toSpec(lease);
  const before: unknown = spec.leaseTransitions;
  const isCount = typeof before === "number" && Number.isInteger(before) && before >= 0;
  const leaseTransitions = isCount ? Math.min(before + 1, INT32_MAX) : 1;
  const acquireTime = toMicroTime(claim.nowMs);
  return { ...lease, spec: { ...spec, ...toRecord(claim), acquireTime, leaseTransitions } };
}

/** The Lease with its holder's newest sign of life. */
export function toRenewed(lease: Lease, claim: Claim): Lease {
  return { ...lease, spec: { ...toSpec(lease), ...toRecord(claim) } };
}

/** The Lease for anybody to take at once: without a holder and, as the field must be positive, for a second. */
export function toReleased(lease: Lease, nowMs: number): Lease {
  const time = toMicroTime(nowMs);
  const record = {
    holderIdentity: "",
    leaseDurationSeconds: RELEASED_SECONDS,
    acquireTime: time,
  };
  return { ...lease, spec: { ...toSpec(lease), ...record, renewTime: time } };
}

/**
 * A MicroTime: RFC 3339 with exactly six digits of a second, as the API server demands.
 *
 * @param ms Wall-clock milliseconds since the epoch
 */
export function toMicroTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}

function toSpec({ spec }: Lease): NonNullable<Lease["spec"]> {
  return isFields(spec) ? spec : {};
}

function toRecord({ identity, durationMs, nowMs }: Claim): NonNullable<Lease["spec"]> {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1_000),
    renewTime: toMicroTime(nowMs),
  };
}
