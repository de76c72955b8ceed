/**
 * The Lease for leader election: its fields, and how to change them.
 * Source: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { type Lease, LEASES } from "../kinds/lease.ts";
import { isFields } from "../../core/text/values.ts";

/** The Lease that replicas use to elect their leader. */
export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** Duration of a released Lease, as in client-go. */
const RELEASED_SECONDS = 1;
/** The highest number of transitions that the API server accepts. */
const INT32_MAX = 2 ** 31 - 1;

/** The data of a holder in the Lease. */
interface Claim {
  readonly identity: string;
  /** Milliseconds. The Lease has whole seconds, rounded up, so that others never wait less than the holder expects. */
  readonly durationMs: number;
  /** Wall-clock milliseconds. */
  readonly nowMs: number;
}

/**
 * The holder of a Lease; `""` if there is none. Any other value counts as another process, even if it is no valid name.
 */
export function findHolder(lease: Lease): string {
  const holder: unknown = toSpec(lease).holderIdentity ?? "";
  return typeof holder === "string" ? holder : JSON.stringify(holder);
}

/**
 * Whether its holder released it, so that others may take it immediately. An edit by a user only removes the holder.
 */
export function isReleased(lease: Lease): boolean {
  return findHolder(lease) === "" && toSpec(lease).leaseDurationSeconds === RELEASED_SECONDS;
}

/**
 * How long its holder may be silent, in milliseconds.
 *
 * @param fallbackMs Used if the Lease has no readable duration: waiting is safe, taking the Lease is not
 */
export function readDurationMs(lease: Lease, fallbackMs: number): number {
  const seconds: unknown = toSpec(lease).leaseDurationSeconds;
  const isCount = typeof seconds === "number" && seconds > 0 && seconds <= INT32_MAX;
  return isCount ? seconds * 1_000 : fallbackMs;
}

/** When its holder renewed it, in milliseconds of the holder's clock; `undefined` without a readable time. */
export function readRenewMs(lease: Lease): number | undefined {
  const time: unknown = toSpec(lease).renewTime;
  const ms = typeof time === "string" ? Date.parse(time) : NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/** Whether the election data is the same. Labels and annotations of the Lease do not count. */
export function isSameRecord(before: Lease | undefined, after: Lease): boolean {
  return before !== undefined && isDeepStrictEqual(toSpec(before), toSpec(after));
}

/** A new Lease to create. */
export function toFirstLease({ namespace, name }: LeaseName, claim: Claim): Lease {
  const { apiVersion, kind } = LEASES;
  const spec = { ...toRecord(claim), acquireTime: toMicroTime(claim.nowMs), leaseTransitions: 0 };
  return { apiVersion, kind, metadata: { namespace, name }, spec };
}

/** The Lease with a new holder. Like all functions here, it keeps the other fields, and the whole Lease is written. */
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

/**
 * The released Lease, which others may take immediately: no holder, and one second, because the field must be positive.
 */
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
 * A MicroTime: RFC 3339 with exactly six digits of a second, as the API server requires.
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
