/**
 * The Lease for leader election: its fields, and the actions of one process on it.
 * Source: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { type Lease, LEASES } from "../kinds/lease.ts";
import { isFields } from "../../core/text/values.ts";
import type { Clock } from "../../core/clock.ts";
import { type KubeClient, readIfPresent } from "../api/client.ts";
import { isKubeError, KubeError } from "../api/errors.ts";

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
function toFirstLease({ namespace, name }: LeaseName, claim: Claim): Lease {
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

/** What a {@linkcode LeaseLock} needs. */
interface LeaseLockOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly lease: LeaseName;
  /** Unique: no other process ever has it. */
  readonly identity: string;
  /** How long others wait for a silent holder, in milliseconds. */
  readonly durationMs: number;
  /** Called when a holder had to read its Lease before it could renew. */
  readonly onSlowPath: () => void;
}

/**
 * The result of a try. `taken`: another process holds the Lease, or may believe so; `failed`: the result is unknown.
 */
export type Attempt =
  | { readonly kind: "held" }
  | { readonly kind: "taken" }
  | { readonly kind: "failed"; readonly error: unknown };

/** A moment by both clocks. One stops while a machine is suspended, and a user can set the other. */
interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

const HELD: Attempt = { kind: "held" };
const TAKEN: Attempt = { kind: "taken" };

/**
 * A Lease, as this process last saw it, and the last writes of this process. It reads, takes, renews and releases the
 * Lease, and never waits.
 *
 * The rules are those of client-go's `leaderelection` package. It never compares the times in a Lease with our clock.
 * It only checks whether the Lease changed since the last look, and how long ago that was by our clock.
 */
export class LeaseLock {
  readonly #options: LeaseLockOptions;
  #lease: Lease | undefined;
  /**
   * Until when the last known holder may rely on the Lease, in monotonic milliseconds. This holds even if a user
   * deletes the Lease or removes the name: the holder notices only with its next renewal.
   */
  #heldUntilMs = -Infinity;
  /** A moment just before our last successful write was sent. */
  #renewed: Moment | undefined;
  /** Whether a write of ours without an answer may have succeeded. */
  #isUncertain = false;

  constructor(options: LeaseLockOptions) {
    this.#options = options;
  }

  /** The Lease, as last seen; absent before the first look, and if it does not exist. */
  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** Whether the Lease may name us as its holder. */
  get mayBeOurs(): boolean {
    const { identity } = this.#options;
    return this.#isUncertain || (this.#lease !== undefined && findHolder(this.#lease) === identity);
  }

  /**
   * Milliseconds since our last renewal was sent, by the clock that shows more; absent before the first renewal. No
   * process can have seen that renewal earlier, so none may take the Lease before its duration has passed by this
   * count.
   */
  get renewalAgeMs(): number | undefined {
    if (this.#renewed === undefined) return undefined;
    const { monotonicMs, wallMs } = this.#now();
    return Math.max(monotonicMs - this.#renewed.monotonicMs, wallMs - this.#renewed.wallMs);
  }

  /** Milliseconds until another process may take the Lease from its known holder; 0 if it may now. */
  get freeInMs(): number {
    const { clock, identity } = this.#options;
    if (this.#lease !== undefined && findHolder(this.#lease) === identity) return 0;
    return Math.max(0, this.#heldUntilMs - clock.monotonic());
  }

  /** Reads the Lease and takes it if that is allowed. @throws the signal's reason */
  acquire(signal: AbortSignal): Promise<Attempt> {
    return attempt(signal, async () => {
      const lease = await this.#read(signal);
      if (this.freeInMs > 0) return TAKEN;
      if (lease === undefined) return await this.#create(signal);
      return await this.#claim(lease, signal);
    });
  }

  /** Renews our Lease. If it does not have our name, we no longer hold it. @throws the signal's reason */
  async renew(signal: AbortSignal): Promise<Attempt> {
    const { identity } = this.#options;
    const known = this.#lease;
    if (known !== undefined && findHolder(known) === identity) {
      const fast = await attempt(signal, () => this.#claim(known, signal));
      if (fast.kind === "held") return fast;
    }
    return await attempt(signal, async () => {
      const lease = await this.#read(signal);
      if (lease === undefined) return await this.#create(signal);
      if (findHolder(lease) !== identity) return TAKEN;
      this.#options.onSlowPath();
      return await this.#claim(lease, signal);
    });
  }

  /**
   * Releases the Lease if it is ours, so that others may take it immediately. This process must not act as leader any
   * more.
   *
   * @throws {KubeError} if that fails, or the signal's reason
   */
  async release(signal: AbortSignal): Promise<void> {
    const { client, clock, lease: path, identity } = this.#options;
    for (;;) {
      const lease = await this.#read(signal);
      if (lease === undefined || findHolder(lease) !== identity) return;
      try {
        this.#observe(await client.replace(LEASES, path, toReleased(lease, clock.now()), signal));
        return;
      } catch (error) {
        if (!isKubeError(error, "conflict")) throw error;
      }
    }
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const { client, lease: path } = this.#options;
    const lease = await readIfPresent(client, LEASES, path, signal);
    if (lease === undefined) {
      this.#noteNobody();
      this.#lease = undefined;
    } else {
      this.#isUncertain = false;
      this.#observe(lease);
    }
    return lease;
  }

  #observe(lease: Lease): void {
    if (!isSameRecord(this.#lease, lease)) this.#noteHolder(lease);
    this.#lease = lease;
  }

  #noteHolder(lease: Lease): void {
    const { clock, durationMs } = this.#options;
    if (isReleased(lease)) this.#heldUntilMs = -Infinity;
    else if (findHolder(lease) === "") this.#noteNobody();
    else this.#heldUntilMs = clock.monotonic() + readDurationMs(lease, durationMs);
  }

  /** The old holder notices this long before the end of its Lease. */
  #noteNobody(): void {
    const { clock, durationMs } = this.#options;
    this.#heldUntilMs = Math.min(this.#heldUntilMs, clock.monotonic() + durationMs);
  }

  async #create(signal: AbortSignal): Promise<Attempt> {
    const { client, lease: path } = this.#options;
    const { namespace } = path;
    const first = toFirstLease(path, this.#toClaim());
    return await this.#write(() => client.create(LEASES, { namespace }, first, signal));
  }

  async #claim(lease: Lease, signal: AbortSignal): Promise<Attempt> {
    const { client, lease: path, identity } = this.#options;
    const claim = this.#toClaim();
    const isOurs = findHolder(lease) === identity;
    const next = isOurs ? toRenewed(lease, claim) : toAcquired(lease, claim);
    return await this.#write(() => client.replace(LEASES, path, next, signal));
  }

  async #write(send: () => Promise<Lease>): Promise<Attempt> {
    const sent = this.#now();
    this.#isUncertain = true;
    try {
      this.#observe(await send());
      this.#renewed = sent;
      this.#isUncertain = false;
      return HELD;
    } catch (error) {
      // A refused write did not happen. After a 5xx it may have happened.
      if (error instanceof KubeError && error.kind !== "unavailable") this.#isUncertain = false;
      throw error;
    }
  }

  #toClaim(): { identity: string; durationMs: number; nowMs: number } {
    const { identity, durationMs, clock } = this.#options;
    return { identity, durationMs, nowMs: clock.now() };
  }

  #now(): Moment {
    const { clock } = this.#options;
    return { monotonicMs: clock.monotonic(), wallMs: clock.now() };
  }
}

async function attempt(signal: AbortSignal, act: () => Promise<Attempt>): Promise<Attempt> {
  try {
    return await act();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { kind: "failed", error };
  }
}
