/**
 * One replica of any program: from its composition root to the edge of its sockets, again and again as it is started.
 * @module
 */
import type { AppOptions } from "../../../lib/app/options.ts";
import { Fence } from "../../../lib/core/fence.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { createKubeClient } from "../../../lib/kube/api/http_client.ts";
import { toElectionDeadlineMs } from "../../../lib/kube/election/leader.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import {
  createRequestMetrics,
  toTransportError,
  type Transport,
  type TransportRequest,
} from "../../../lib/kube/api/request.ts";
import type { Random } from "../../support/random.ts";
import type { Timeline } from "../timeline.ts";
import { type Trace, createTraceLog } from "../trace.ts";
import { type ApiServer, LEASE, type LeasePath } from "./api_server.ts";
import { Link } from "./link.ts";
import { type ClockErrors, Process } from "./process.ts";

/** The times of an election, in milliseconds. */
export interface ElectionTimes {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** Those of Kubernetes. */
const ELECTION: ElectionTimes = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};

/** What a {@linkcode Program} is part of. */
export interface ProgramOptions {
  readonly name: string;
  readonly timeline: Timeline;
  readonly random: Random;
  readonly trace: Trace;
  readonly server: ApiServer;
  /** @default {that of the cloud controller manager} */
  readonly lease?: LeasePath;
  /** @default {those of Kubernetes} */
  readonly election?: ElectionTimes;
  /** Told of each request to the API server as it is sent. Returns what is told when that has its end. */
  readonly onSend: (process: Process, request: TransportRequest) => (() => void) | void;
  /** Told that the API server answers a request. Returns what is told when a good answer reached the process. */
  readonly onServe?: (process: Process, request: TransportRequest) => () => void;
  /** Told of each piece of a watch that reaches a process. */
  readonly onPiece?: (process: Process, piece: Uint8Array) => void;
}

/** A process and everything that belongs to it. */
export interface Running {
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

/** What every process has, whatever it runs. */
type Base = Required<
  Pick<AppOptions, "client" | "clock" | "election" | "fence" | "host" | "log" | "metrics">
>;

/** One process after the other. */
export abstract class Program<One extends Running, Options extends ProgramOptions> {
  /** Every process that ever was, the newest last. */
  readonly incarnations: One[] = [];
  protected readonly options: Options;

  constructor(options: Options) {
    this.options = options;
  }

  /** Adds what only this program has to a process. */
  protected abstract create(running: Running): One;

  /** Runs a process until it ends. */
  protected abstract run(one: One): Promise<void>;

  get name(): string {
    return this.options.name;
  }

  /** The process that runs, or is frozen; absent when none does. */
  get current(): One | undefined {
    const last = this.incarnations.at(-1);
    return last === undefined || last.end || last.process.isDead ? undefined : last;
  }

  /** Starts a process that remembers nothing. */
  start(errors: ClockErrors): One {
    const { name, timeline, random, trace, onPiece } = this.options;
    const process = new Process(`${name}${this.incarnations.length + 1}`, timeline, errors);
    const link = (watched?: (piece: Uint8Array) => void): Link =>
      new Link({ process, timeline, random, onPiece: watched });
    const one = this.create({
      process,
      kube: link(onPiece && ((piece) => onPiece(process, piece))),
      election: link(),
      cloud: link(),
      metrics: new MetricsRegistry(),
      stop: new AbortController(),
      end: undefined,
    });
    this.incarnations.push(one);
    trace.note(process.name, "starts");
    const end = (error?: unknown): void => {
      one.end = { error, atMs: timeline.monotonic() };
      const how = error instanceof Error ? `: ${error.message}` : "";
      trace.note(process.name, `ends${how}`);
    };
    this.run(one).then(() => end(), end);
    return one;
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

  /** @param onMessage Told of what the process says */
  protected toBase(one: One, onMessage: (message: string) => void = () => undefined): Base {
    const { trace, lease = LEASE, election: times = ELECTION } = this.options;
    const { process, metrics, kube, election } = one;
    const { name, clock } = process;
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
    const electing = toClient(election, { component: "leader-election", deadlineMs });
    return {
      fence: new Fence(),
      client: toClient(kube, {}),
      clock,
      log: createTraceLog(trace, name, onMessage),
      metrics,
      host: name,
      election: { client: electing, ...lease, ...times },
    };
  }

  #toTransport(process: Process, link: Link): Transport {
    const { server, onSend, onServe } = this.options;
    return {
      host: "memory",
      generation: 0,
      giveUp: () => undefined,
      send: async (sent, _credential, signal) => {
        signal.throwIfAborted();
        const { method, path, headers, body } = sent;
        const over = onSend(process, sent);
        const request = new Request(`http://memory${path}`, {
          method,
          headers: { ...headers },
          ...(body !== undefined && { body }),
        });
        let onArrival: (() => void) | undefined;
        try {
          const reply = await link.send(async () => {
            const outcome = await server.answer(process.name, request);
            onArrival = onServe?.(process, sent);
            return outcome;
          }, signal);
          if (reply.ok) onArrival?.();
          return reply;
        } catch (error) {
          throw toTransportError(error, signal, "the API server");
        } finally {
          over?.();
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
