/**
 * A replica with chosen controllers and a Lease of their own, from its composition root to the edge of its sockets.
 * @module
 */
import { runApp } from "../../../lib/app/app.ts";
import type { AppOptions } from "../../../lib/app/options.ts";
import type { MachineManagement } from "../../../lib/cloud/capabilities/machine_management.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import type { ProviderDeps } from "../../../lib/cloud/provider_definition.ts";
import type { ControllerModule } from "../../../lib/controllers/definition.ts";
import type { LoadedController } from "../../../lib/controllers/load.ts";
import { Fence } from "../../../lib/core/fence.ts";
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
import type { ApiServer, LeasePath } from "./api_server.ts";
import { Link } from "./link.ts";
import { type ClockErrors, Process } from "./process.ts";
import { ELECTION, type ElectionTimes } from "./replica.ts";

/** What a replica is part of. */
export interface ControllerReplicaOptions {
  readonly name: string;
  readonly timeline: Timeline;
  readonly random: Random;
  readonly trace: Trace;
  readonly server: ApiServer;
  readonly controllers: readonly LoadedController[];
  readonly lease: LeasePath;
  readonly flags: AppOptions["flags"];
  /** @default {those of Kubernetes} */
  readonly election?: ElectionTimes;
  /** Makes the cloud of a process. Absent: no controller needs one. */
  readonly createProvider?: (process: Process, deps: ProviderDeps) => Provider;
  /** Told of each request to the API server as it is sent. */
  readonly onSend: (process: Process, request: TransportRequest) => void;
}

/** A process and what belongs to it. */
export interface ControllerProcess {
  readonly process: Process;
  readonly kube: Link;
  readonly election: Link;
  readonly cloud: Link;
  readonly stop: AbortController;
  readonly metrics: MetricsRegistry;
  /** Whether it ended by itself. */
  hasEnded: boolean;
  /** What clients of its listener for management controllers would reach. Absent: it has none. */
  management?: MachineManagement;
}

/** A replica: one process after the other. */
export class ControllerReplica {
  readonly name: string;
  readonly #options: ControllerReplicaOptions;
  /** Every process that ever was, the newest last. */
  readonly processes: ControllerProcess[] = [];

  constructor(options: ControllerReplicaOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** The process that runs or is frozen; absent when none does. */
  get current(): ControllerProcess | undefined {
    const last = this.processes.at(-1);
    return last === undefined || last.hasEnded || last.process.isDead ? undefined : last;
  }

  /** Starts a process that remembers nothing. */
  start(errors: ClockErrors): void {
    const { name, timeline, random, trace } = this.#options;
    const process = new Process(`${name}${this.processes.length + 1}`, timeline, errors);
    const link = (): Link => new Link({ process, timeline, random });
    const one: ControllerProcess = {
      process,
      kube: link(),
      election: link(),
      cloud: link(),
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
    for (const link of [current.kube, current.election, current.cloud]) link.reset();
  }

  #toOptions(one: ControllerProcess): AppOptions {
    const { process, metrics, kube, election, stop } = one;
    const { trace, controllers, lease, flags, createProvider } = this.#options;
    const { election: times = ELECTION } = this.#options;
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
    const deadlineMs = toElectionDeadlineMs(times);
    const electing = toClient(election, { component: "leader-election", deadlineMs });
    const fence = new Fence();
    const provider = createProvider?.(process, { clock, metrics, log, signal: stop.signal, fence });
    return {
      ...(provider && { provider }),
      fence,
      client: toClient(kube, {}),
      clock,
      log,
      metrics,
      host: name,
      controllers: controllers.map((loaded) => withoutListener(loaded, one)),
      concurrentNodeSyncs: 1,
      flags,
      election: { client: electing, ...lease, ...times },
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

/** The controller without its listener, which would open a socket of the machine; what is behind it is kept. */
function withoutListener(
  { definition, module }: LoadedController,
  one: ControllerProcess,
): LoadedController {
  const create: ControllerModule["create"] = (context) => {
    const controller = module.create(context);
    const { managementListener: listener } = controller;
    if (listener === undefined) return controller;
    one.management = listener.management;
    Reflect.deleteProperty(controller, "managementListener");
    return controller;
  };
  return { definition, module: { create } };
}

const CREDENTIALS = {
  server: "http://memory",
  current: () => Promise.resolve({ headers: {}, tls: {}, version: 1 }),
  invalidate: () => undefined,
};
