/**
 * Processes that stand for one Lease, on a clock that a test moves: each with a clock of its own that may be wrong, a
 * network that may be slow or broken, and the power to stand still.
 * @module
 */
import type { Clock } from "../../../../lib/core/clock.ts";
import { type Logger, silentLogger } from "../../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../../lib/core/metrics.ts";
import type { KubeClient } from "../../../../lib/kube/api/client.ts";
import {
  createLeaderMetrics,
  type ElectionTimes,
  LeaderElector,
  toElectionDeadlineMs,
} from "../../../../lib/kube/election/leader.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import type { EventOptions } from "../../../../lib/kube/events/events.ts";
import { findHolder } from "../../../../lib/kube/election/lease.ts";
import type { Lease } from "../../../../lib/kube/kinds/lease.ts";
import type { KubeObject } from "../../../../lib/kube/kinds/resource.ts";
import { Faults } from "../../../../lib/simulator/kubernetes/faults.ts";
import { handle, type HandlerContext } from "../../../../lib/simulator/kubernetes/handler.ts";
import { ObjectAccess } from "../../../../lib/simulator/kubernetes/object_access.ts";
import { Registry } from "../../../../lib/simulator/kubernetes/registry.ts";
import { RequestLog } from "../../../../lib/simulator/kubernetes/requests/log.ts";
import { Watches } from "../../../../lib/simulator/kubernetes/watches.ts";
import type { ManualClock } from "../../manual_clock.ts";
import { createMemoryClient, toMemoryRequest } from "../memory_client.ts";
import type { Recovery, Transport } from "../../../../lib/kube/api/request.ts";

export const TIMES: ElectionTimes = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};
export const LEASE = { namespace: "kube-system", name: "ccm" } as const;

const never = new AbortController().signal;

/** An API server in memory. It does what arrives, whether anybody still waits for the answer or not. */
export class MemoryApiServer {
  readonly clock: ManualClock;
  readonly faults: Faults = new Faults();
  readonly requests: RequestLog = new RequestLog();
  readonly objects: ObjectAccess;
  readonly #context: HandlerContext;
  /** Told when the Lease has another holder than before; `""` when it has none. */
  onHolder: (holder: string) => void = () => undefined;
  #holder = "";

  constructor(clock: ManualClock) {
    this.clock = clock;
    const registry = new Registry(clock, 1_000);
    const watches = new Watches({ clock, registry, faults: this.faults });
    this.objects = new ObjectAccess(registry);
    this.#context = { clock, registry, watches, faults: this.faults, requests: this.requests };
  }

  get lease(): Lease | undefined {
    return this.objects.get("leases", LEASE) as Lease | undefined;
  }

  async answer(request: Request): Promise<Response> {
    const response = await handle(this.#context, request);
    const holder = this.lease === undefined ? "" : findHolder(this.lease);
    if (holder !== this.#holder) {
      this.#holder = holder;
      this.onHolder(holder);
    }
    return response;
  }
}

/** What can be wrong with a process. */
export interface ReplicaOptions {
  readonly name: string;
  readonly times?: ElectionTimes;
  /** How far its wall clock is off, in milliseconds. @default {0} */
  readonly skewMs?: number;
  /** How fast its clocks go. @default {1} */
  readonly rate?: number;
  /** In [0, 1). @default {() => 0.5} */
  readonly random?: () => number;
  readonly log?: Logger;
  readonly recovery?: Recovery;
}

/** How long a request takes there and back, in milliseconds; `lost` ends it on its way. */
export interface Trip {
  readonly thereMs: number;
  readonly backMs: number;
  readonly lost?: "there" | "back";
}

/** One process. */
export class Replica {
  readonly name: string;
  readonly elector: LeaderElector;
  readonly metrics: MetricsRegistry = new MetricsRegistry();
  readonly events: { readonly object: KubeObject; readonly event: EventOptions }[] = [];
  /** How the next request travels. @default at once */
  trip: () => Trip = () => ({ thereMs: 0, backMs: 0 });
  /** How its run ended; absent while it runs. `undefined` as the value stands for a good end. */
  end: { readonly error: unknown } | undefined;
  readonly clock: Clock;
  readonly client: KubeClient;
  readonly #server: MemoryApiServer;
  readonly #stop = new AbortController();
  #resumed: Promise<void> | undefined;
  #resume: (() => void) | undefined;

  constructor(server: MemoryApiServer, options: ReplicaOptions) {
    const { name, times = TIMES, log = silentLogger, random = () => 0.5, recovery } = options;
    this.name = name;
    this.#server = server;
    this.clock = this.#toClock(options);
    this.client = createMemoryClient(this.#createSend(), {
      clock: this.clock,
      metrics: this.metrics,
      component: "leader-election",
      deadlineMs: toElectionDeadlineMs(times),
    });
    this.elector = new LeaderElector({
      client: this.client,
      lease: LEASE,
      times,
      identity: name,
      events: { record: (object, event) => void this.events.push({ object, event }) },
      metrics: createLeaderMetrics(this.metrics),
      clock: this.clock,
      log,
      random,
      ...(recovery && { recovery }),
    });
  }

  get isPaused(): boolean {
    return this.#resumed !== undefined;
  }

  /** Stands for leadership. @param lead @default works until told to stop, and stops at once */
  start(lead: (signal: AbortSignal) => Promise<void> = (signal) => untilAborted(signal)): void {
    this.elector.run(lead, this.#stop.signal).then(
      () => (this.end = { error: undefined }),
      (error: unknown) => (this.end = { error }),
    );
  }

  /** As SIGTERM. */
  stop(): void {
    this.#stop.abort(new Error("SIGTERM"));
  }

  /** As SIGSTOP: nothing happens in it, but its clocks go on. What it had sent is on its way. */
  pause(): void {
    if (this.isPaused) return;
    this.#resumed = new Promise((resolve) => (this.#resume = resolve));
  }

  /** As SIGCONT. */
  resume(): void {
    this.#resume?.();
    this.#resumed = undefined;
  }

  #toClock({ skewMs = 0, rate = 1 }: ReplicaOptions): Clock {
    const { clock } = this.#server;
    return {
      now: () => clock.now() * rate + skewMs,
      monotonic: () => clock.monotonic() * rate,
      sleep: async (ms, signal) => {
        await clock.sleep(ms / rate, signal);
        await this.#resumed;
        signal.throwIfAborted();
      },
    };
  }

  #createSend(): Transport["send"] {
    const { clock } = this.#server;
    const travel = async (request: Request, signal: AbortSignal): Promise<Response> => {
      const { thereMs, backMs, lost } = this.trip();
      await clock.sleep(thereMs, never);
      const broken = new KubeError("unavailable", "the network is broken");
      if (lost === "there") throw broken;
      const response = await this.#server.answer(request);
      await clock.sleep(backMs, signal);
      if (lost === "back") throw broken;
      return response;
    };
    return async (sent, _credential, signal) => {
      signal.throwIfAborted();
      const answer = travel(toMemoryRequest(sent), signal);
      // Who has hung up does not hear of it any more; what was sent arrives all the same.
      answer.catch(() => undefined);
      const response = await Promise.race([answer, untilRejected(signal)]);
      await this.#resumed;
      signal.throwIfAborted();
      return response;
    };
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function untilRejected(signal: AbortSignal): Promise<never> {
  return untilAborted(signal).then(() => {
    throw signal.reason;
  });
}
