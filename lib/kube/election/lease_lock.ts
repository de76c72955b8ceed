/**
 * The actions of one process on one Lease: reads, takes, renews and releases it. Never waits.
 *
 * The rules are those of client-go's `leaderelection` package. It never compares the times in a Lease with our clock.
 * It only checks whether the Lease changed since the last look, and how long ago that was by our clock.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import type { KubeClient } from "../api/client.ts";
import { isKubeError, KubeError } from "../api/errors.ts";
import {
  findHolder,
  isReleased,
  isSameRecord,
  type LeaseName,
  readDurationMs,
  toAcquired,
  toFirstLease,
  toReleased,
  toRenewed,
} from "./lease.ts";
import { type Lease, LEASES } from "../kinds/lease.ts";

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

/** A Lease, as this process last saw it, and the last writes of this process. */
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
    try {
      const lease = await client.read(LEASES, path, signal);
      this.#isUncertain = false;
      this.#observe(lease);
      return lease;
    } catch (error) {
      if (!isKubeError(error, "notFound")) throw error;
      this.#noteNobody();
      this.#lease = undefined;
      return undefined;
    }
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
