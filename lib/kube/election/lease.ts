/**
 * The Lease for leader election: its fields, and what is written into them.
 * Source: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { type Lease, LEASES } from "../kinds/lease.ts";
import { isFields } from "../kinds/shape.ts";

/** The Lease that replicas use to elect their leader. */
export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** Duration of a released Lease, as in client-go. */
const RELEASED_SECONDS = 1;
/** The API server takes no more transitions than this. */
const INT32_MAX = 2 ** 31 - 1;

/** What a holder writes about itself. */
export interface Claim {
  readonly identity: string;
  /** Milliseconds; written as whole seconds, rounded up, so that others never wait less than the holder expects. */
  readonly durationMs: number;
  /** Wall-clock milliseconds. */
  readonly nowMs: number;
}

/** The holder of a Lease; `""` without one. A value that is not a name still is a holder, and not this process. */
export function findHolder(lease: Lease): string {
  const holder: unknown = toSpec(lease).holderIdentity ?? "";
  return typeof holder === "string" ? holder : JSON.stringify(holder);
}

/** Whether its holder released it, so others may take it at once. An edit by hand empties the holder only. */
export function isReleased(lease: Lease): boolean {
  return findHolder(lease) === "" && toSpec(lease).leaseDurationSeconds === RELEASED_SECONDS;
}

/**
 * How long its holder may be silent, in milliseconds.
 *
 * @param fallbackMs Counts if the Lease has no readable duration: waiting is safe, taking is not
 */
export function readDurationMs(lease: Lease, fallbackMs: number): number {
  const seconds: unknown = toSpec(lease).leaseDurationSeconds;
  const isCount = typeof seconds === "number" && seconds > 0 && seconds <= INT32_MAX;
  return isCount ? seconds * 1_000 : fallbackMs;
}

/** Whether the record is the same: labels and annotations of the Lease do not count. */
export function isSameRecord(before: Lease | undefined, after: Lease): boolean {
  return before !== undefined && isDeepStrictEqual(toSpec(before), toSpec(after));
}

/** A new Lease, to be created. */
export function toFirstLease({ namespace, name }: LeaseName, claim: Claim): Lease {
  const { apiVersion, kind } = LEASES;
  const spec = { ...toRecord(claim), acquireTime: toMicroTime(claim.nowMs), leaseTransitions: 0 };
  return { apiVersion, kind, metadata: { namespace, name }, spec };
}

/** The Lease with a new holder. As in all of these, the rest does not change, and the whole Lease is written back. */
export function toAcquired(lease: Lease, claim: Claim): Lease {
  const spec = toSpec(lease);
  const before: unknown = spec.leaseTransitions;
  const isCount = typeof before === "number" && Number.isInteger(before) && before >= 0;
  const leaseTransitions = isCount ? Math.min(before + 1, INT32_MAX) : 1;
  const acquireTime = toMicroTime(claim.nowMs);
  return { ...lease, spec: { ...spec, ...toRecord(claim), acquireTime, leaseTransitions } };
}

/** The Lease with a new renewal time. */
export function toRenewed(lease: Lease, claim: Claim): Lease {
  return { ...lease, spec: { ...toSpec(lease), ...toRecord(claim) } };
}

/** The released Lease, which others may take at once: no holder, and one second, as the field must be positive. */
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
