/**
 * One process with the SIPCluster controller alone, from its composition root to the edge of its sockets.
 * @module
 */
import { runApp } from "../../../lib/app/app.ts";
import type { AppOptions } from "../../../lib/app/options.ts";
import { sipClusterController } from "../../../lib/controllers/sipcluster/definition.ts";
import { LEASE as LEASE_NAME } from "../../../lib/controllers/sipcluster/words.ts";
import { loadControllers } from "../../../lib/controllers/load.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { createKubeClient } from "../../../lib/kube/api/http_client.ts";
import { toElectionDeadlineMs } from "../../../lib/kube/election/leader.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import { createRequestMetrics } from "../../../lib/kube/api/request.ts";
import {
  type Transport,
  type TransportRequest,
  toTransportError,
} from "../../../lib/kube/api/transport.ts";
import type { Random } from "../../support/random.ts";
import type { Timeline } from "../timeline.ts";
import type { Trace } from "../trace.ts";
import { createTraceLog } from "../trace_log.ts";
import type { ApiServer, LeasePath } from "../world/api_server.ts";
import { Link } from "../world/link.ts";
import { type ClockErrors, Process } from "../world/process.ts";
import { ELECTION } from "../world/replica.ts";

const LOADED = await loadControllers([sipClusterController]);

/** The Lease of the controller. */
export const SIP_LEASE: LeasePath = { namespace: "kube-system", name: LEASE_NAME };

/** What a replica is part of. */
export interface SipReplicaOptions {
  readonly name: string;
  readonly timeline: Timeline;
  readonly random: Random;
  readonly trace: Trace;
  readonly server: ApiServer;
  /** Told of each request to the API server as it is sent. */
  readonly onSend: (process: Process, request: TransportRequest) => void;
}

/** A process and what belongs to it. */
export interface SipProcess {
  readonly process: Process;
  readonly kube: Link;
  readonly election: Link;
  readonly stop: AbortController;
  readonly metrics: MetricsRegistry;
  /** Whether it ended by itself. */
  hasEnded: boolean;
}

/** A replica: one process after the other. */
export class SipReplica {
  readonly name: string;
  readonly #options: SipReplicaOptions;
  /** Every process that ever was, the newest last. */
  readonly processes: SipProcess[] = [];

  constructor(options: SipReplicaOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** The process that runs or is frozen; absent when none does. */
  get current(): SipProcess | undefined {
    const last = this.processes.at(-1);
    return last === undefined || last.hasEnded || last.process.isDead ? undefined : last;
  }

  /** Starts a process that remembers nothing. */
  start(errors: ClockErrors): void {
    const { name, timeline, random, trace } = this.#options;
    const process = new Process(`${name}${this.processes.length + 1}`, timeline, errors);
    const link = (): Link => new Link({ process, timeline, random });
    const one: SipProcess = {
      process,
      kube: link(),
      election: link(),
      stop: new AbortController(),
      metrics: new MetricsRegistry(),
      hasEnded: false,
    };
    this.processes.push(one);
    trace.note(process.name, "starts");
    const end = (error?: unknown): void => {
      one.hasEnded = true;
      trace.note(process.name, `ends${error instanceof Error ? `: ${error.message}` : ""}`);
    };
    runApp(this.#toOptions(one), one.stop.signal).then(() => end(), end);
  }

  /** As SIGKILL: its connections close, and nothing happens in it any more. */
  kill(): void {
    const { current } = this;
    if (current === undefined) return;
    current.process.kill();
    for (const link of [current.kube, current.election]) link.reset();
  }

  #toOptions({ process, metrics, kube, election }: SipProcess): AppOptions {
    const { trace } = this.#options;
    const { name, clock } = process;
    const log = createTraceLog(trace, name, () => undefined);
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
    const deadlineMs = toElectionDeadlineMs(ELECTION);
    const electing = toClient(election, { component: "leader-election", deadlineMs });
    return {
      client: toClient(kube, {}),
      clock,
      log,
      metrics,
      host: name,
      controllers: LOADED,
      concurrentNodeSyncs: 1,
      flags: { "sip-network-data-period": 60_000 },
      election: { client: electing, ...SIP_LEASE, ...ELECTION },
    };
  }

  #toTransport(process: Process, link: Link): Transport {
    const { server, onSend } = this.#options;
    return {
      host: "memory",
      generation: 0,
      giveUp: () => undefined,
      send: async (sent, _credential, signal) => {
        signal.throwIfAborted();
        const { method, path, headers, body } = sent;
        onSend(process, sent);
        const request = new Request(`http://memory${path}`, {
          method,
          headers: { ...headers },
          ...(body !== undefined && { body }),
        });
        try {
          return await link.send(() => server.answer(process.name, request), signal);
        } catch (error) {
          throw toTransportError(error, signal, "the API server");
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
