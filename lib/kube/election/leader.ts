/**
 * Leader election with a Lease: waits for leadership, keeps it, and reports its loss at once.
 *
 * It goes by the rules of client-go's `leaderelection` package, so that Go controllers may stand for the same Lease.
 * Three things differ. While another holds the Lease it is looked at a little more often, and right when it runs out;
 * trouble and conflicts are answered with client-go's pauses. A leader that sees another holder stops at once. And a
 * Lease that was deleted or emptied by hand is taken when it would have run out: its holder may not know yet.
 * @module
 */
import { randomUUID } from "node:crypto";
import { type Clock, withDeadline } from "../../core/clock.ts";
import { type Leadership, LeadershipLostError } from "../../core/fence.ts";
import type { Logger } from "../../core/log.ts";
import { shorten } from "../../core/text/printable.ts";
import type { KubeClient } from "../api/client.ts";
import { ElectionNarrator, type LeaderMetrics } from "./narrator.ts";
import type { EventRecorder } from "../events/events.ts";
import { findHolder, type LeaseName } from "./lease.ts";
import { type Attempt, LeaseLock } from "./lease_lock.ts";
import type { Recovery } from "../api/recovery.ts";

/** Times in milliseconds: `leaseDurationMs` > `renewDeadlineMs` > 1.2 × `retryPeriodMs` > 0. */
export interface ElectionTimes {
  /** How long others believe in a leader that is silent. */
  readonly leaseDurationMs: number;
  /** How long a leader tries to renew before it gives up. */
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** What a {@linkcode LeaderElector} works with. */
export interface LeaderElectorOptions {
  /** A client of its own: no other request may delay a renewal. */
  readonly client: KubeClient;
  readonly lease: LeaseName;
  readonly times: ElectionTimes;
  /** From {@linkcode createIdentity}. */
  readonly identity: string;
  readonly events: EventRecorder;
  readonly metrics: LeaderMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Spreads tries; in [0, 1). @default {Math.random} */
  readonly random?: () => number;
  /** Notified when the Lease can be used again, and when leadership begins. */
  readonly recovery?: Recovery;
}

/**
 * A pause may be longer than its period by this factor, to spread tries; the deadline must leave room, as in client-go.
 */
export const RETRY_JITTER = 1.2;
/** A standby waits this share of a retry period between two looks at the Lease, at least and at most. */
const LOOK_SHARES = [0.4, 0.6] as const;
/** How much later than the Lease runs out a standby looks, at most, as a share of the retry period. */
const EXPIRY_SPREAD = 0.05;
/** How much longer than its Lease a leader may be silent before its process counts as stuck, as in Kubernetes. */
const STUCK_MS = 20_000;
/** How much to show of a name: a client may have written anything into a Lease. */
const HOLDER_CHARS_MAX = 256;
/** An orderly stop has ten seconds in all. */
const RELEASE_MS_MAX = 4_000;

/** A name that no other process has, on this host or any other, now or later: `<host>_<uuid>`. */
export function createIdentity(host: string): string {
  return `${host}_${randomUUID()}`;
}

/** How long the client of an elector may take for a request: two fit into the renew deadline. */
export function toElectionDeadlineMs({ renewDeadlineMs }: ElectionTimes): number {
  return Math.max(1_000, renewDeadlineMs / 2);
}

/**
 * Runs for leadership once. Leadership that ended, in any way, never comes back: the process restarts.
 */
export class LeaderElector implements Leadership {
  readonly #options: LeaderElectorOptions;
  readonly #lock: LeaseLock;
  readonly #narrator: ElectionNarrator;
  readonly #lost = new AbortController();
  /** How long a renewal counts, from when it was sent: less than the time that others wait, by half of the margin. */
  readonly #heldMs: number;
  #state: "standby" | "leading" | "lost" | "released" = "standby";

  /** @throws RangeError when the times do not fit each other */
  constructor(options: LeaderElectorOptions) {
    const { times, client, clock, lease, identity } = options;
    const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = times;
    const isSound =
      leaseDurationMs > renewDeadlineMs &&
      renewDeadlineMs > retryPeriodMs * RETRY_JITTER &&
      retryPeriodMs > 0;
    if (!isSound || identity === "") {
      throw new RangeError(`Cannot elect by ${JSON.stringify(times)} as "${identity}"`);
    }
    this.#options = options;
    this.#heldMs = Math.min(
      (leaseDurationMs + renewDeadlineMs) / 2,
      renewDeadlineMs + retryPeriodMs,
    );
    this.#narrator = new ElectionNarrator(options);
    this.#lock = new LeaseLock({
      client,
      clock,
      lease,
      identity,
      durationMs: leaseDurationMs,
      onSlowPath: () => this.#narrator.countSlowPath(),
    });
  }

  get identity(): string {
    return this.#options.identity;
  }

  /** The known holder of the Lease; absent without one. */
  get holder(): string | undefined {
    const { lease } = this.#lock;
    return (lease && shorten(findHolder(lease), HOLDER_CHARS_MAX)) || undefined;
  }

  /** Whether this process believes that it leads. Ask {@linkcode isHeld} before each action as leader. */
  get isLeading(): boolean {
    return this.#state === "leading";
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** Whether no other process can lead yet. When this becomes false, leadership is lost and `signal` aborts. */
  isHeld(): boolean {
    if (this.#state !== "leading") return false;
    if (this.#remainingMs() > 0) return true;
    const agoS = ((this.#lock.renewalAgeMs ?? 0) / 1_000).toFixed(1);
    const limitS = this.#heldMs / 1_000;
    this.#lose(`the last successful renewal was sent ${agoS} s ago, and the limit is ${limitS} s`);
    return false;
  }

  /** False if this process led, the Lease ran out long ago, and the process still runs. */
  isHealthy(): boolean {
    if (this.#state !== "leading" && this.#state !== "lost") return true;
    const { leaseDurationMs } = this.#options.times;
    return (this.#lock.renewalAgeMs ?? 0) <= leaseDurationMs + STUCK_MS;
  }

  /**
   * Waits for leadership, runs `lead`, and releases the Lease when `lead` has ended.
   *
   * @param lead Its signal tells it to stop: in good order when ours aborts, at once when leadership is lost
   * @param signal Ends everything. The Lease is kept until `lead` has ended, then released
   * @throws {LeadershipLostError} when leadership was lost, after `lead` has ended; or what `lead` throws
   */
  async run(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    try {
      if (!(await this.#acquire(signal))) return;
      const keeping = this.#keep(AbortSignal.any([ended.signal, this.signal]));
      try {
        await lead(AbortSignal.any([signal, this.signal]));
      } finally {
        ended.abort();
        await keeping;
      }
      this.signal.throwIfAborted();
    } finally {
      await this.#giveBack();
    }
  }

  /** Whether this process leads now; false when the signal aborted first. */
  async #acquire(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const attempt = await this.#try(() => this.#lock.acquire(signal), signal);
      // A process that was paused may see its success after the Lease ran out.
      if (attempt?.kind === "held" && this.#remainingMs() > 0) {
        this.#state = "leading";
        this.#narrator.tellLeading(this.#lock.lease);
        return true;
      }
      if (attempt?.kind === "taken") this.#narrator.tellStandby(this.holder ?? "");
      await clock.sleep(this.#toPauseMs(attempt), signal).catch(() => undefined);
    }
    return false;
  }

  #toPauseMs(attempt: Attempt | undefined): number {
    const { times, random = Math.random } = this.#options;
    const { retryPeriodMs } = times;
    if (attempt?.kind !== "taken") return retryPeriodMs * (1 + RETRY_JITTER * random());
    const [least, most] = LOOK_SHARES;
    const lookMs = retryPeriodMs * (least + (most - least) * random());
    const freeMs = this.#lock.freeInMs + retryPeriodMs * EXPIRY_SPREAD * random();
    return Math.ceil(Math.min(lookMs, freeMs));
  }

  async #keep(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#renew(signal), this.#guard(signal)]);
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const { clock, times } = this.#options;
    for (;;) {
      await clock.sleep(times.retryPeriodMs, signal).catch(() => undefined);
      if (signal.aborted || !this.isHeld()) return;
      const attempt = await this.#try(() => this.#lock.renew(signal), signal);
      if (attempt?.kind === "taken")
        this.#lose(this.holder ? `${this.holder} holds it` : "it has no holder");
      if (attempt?.kind === "held" && this.isHeld()) this.#narrator.noteAnswer();
    }
  }

  /** Notices the end of leadership even while a renewal waits for its answer. */
  async #guard(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted && this.isHeld()) {
      await clock.sleep(Math.ceil(this.#remainingMs()), signal).catch(() => undefined);
    }
  }

  /** One try; absent when the signal ended it. */
  async #try(act: () => Promise<Attempt>, signal: AbortSignal): Promise<Attempt | undefined> {
    const attempt = await act().catch(() => undefined);
    if (attempt?.kind === "failed" && !signal.aborted) this.#narrator.tellTrouble(attempt.error);
    return attempt;
  }

  #remainingMs(): number {
    const { renewalAgeMs } = this.#lock;
    return renewalAgeMs === undefined ? 0 : this.#heldMs - renewalAgeMs;
  }

  #lose(why: string): void {
    if (this.#state !== "leading") return;
    this.#state = "lost";
    this.#lost.abort(new LeadershipLostError(`leaderelection lost: ${why}`));
    this.#narrator.tellStopped(this.#lock.lease, why);
  }

  /** Releases the Lease. All work of the leader has ended. */
  async #giveBack(): Promise<void> {
    if (this.#state === "lost") return;
    const { clock, times, log } = this.#options;
    const { lease, mayBeOurs } = this.#lock;
    const hasLed = this.#state === "leading";
    this.#state = "released";
    if (hasLed) this.#narrator.tellStopped(lease);
    if (!mayBeOurs) return;
    const ms = Math.min(times.renewDeadlineMs, RELEASE_MS_MAX);
    try {
      await this.#lock.release(withDeadline(new AbortController().signal, ms, clock));
    } catch (error) {
      log.warn("Cannot release the Lease; standbys must wait until it expires", { error });
    }
  }
}
