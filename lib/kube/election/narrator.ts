/**
 * What a leader election says in the log, in Events on its Lease and in metrics.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { describeError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import type { Counter, Gauge, MetricsRegistry } from "../../core/metrics.ts";
import { isKubeError, KubeError } from "../api/errors.ts";
import type { EventRecorder } from "../events/events.ts";
import { LEADER_EVENTS } from "./words.ts";
import { type Lease, LEASES } from "../kinds/lease.ts";
import type { LeaseName } from "./lease.ts";
import type { Recovery } from "../api/recovery.ts";

/** Metrics of leader election, with the names that Kubernetes components use. */
export interface LeaderMetrics {
  readonly isLeader: Gauge;
  readonly slowPaths: Counter;
}

/** What an {@linkcode ElectionNarrator} works with. */
export interface ElectionNarratorOptions {
  readonly lease: LeaseName;
  readonly identity: string;
  readonly events: EventRecorder;
  readonly metrics: LeaderMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told when the Lease can be used again, and when leadership begins: then the API server surely answers. */
  readonly recovery?: Recovery;
}

/** How often the same trouble is told. */
const REPEAT_MS = 60_000;

/** Registers the metrics of leader election. */
export function createLeaderMetrics(metrics: MetricsRegistry): LeaderMetrics {
  return {
    isLeader: metrics.gauge({
      name: "leader_election_master_status",
      help: "1 while this process leads, else 0, by Lease.",
    }),
    slowPaths: metrics.counter({
      name: "leader_election_slowpath_total",
      help: "Renewals before which the Lease had to be read, by Lease.",
    }),
  };
}

/** Speaks for one process about one Lease. */
export class ElectionNarrator {
  readonly #options: ElectionNarratorOptions;
  readonly #log: Logger;
  /** Who was last said to hold the Lease. */
  #holder: string | undefined;
  /** The last trouble that was told, and when. */
  #trouble: { readonly kind: string; readonly atMs: number } | undefined;

  constructor(options: ElectionNarratorOptions) {
    const { lease, identity } = options;
    this.#options = options;
    this.#log = options.log.with({ lease: `${lease.namespace}/${lease.name}`, identity });
    this.#setLeader(0);
  }

  countSlowPath(): void {
    this.#options.metrics.slowPaths.inc({ name: this.#options.lease.name });
  }

  /** Somebody else holds the Lease; told once for each holder. @param holder `""`: who held it may not know yet */
  tellStandby(holder: string): void {
    this.noteAnswer();
    if (holder === this.#holder) return;
    this.#holder = holder;
    if (holder !== "") this.#log.info("Stands by: another process leads", { holder });
    else this.#log.info("Waits: the Lease was taken from its holder, who may not know yet");
  }

  tellLeading(lease: Lease | undefined): void {
    this.noteAnswer();
    this.#setLeader(1);
    this.#log.info("Became leader");
    this.#options.recovery?.tell();
    this.#record(lease, "became leader");
  }

  /** @param why Absent when we stop of our own will */
  tellStopped(lease: Lease | undefined, why?: string): void {
    this.#setLeader(0);
    // In the very words of the Go controllers, by which people look for it.
    if (why === undefined) this.#log.info("Stopped leading");
    else this.#log.error("leaderelection lost", { reason: why });
    this.#record(lease, "stopped leading");
  }

  /** The trouble that was told, if any, is over. */
  noteAnswer(): void {
    if (this.#trouble === undefined) return;
    this.#trouble = undefined;
    this.#log.info("The Lease can be used again");
    this.#options.recovery?.tell();
  }

  /** The Lease could not be read or written; told when the trouble is new, and every minute. */
  tellTrouble(error: unknown): void {
    // Somebody else was faster, which is how it should be.
    if (isKubeError(error, "conflict") || isKubeError(error, "alreadyExists")) {
      return this.#log.debug("Somebody else wrote the Lease first", { error });
    }
    const { clock, events, lease } = this.#options;
    const kind = error instanceof KubeError ? error.kind : "error";
    const atMs = clock.monotonic();
    const isKnown = kind === this.#trouble?.kind && atMs - this.#trouble.atMs < REPEAT_MS;
    if (isKnown) return this.#log.debug("Cannot use the Lease", { error });
    this.#trouble = { kind, atMs };
    const advice = kind === "forbidden" ? toAdvice(lease) : undefined;
    this.#log.warn("Cannot use the Lease", { error, advice });
    // An API server that does not answer takes no Event either.
    if (kind !== "forbidden" && kind !== "invalid") return;
    const { type, reason } = LEADER_EVENTS.failed;
    const message = [describeError(error), advice].filter(Boolean).join(": ");
    events.record(toSubject(lease), { type, reason, message });
  }

  #record(lease: Lease | undefined, did: string): void {
    const { events, identity } = this.#options;
    const { type, reason } = LEADER_EVENTS.changed;
    const message = `${identity} ${did}`;
    events.record(lease ?? toSubject(this.#options.lease), { type, reason, message });
  }

  #setLeader(value: 0 | 1): void {
    this.#options.metrics.isLeader.set(value, { name: this.#options.lease.name });
  }
}

/** The rule that is missing, as RBAC has it. */
function toAdvice({ namespace, name }: LeaseName): string {
  return (
    `allow get and update of leases (API group coordination.k8s.io) named "${name}", ` +
    `and create of leases, by a Role in namespace "${namespace}"`
  );
}

/** A Lease that was never read, to speak of. */
function toSubject({ namespace, name }: LeaseName): Lease {
  const { apiVersion, kind } = LEASES;
  return { apiVersion, kind, metadata: { namespace, name } };
}
