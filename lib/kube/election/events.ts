/**
 * Reports leader election in the log, in Events on the Lease and in metrics.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { describeError } from "../../core/errors.ts";
import { type Logger, MessageDedup } from "../../core/log.ts";
import { isKubeError, KubeError } from "../api/errors.ts";
import type { EventRecorder } from "../events/events.ts";
import { toEvent } from "../events/words.ts";
import { type Lease, LEASES } from "../kinds/lease.ts";
import type { LeaseName } from "./lease.ts";
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

/** What an {@linkcode ElectionEvents} needs. */
export interface ElectionEventsOptions {
  readonly lease: LeaseName;
  /** Unique: no other process ever has it. */
  readonly identity: string;
  readonly events: EventRecorder;
  readonly metrics: LeaderMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Notified when the Lease can be used again, and when leadership begins: both show that the API server answers. */
  readonly recovery?: Recovery;
}

/** How often the same problem is logged. */
const REPEAT_MS = 60_000;

/** Reports what one process does with its Lease. */
export class ElectionEvents {
  readonly #options: ElectionEventsOptions;
  readonly #log: Logger;
  /** The holder that was last logged. */
  #holder: string | undefined;
  readonly #trouble: MessageDedup;

  constructor(options: ElectionEventsOptions) {
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
