/**
 * Leader election with a Lease: waits for leadership, keeps it, and reports its loss at once; in the log, in
 * Events on the Lease and in metrics, too.
 *
 * It follows the rules of client-go's `leaderelection` package, so that Go controllers can use the same Lease. There
 * are three differences. A standby looks at the Lease a little more often, and immediately when it expires; after
 * failures and conflicts it pauses as client-go does. A leader that sees another holder stops immediately. And a Lease
 * that a user deleted or emptied is taken only when it would have expired, because its holder may not know of the
 * change yet.
 * @module
 */
import { randomUUID } from "node:crypto";
import { type Clock, withDeadline } from "../../core/clock.ts";
import { type Leadership, LeadershipLostError } from "../../core/fence.ts";
import { shorten } from "../../core/text/printable.ts";
import type { KubeClient } from "../api/client.ts";
import { type Attempt, findHolder, LeaseLock, type LeaseName } from "./lease.ts";
import { describeError } from "../../core/errors.ts";
import { type Logger, MessageDedup } from "../../core/log.ts";
import { isKubeError, KubeError } from "../api/errors.ts";
import type { EventRecorder } from "../events/events.ts";
import { toEvent } from "../events/words.ts";
import { type Lease, LEASES } from "../kinds/lease.ts";
import type { Recovery } from "../api/request.ts";
import type { Counter, Gauge, MetricsRegistry } from "../../core/metrics.ts";

/** `source.component` of the Events; contract of `k8s.io/cloud-provider`. */
export const LEADER_COMPONENT = "cloud-controller-manager";

/**
 * The Events, written on the Lease. Frozen: they must not change. The first is that of client-go's `leaderelection`
 * package.
 */
export const LEADER_EVENTS = {
  changed: {
    reason: "LeaderElection",
    type: "Normal",
    meaning: "A process became leader or stopped leading. The message names the process.",
  },
  failed: {
    reason: "LeaderElectionFailed",
    type: "Warning",
    meaning: "The API server refuses reads or writes of the Lease. The message says why.",
  },
} as const;

/** Metrics of leader election, with the names that Kubernetes components use. */
interface LeaderMetrics {
  readonly isLeader: Gauge;
  readonly slowPaths: Counter;
}

/** Registers the metrics of leader election. */
export function createLeaderMetrics(metrics: MetricsRegistry): LeaderMetrics {
  return {
    isLeader: metrics.gauge({
      name: "leader_election_master_status",
      help: "1 while this process leads, else 0, by Lease.",
    }),
    slowPaths: metrics.counter({
      name: "leader_election_slowpath_total",
      help: "Renewals that had to read the Lease first, by Lease.",
    }),
  };
}

/** Times in milliseconds: `leaseDurationMs` > `renewDeadlineMs` > 1.2 × `retryPeriodMs` > 0. */
export interface ElectionTimes {
  /** How long standbys wait for a silent leader. */
  readonly leaseDurationMs: number;
  /** How long a leader tries to renew before it gives up. */
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** What a {@linkcode LeaderElector} needs. */
interface LeaderElectorOptions {
  /** Its own client, so that no other request delays a renewal. */
  readonly client: KubeClient;
  readonly lease: LeaseName;
  readonly times: ElectionTimes;
  /** From {@linkcode createIdentity}. */
  readonly identity: string;
  readonly events: EventRecorder;
  readonly metrics: LeaderMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Random part of the pauses, in [0, 1). @default {Math.random} */
  readonly random?: () => number;
  /** Notified when the Lease can be used again, and when leadership begins: both show that the API server answers. */
  readonly recovery?: Recovery;
}

/** By which factor a random pause may exceed its period. The deadline must allow for it, as in client-go. */
export const RETRY_JITTER = 1.2;
/** Shortest and longest pause of a standby between two looks at the Lease, as a share of the retry period. */
const LOOK_SHARES = [0.4, 0.6] as const;
/** How long after the end of the Lease a standby looks at the latest, as a share of the retry period. */
const EXPIRY_SPREAD = 0.05;
/** How long after the end of its Lease a silent leader counts as stuck, as in Kubernetes. */
const STUCK_MS = 20_000;
/** How many characters of a name to show: any client can write anything into a Lease. */
const HOLDER_CHARS_MAX = 256;
/** An orderly stop takes at most ten seconds in total. */
const RELEASE_MS_MAX = 4_000;

/** A name that no other process ever has, on any host: `<host>_<uuid>`. */
export function createIdentity(host: string): string {
  return `${host}_${randomUUID()}`;
}

/** Deadline of a request of an elector: two requests fit into the renew deadline. */
export function toElectionDeadlineMs({ renewDeadlineMs }: ElectionTimes): number {
  return Math.max(1_000, renewDeadlineMs / 2);
}

/** For example `12 s: the renew deadline of 10 s and a retry period of 2 s`. */
function describeLimit(heldMs: number, times: ElectionTimes): string {
  const [held = "", lease = "", renew = "", retry = ""] = [
    heldMs,
    times.leaseDurationMs,
    times.renewDeadlineMs,
    times.retryPeriodMs,
  ].map((ms) => `${ms / 1_000} s`);
  return heldMs === times.renewDeadlineMs + times.retryPeriodMs
    ? `${held}: the renew deadline of ${renew} and a retry period of ${retry}`
    : `${held}: halfway between the renew deadline of ${renew} and the lease duration of ${lease}`;
}

/** Runs for leadership once. Lost or released leadership never comes back: the process restarts. */
export class LeaderElector implements Leadership {
  readonly #options: LeaderElectorOptions;
  readonly #lock: LeaseLock;
  readonly #events: ElectionEvents;
  readonly #lost = new AbortController();
  readonly #firstTry = Promise.withResolvers<void>();
  /**
   * How long a renewal counts, from the moment it was sent. It is less than the time that others wait, by half of the
   * margin.
   */
  readonly #heldMs: number;
  #state: "standby" | "leading" | "lost" | "released" = "standby";

  /** @throws {RangeError} when the times do not fit together */
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
    this.#events = new ElectionEvents(options);
    this.#lock = new LeaseLock({
      client,
      clock,
      lease,
      identity,
      durationMs: leaseDurationMs,
      onSlowPath: () => this.#events.countSlowPath(),
    });
  }

  get identity(): string {
    return this.#options.identity;
  }

  /** The Lease that it competes for. */
  get lease(): LeaseName {
    return this.#options.lease;
  }

  /** The known holder of the Lease; absent if there is none. */
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

  /** Resolves when it is known whether this process leads from its start; then `lead` runs already. */
  get firstTry(): Promise<void> {
    return this.#firstTry.promise;
  }

  /**
   * Whether it is certain that no other process leads yet. When it no longer is, leadership is lost and `signal`
   * aborts.
   */
  isHeld(): boolean {
    if (this.#state !== "leading") return false;
    if (this.#remainingMs() > 0) return true;
    const agoS = ((this.#lock.renewalAgeMs ?? 0) / 1_000).toFixed(1);
    const limit = describeLimit(this.#heldMs, this.#options.times);
    this.#lose(`the last successful renewal was sent ${agoS} s ago, and the limit is ${limit}`);
    return false;
  }

  /** False if this process led, its Lease expired long ago, and it still runs. */
  isHealthy(): boolean {
    if (this.#state !== "leading" && this.#state !== "lost") return true;
    const { leaseDurationMs } = this.#options.times;
    return (this.#lock.renewalAgeMs ?? 0) <= leaseDurationMs + STUCK_MS;
  }

  /**
   * Waits for leadership, runs `lead`, and releases the Lease after `lead` has ended.
   *
   * @param lead Must stop with its signal: in order if our signal aborts, immediately if leadership is lost
   * @param signal Ends everything. The Lease is released after `lead` has ended
   * @throws {LeadershipLostError} when leadership was lost, after `lead` has ended; or what `lead` throws
   */
  async run(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    try {
      if (!(await this.#acquire(signal))) return;
      const keeping = this.#keep(AbortSignal.any([ended.signal, this.signal]));
      try {
        const leading = lead(AbortSignal.any([signal, this.signal]));
        this.#firstTry.resolve();
        await leading;
      } finally {
        ended.abort();
        await keeping;
      }
      this.signal.throwIfAborted();
    } finally {
      await this.#giveBack();
    }
  }

  /** Whether this process leads now; false if the signal aborted first. */
  async #acquire(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const attempt = await this.#try(() => this.#lock.acquire(signal), signal);
      // A process that was paused may get the answer after the Lease expired.
      if (attempt?.kind === "held" && this.#remainingMs() > 0) {
        this.#state = "leading";
        this.#events.reportLeading(this.#lock.lease);
        return true;
      }
      this.#firstTry.resolve();
      if (attempt?.kind === "taken") this.#events.reportStandby(this.holder ?? "");
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
      if (attempt?.kind === "held" && this.isHeld()) this.#events.noteAnswer();
    }
  }

  /** Notices the end of leadership even while a renewal waits for its answer. */
  async #guard(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted && this.isHeld()) {
      await clock.sleep(Math.ceil(this.#remainingMs()), signal).catch(() => undefined);
    }
  }

  /** One try; `undefined` if the signal ended it. */
  async #try(act: () => Promise<Attempt>, signal: AbortSignal): Promise<Attempt | undefined> {
    const attempt = await act().catch(() => undefined);
    if (attempt?.kind === "failed" && !signal.aborted) this.#events.reportTrouble(attempt.error);
    return attempt;
  }

  #remainingMs(): number {
    const { renewalAgeMs } = this.#lock;
    return renewalAgeMs === undefined ? 0 : this.#heldMs - renewalAgeMs;
  }

  #lose(why: string): void {
    if (this.#state !== "leading") return;
    this.#state = "lost";
    const { namespace, name } = this.lease;
    const message = `leaderelection lost: Lease ${namespace}/${name}: ${why}`;
    this.#lost.abort(new LeadershipLostError(message));
    this.#events.reportStopped(this.#lock.lease, why);
  }

  /** Releases the Lease. All work of the leader has ended. */
  async #giveBack(): Promise<void> {
    if (this.#state === "lost") return;
    const { clock, times, log } = this.#options;
    const { lease, mayBeOurs } = this.#lock;
    const hasLed = this.#state === "leading";
    this.#state = "released";
    if (hasLed) this.#events.reportStopped(lease);
    if (!mayBeOurs) return;
    const ms = Math.min(times.renewDeadlineMs, RELEASE_MS_MAX);
    try {
      await this.#lock.release(withDeadline(new AbortController().signal, ms, clock));
    } catch (error) {
      log.warn("Cannot release the Lease; standbys must wait until it expires", { error });
    }
  }
}

/** How often the same problem is logged. */
const REPEAT_MS = 60_000;

/** Reports what one process does with its Lease: in the log, in Events on the Lease and in metrics. */
class ElectionEvents {
  readonly #options: LeaderElectorOptions;
  readonly #log: Logger;
  /** The holder that was last logged. */
  #holder: string | undefined;
  readonly #trouble: MessageDedup;

  constructor(options: LeaderElectorOptions) {
    const { lease, identity } = options;
    this.#options = options;
    this.#trouble = new MessageDedup({ clock: options.clock, afterMs: REPEAT_MS });
    this.#log = options.log.with({ lease: `${lease.namespace}/${lease.name}`, identity });
    this.#setLeader(0);
  }

  countSlowPath(): void {
    this.#options.metrics.slowPaths.inc({ name: this.#options.lease.name });
  }

  /**
   * Reports that another process holds the Lease; once for each holder. @param holder `""`: the old one may not know
   * yet
   */
  reportStandby(holder: string): void {
    this.noteAnswer();
    if (holder === this.#holder) return;
    this.#holder = holder;
    if (holder !== "") this.#log.info("Standing by: another process is leader", { holder });
    else
      this.#log.info(
        "Waiting: the Lease has no holder, but its last holder may still act as leader",
      );
  }

  reportLeading(lease: Lease | undefined): void {
    this.noteAnswer();
    this.#setLeader(1);
    this.#log.info("Became leader");
    this.#options.recovery?.tell();
    this.#record(lease, "became leader");
  }

  /** @param why Absent for a normal stop */
  reportStopped(lease: Lease | undefined, why?: string): void {
    this.#setLeader(0);
    // The same words as in the Go controllers, because people search for them.
    if (why === undefined) this.#log.info("Stopped leading");
    else this.#log.error("leaderelection lost", { reason: why });
    this.#record(lease, "stopped leading");
  }

  /** The logged problem, if any, has ended. */
  noteAnswer(): void {
    if (!this.#trouble.end()) return;
    this.#log.info("The Lease can be used again");
    this.#options.recovery?.tell();
  }

  /** Reports that reading or writing the Lease failed: when the problem is new, and every minute. */
  reportTrouble(error: unknown): void {
    // Another process was faster. This is normal.
    if (isKubeError(error, "conflict") || isKubeError(error, "alreadyExists")) {
      return this.#log.debug("Another process wrote the Lease first", { error });
    }
    const { events, lease } = this.#options;
    const kind = error instanceof KubeError ? error.kind : "error";
    if (!this.#trouble.isNew(kind)) return this.#log.debug("Cannot use the Lease", { error });
    const advice = kind === "forbidden" ? toAdvice(lease) : undefined;
    this.#log.warn("Cannot use the Lease", { error, advice });
    // If the API server does not answer, it accepts no Event either.
    if (kind !== "forbidden" && kind !== "invalid") return;
    const message = [describeError(error), advice].filter(Boolean).join(": ");
    events.record(toSubject(lease), toEvent(LEADER_EVENTS.failed, message));
  }

  #record(lease: Lease | undefined, did: string): void {
    const { events, identity } = this.#options;
    const event = toEvent(LEADER_EVENTS.changed, `${identity} ${did}`);
    events.record(lease ?? toSubject(this.#options.lease), event);
  }

  #setLeader(value: 0 | 1): void {
    this.#options.metrics.isLeader.set(value, { name: this.#options.lease.name });
  }
}

/** The missing RBAC rule. */
function toAdvice({ namespace, name }: LeaseName): string {
  return (
    `allow get and update of leases (API group coordination.k8s.io) named "${name}", ` +
    `and create of leases, by a Role in namespace "${namespace}"`
  );
}

/** A Lease for Events, if none was read. */
function toSubject({ namespace, name }: LeaseName): Lease {
  const { apiVersion, kind } = LEASES;
  return { apiVersion, kind, metadata: { namespace, name } };
}
