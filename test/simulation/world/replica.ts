/**
 * One replica: the real program from its composition root to the edge of its sockets, again and again as it is started.
 * @module
 */
import { Announcer, toOwnObject } from "../../../lib/app/announcer.ts";
import { runApp } from "../../../lib/app/app.ts";
import type { AppOptions } from "../../../lib/app/options.ts";
import type { OutOfServiceSettings } from "../../../lib/cloud/deletion/off_streaks.ts";
import { OUT_OF_SERVICE } from "../../../lib/cloud/deletion/out_of_service_settings.ts";
import { DELETION } from "../../../lib/cloud/deletion/settings.ts";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import type { ProviderDefinition } from "../../../lib/cloud/provider_definition.ts";
import { parseProviderConfig, type ProviderConfig } from "../../../lib/config/provider_config.ts";
import type { ControllerDefinition } from "../../../lib/controllers/definition.ts";
import { loadControllers } from "../../../lib/controllers/load.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { Fence } from "../../../lib/core/fence.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { createKubeClient } from "../../../lib/kube/api/http_client.ts";
import { toElectionDeadlineMs } from "../../../lib/kube/election/leader.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import { createRequestMetrics } from "../../../lib/kube/api/request.ts";
import {
  type Transport,
  type TransportRequest,
  toTransportError,
} from "../../../lib/kube/api/transport.ts";
import { type ApiServer, LEASE } from "./api_server.ts";
import { Link } from "./link.ts";
import { type ClockErrors, Process } from "./process.ts";
import { type Said, type Saying, type SettingsFile, SETTINGS_PATH } from "./settings_file.ts";
import type { Random } from "../../support/random.ts";
import type { Timeline } from "../timeline.ts";
import type { Trace } from "../trace.ts";
import { createTraceLog } from "../trace_log.ts";

// What is loaded when it is needed takes longer the first time, and a seed tells the same story each time.
await Promise.all([import("../../../lib/config/yaml_places.ts"), import("yaml")]);

const OUT_OF_SERVICE_NAME = "cloud-node-out-of-service";
const SERVICE_NAME = "service";
const LOADED = await loadControllers(CONTROLLERS);

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

/** What a process says when it uses what its file says now, and when it does not. */
const TAKEN = "The configuration file changed; its settings are in use";
const REFUSED = "Cannot use the changed configuration file; keeping the old settings";

/** What a {@linkcode Replica} is part of. */
export interface ReplicaOptions {
  readonly name: string;
  readonly timeline: Timeline;
  readonly random: Random;
  readonly trace: Trace;
  readonly server: ApiServer;
  readonly definition: ProviderDefinition;
  readonly file: SettingsFile;
  readonly election: ElectionTimes;
  /** Lets the out-of-service controller run, too, at first as careful as this says. */
  readonly outOfService?: OutOfServiceSettings;
  /** Told of each request to the API server as it is sent, and when the process has its answer or gave up. */
  readonly onSend: (process: Process, request: TransportRequest) => () => void;
  /** Flags of the controller of Services; absent: it does not run. */
  readonly serviceFlags?: Readonly<Record<string, number>>;
  /** Told that the API server answers a request. Returns what tells that the answer reached the process. */
  readonly onServe: (process: Process, request: TransportRequest) => () => void;
  /** Told of each piece of a watch that reaches a process. */
  readonly onPiece: (process: Process, piece: Uint8Array) => void;
  /** Told when a process says that it could not take an inventory. */
  readonly onFailure: (process: Process) => void;
  /** Told when a process has a new inventory. */
  readonly onInventory: (process: Process, inventory: Inventory) => void;
  /** Told of each list of all Nodes that reaches a process. */
  readonly onList: (process: Process, nodes: readonly Node[]) => void;
  /** Told what a process says of its settings file, as it read it last. */
  readonly onSettings: (incarnation: Incarnation, isTaken: boolean) => void;
}

/** Settings in use. */
export interface Use {
  readonly sinceMs: number;
  readonly said: Said;
}

/** What a process knows of the cloud. */
export interface Knowledge {
  readonly askedMs: number;
  readonly said: Said;
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
  /** What it read last in its settings file. */
  seen: Saying;
  /** Under which settings it has been, the last in use; empty when it could use none. */
  readonly uses: Use[];
  /** When it asked for the inventory that it has in use, and by which settings; absent before the first. */
  inventory: Knowledge | undefined;
  /** When it first held the Lease, in monotonic milliseconds. */
  ledMs: number | undefined;
  /** How it ended by itself; absent while it runs, and when it was killed. */
  end: { readonly error: unknown; readonly atMs: number } | undefined;
}

/** A replica. */
export class Replica {
  readonly name: string;
  readonly file: SettingsFile;
  readonly #options: ReplicaOptions;
  /** Every process that ever was, the newest last. */
  readonly incarnations: Incarnation[] = [];

  constructor(options: ReplicaOptions) {
    this.name = options.name;
    this.file = options.file;
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
      seen: this.file.saying,
      uses: [],
      inventory: undefined,
      ledMs: undefined,
      end: undefined,
    };
    this.incarnations.push(incarnation);
    trace.note(process.name, "starts");
    const end = (error?: unknown): void => {
      incarnation.end = { error, atMs: timeline.monotonic() };
      const how = error instanceof Error ? `: ${error.message}` : "";
      trace.note(process.name, `ends${how}`);
    };
    this.#run(incarnation).then(() => end(), end);
    return incarnation;
  }

  /** @throws {ConfigError} when it cannot use its settings */
  async #run(incarnation: Incarnation): Promise<void> {
    const { file } = this;
    const { definition } = this.#options;
    const { stop, uses, process } = incarnation;
    const { said } = file.saying;
    const options = {
      path: SETTINGS_PATH,
      env: toEnvironment(process),
      definition,
      sections: [DELETION],
    };
    const config = await parseProviderConfig(file.read(process.name), options);
    if (said === undefined) throw new TypeError("It starts with settings that are wrong");
    uses.push({ sinceMs: this.#options.timeline.monotonic(), said });
    await runApp(this.#toOptions(incarnation, config), stop.signal);
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

  #toOptions(incarnation: Incarnation, current: ProviderConfig<unknown>): AppOptions {
    const {
      trace,
      definition,
      election: times,
      onFailure,
      onSettings,
      outOfService,
      serviceFlags = {},
    } = this.#options;
    const { process, metrics, stop } = incarnation;
    const { name, clock } = process;
    const log = createTraceLog(trace, name, (message) => {
      if (message === "Cannot take inventory") onFailure(process);
      if (message === TAKEN || message === REFUSED) onSettings(incarnation, message === TAKEN);
    });
    const fence = new Fence();
    const deps = { clock, metrics, log, signal: stop.signal, fence };
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
      provider: this.#watchInventories(
        definition.create(current.settings, deps),
        (askedMs, inventory) => {
          const { said } = incarnation.uses.at(-1) ?? {};
          if (said) incarnation.inventory = { askedMs, said };
          this.#options.onInventory(process, inventory);
        },
      ),
      fence,
      announcer: new Announcer(toOwnObject({}, definition.name)),
      configuration: {
        path: SETTINGS_PATH,
        read: async () => {
          incarnation.seen = this.file.saying;
          return this.file.read(name);
        },
        env: toEnvironment(process),
        definition,
        sections: [DELETION],
        current,
      },
      client: toClient(incarnation.kube, {}),
      clock,
      log,
      metrics,
      host: name,
      controllers: LOADED.filter(({ definition }) => this.#isChosen(definition)),
      concurrentNodeSyncs: 4,
      flags: { "node-status-update-frequency": 120_000, ...serviceFlags },
      sections: new Map<string, unknown>([
        ...current.sections,
        ...(outOfService ? [[OUT_OF_SERVICE.key, outOfService] as const] : []),
      ]),
      election: { client: electing, ...LEASE, ...times },
    };
  }

  #isChosen({ name, isOffByDefault = false }: ControllerDefinition): boolean {
    const { outOfService, serviceFlags } = this.#options;
    if (name === OUT_OF_SERVICE_NAME) return outOfService !== undefined;
    if (name === SERVICE_NAME) return serviceFlags !== undefined;
    return !isOffByDefault;
  }

  /** What a process knows of the cloud is as old as its inventory, and nothing outside tells how old that is. */
  #watchInventories(
    provider: Provider,
    onInventory: (askedMs: number, inventory: Inventory) => void,
  ): Provider {
    const { timeline } = this.#options;
    const list = provider.listInventory.bind(provider);
    provider.listInventory = async (...asked) => {
      const askedMs = timeline.monotonic();
      const inventory = await list(...asked);
      onInventory(askedMs, inventory);
      return inventory;
    };
    return provider;
  }

  #toTransport(process: Process, link: Link): Transport {
    const { server, onSend, onServe, onList } = this.#options;
    return {
      host: "memory",
      generation: 0,
      giveUp: () => undefined,
      send: async (sent, _credential, signal) => {
        signal.throwIfAborted();
        const { method, path, headers, body } = sent;
        const arrived = onSend(process, sent);
        const request = new Request(`http://memory${path}`, {
          method,
          headers: { ...headers },
          ...(body !== undefined && { body }),
        });
        let nodes: readonly Node[] = [];
        let onArrival = (): void => undefined;
        try {
          const reply = await link.send(async () => {
            const outcome = await server.answer(process.name, request);
            ({ nodes } = server);
            onArrival = onServe(process, sent);
            return outcome;
          }, signal);
          if (reply.ok && isListOfNodes(sent)) onList(process, nodes);
          if (reply.ok) onArrival();
          return reply;
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

function isListOfNodes({ method, path }: TransportRequest): boolean {
  return method === "GET" && /^\/api\/v1\/nodes(\?|$)/.test(path) && !path.includes("watch=");
}

/** The host of the URL says who asks. Where the settings hold the URL, it is in the file. */
function toEnvironment({ name }: Process): Readonly<Record<string, string>> {
  return { XOA_URL: `http://${name}.memory` };
}

const CREDENTIALS = {
  server: "http://memory",
  current: () => Promise.resolve({ headers: {}, tls: {}, version: 1 }),
  invalidate: () => undefined,
};
