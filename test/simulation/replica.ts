/**
 * One replica: the real program from its composition root to the edge of its sockets, again and again as it is started.
 * @module
 */
import { type AppOptions, runApp } from "../../lib/app/app.ts";
import type { DeletionSettings } from "../../lib/cloud/deletion_guard.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { createKubeClient } from "../../lib/kube/http_client.ts";
import { toElectionDeadlineMs } from "../../lib/kube/leader.ts";
import type { KubeClient } from "../../lib/kube/client.ts";
import { createRequestMetrics } from "../../lib/kube/request.ts";
import {
  type Transport,
  type TransportRequest,
  toTransportError,
} from "../../lib/kube/transport.ts";
import { parseXenOrchestraConfig } from "../../lib/providers/xenorchestra/config.ts";
import { xenOrchestra } from "../../lib/providers/xenorchestra/mod.ts";
import { type ApiServer, LEASE } from "./api_server.ts";
import { TOKEN } from "./cloud.ts";
import { Link } from "./link.ts";
import { type ClockErrors, Process } from "./process.ts";
import type { Random } from "../support/random.ts";
import type { Timeline } from "./timeline.ts";
import type { Trace } from "./trace.ts";
import { createTraceLog } from "./trace_log.ts";

/** The times of an election, in milliseconds. */
export interface ElectionTimes {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** Those of Kubernetes. */
export const ELECTION: ElectionTimes = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};

const CONTROLLERS = ["cloud-node", "cloud-node-label-sync", "cloud-node-lifecycle"];

/** What a {@linkcode Replica} is part of. */
export interface ReplicaOptions {
  readonly name: string;
  readonly timeline: Timeline;
  readonly random: Random;
  readonly trace: Trace;
  readonly server: ApiServer;
  readonly deletion: DeletionSettings;
  readonly refreshIntervalMs: number;
  readonly election: ElectionTimes;
  /** Told of each request to the API server as it is sent, and when the process has its answer or gave up. */
  readonly onSend: (process: Process, request: TransportRequest) => () => void;
  /** Told of each piece of a watch that reaches a process. */
  readonly onPiece: (process: Process, piece: Uint8Array) => void;
  /** Told when a process says that it could not take an inventory. */
  readonly onFailure: (process: Process) => void;
}

/** A process and everything that belongs to it. */
export interface Incarnation {
  readonly process: Process;
  /** To the API server, and for the election alone. */
  readonly kube: Link;
  readonly election: Link;
  readonly cloud: Link;
  readonly metrics: MetricsRegistry;
  readonly stop: AbortController;
  /** How it ended by itself; absent while it runs, and when it was killed. */
  end: { readonly error: unknown; readonly atMs: number } | undefined;
}

/** A replica. */
export class Replica {
  readonly name: string;
  readonly #options: ReplicaOptions;
  /** Every process that ever was, the newest last. */
  readonly incarnations: Incarnation[] = [];

  constructor(options: ReplicaOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** The process that runs, or is frozen; absent when none does. */
  get current(): Incarnation | undefined {
    const last = this.incarnations.at(-1);
    return last === undefined || last.end || last.process.isDead ? undefined : last;
  }

  /** Starts a process that remembers nothing. */
  start(errors: ClockErrors): Incarnation {
    const { name, timeline, random, trace, onPiece } = this.#options;
    const process = new Process(`${name}${this.incarnations.length + 1}`, timeline, errors);
    const link = (watched?: (piece: Uint8Array) => void): Link =>
      new Link({ process, timeline, random, onPiece: watched });
    const incarnation: Incarnation = {
      process,
      kube: link((piece) => onPiece(process, piece)),
      election: link(),
      cloud: link(),
      metrics: new MetricsRegistry(),
      stop: new AbortController(),
      end: undefined,
    };
    this.incarnations.push(incarnation);
    trace.note(process.name, "starts");
    const end = (error?: unknown): void => {
      incarnation.end = { error, atMs: timeline.monotonic() };
      const how = error instanceof Error ? `: ${error.message}` : "";
      trace.note(process.name, `ends${how}`);
    };
    runApp(this.#toOptions(incarnation), incarnation.stop.signal).then(() => end(), end);
    return incarnation;
  }

  /** As SIGTERM. */
  stop(): void {
    this.current?.stop.abort(new Error("SIGTERM"));
  }

  /** As SIGKILL: its connections close, and nothing happens in it any more. */
  kill(): void {
    const { current } = this;
    if (current === undefined) return;
    current.process.kill();
    for (const link of [current.kube, current.election, current.cloud]) link.reset();
  }

  #toOptions(incarnation: Incarnation): AppOptions {
    const { trace, deletion, refreshIntervalMs, election: times, onFailure } = this.#options;
    const { process, metrics, stop } = incarnation;
    const { name, clock } = process;
    const log = createTraceLog(trace, name, (message) => {
      if (message === "Cannot take inventory") onFailure(process);
    });
    const { settings } = parseXenOrchestraConfig(
      { url: `http://${name}.memory`, token: TOKEN, refreshInterval: `${refreshIntervalMs}ms` },
      {},
    );
    if (settings === undefined) throw new Error("Cannot use the settings");
    const deps = { clock, metrics, log, signal: stop.signal };
    const requestMetrics = createRequestMetrics(metrics);
    const toClient = (link: Link, more: { component?: string; deadlineMs?: number }): KubeClient =>
      createKubeClient({
        credentials: CREDENTIALS,
        clock,
        metrics: requestMetrics,
        version: "test",
        transport: this.#toTransport(process, link),
        ...more,
      });
    const deadlineMs = toElectionDeadlineMs(times);
    const electing = toClient(incarnation.election, { component: "leader-election", deadlineMs });
    return {
      provider: xenOrchestra.create(settings, deps),
      client: toClient(incarnation.kube, {}),
      clock,
      log,
      metrics,
      host: name,
      controllers: new Set(CONTROLLERS),
      concurrentNodeSyncs: 4,
      nodeStatusUpdateFrequencyMs: 120_000,
      nodeMonitorPeriodMs: 5_000,
      deletion,
      election: { client: electing, ...LEASE, ...times },
    };
  }

  #toTransport(process: Process, link: Link): Transport {
    const { server, onSend } = this.#options;
    return {
      host: "memory",
      send: async (sent, _credential, signal) => {
        signal.throwIfAborted();
        const { method, path, headers, body } = sent;
        const arrived = onSend(process, sent);
        const request = new Request(`http://memory${path}`, {
          method,
          headers: { ...headers },
          ...(body !== undefined && { body }),
        });
        try {
          return await link.send(() => server.answer(process.name, request), signal);
        } catch (error) {
          throw toTransportError(error, signal, "the API server");
        } finally {
          arrived();
        }
      },
      close: () => undefined,
    };
  }
}

const CREDENTIALS = {
  server: "http://memory",
  current: () => Promise.resolve({ headers: {}, tls: {}, version: 1 }),
  invalidate: () => undefined,
};
