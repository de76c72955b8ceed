/**
 * A cluster and a CloudStack in memory, and one process after another between them.
 * @module
 */
import { runApp } from "../../lib/app/app.ts";
import type { AppOptions } from "../../lib/app/options.ts";
import type { LoadedController } from "../../lib/controllers/load.ts";
import { Fence } from "../../lib/core/fence.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { createKubeClient } from "../../lib/kube/api/http_client.ts";
import { cloudStack } from "../../lib/providers/cloudstack/mod.ts";
import { CloudStack, type CloudStackOptions } from "../../lib/simulator/cloudstack/cloudstack.ts";
import { Faults } from "../../lib/simulator/kubernetes/faults.ts";
import { handle, type HandlerContext } from "../../lib/simulator/kubernetes/handler.ts";
import { ObjectAccess } from "../../lib/simulator/kubernetes/object_access.ts";
import { Registry } from "../../lib/simulator/kubernetes/registry.ts";
import { RequestLog } from "../../lib/simulator/kubernetes/requests/log.ts";
import { Watches } from "../../lib/simulator/kubernetes/watches.ts";
import { ManualClock, settle } from "../support/manual_clock.ts";
import { MemoryServer } from "../support/net/memory_server.ts";
import { untilEnded } from "./ended.ts";
import type { Site } from "../support/services/site.ts";
import { askCloud, createMemoryTransport, Wire } from "./wire.ts";

/** Changes an answer of the cloud on its way. */
export type Bend = (command: string, reply: Response) => Promise<Response>;

/** What a {@linkcode Stage} needs. */
export interface StageOptions {
  readonly controllers: readonly LoadedController[];
  readonly site: Site;
  readonly settings?: CloudStackOptions["settings"];
}

interface Running {
  readonly wire: Wire;
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

const CREDENTIALS = {
  server: "http://kubernetes.memory",
  current: () => Promise.resolve({ headers: {}, tls: {}, version: 1 }),
  invalidate: () => undefined,
};

/** Cluster, cloud, and at most one process. */
export class Stage implements AsyncDisposable {
  readonly site: Site;
  readonly clock: ManualClock;
  readonly cloud: CloudStack;
  readonly objects: ObjectAccess;
  readonly #options: StageOptions;
  readonly #context: HandlerContext;
  readonly #ended = new AbortController();
  readonly #endServing: () => void;
  #process: Running | undefined;
  /** What happens to the answers of the cloud from now on. @default {nothing} */
  bend: Bend | undefined;

  constructor(options: StageOptions) {
    const { site, settings } = options;
    this.#options = options;
    this.site = site;
    const clock = new ManualClock(undefined, () => this.#rest());
    this.clock = clock;
    const registry = new Registry(clock, 10_000);
    const faults = new Faults();
    const watches = new Watches({ clock, registry, faults });
    this.objects = new ObjectAccess(registry);
    this.#context = { clock, registry, watches, faults, requests: new RequestLog() };
    this.cloud = new CloudStack({
      clock,
      signal: this.#ended.signal,
      world: site.world,
      ...(settings && { settings }),
    });
    const server = new MemoryServer((request, onWait) => {
      const process = this.#process;
      if (process === undefined) throw new Error("No process is there to ask");
      return askCloud(process.wire, request, async (asked, command) => {
        const outcome = await this.cloud.answer(asked, onWait);
        if (this.bend === undefined || outcome.kind !== "reply") return outcome;
        return { ...outcome, response: await this.bend(command, outcome.response) };
      });
    });
    this.#endServing = server.serve();
    this.#origin = server.origin;
    for (const node of site.nodes) this.objects.createNode(node);
  }

  readonly #origin: string;

  /** Starts a process that remembers nothing. */
  start(): Wire {
    const { clock } = this;
    const stop = new AbortController();
    const metrics = new MetricsRegistry();
    const fence = new Fence();
    const { apiKey, secretKey } = this.cloud.user;
    const raw = { apiUrl: `${this.#origin}/client/api`, apiKey, secretKey };
    const { settings, issues } = cloudStack.parseConfig(raw, {});
    if (settings === undefined) throw new Error(JSON.stringify(issues));
    const wire = new Wire(() => stop.abort(new Error("the process is killed")));
    const provider = cloudStack.create(settings, {
      clock,
      metrics,
      log: silentLogger,
      signal: stop.signal,
      fence,
    });
    const client = createKubeClient({
      credentials: CREDENTIALS,
      clock,
      metrics,
      version: "test",
      transport: createMemoryTransport(wire, (request) => handle(this.#context, request)),
    });
    const options: AppOptions = {
      provider,
      fence,
      client,
      clock,
      log: silentLogger,
      metrics,
      host: "test",
      controllers: this.#options.controllers,
      concurrentNodeSyncs: 4,
      flags: {},
    };
    this.#process = { wire, stop, ended: runApp(options, stop.signal).catch(() => undefined) };
    return wire;
  }

  /** Ends the process, however it takes it. */
  async stop(): Promise<void> {
    if (this.#process === undefined) return;
    const { stop, ended } = this.#process;
    stop.abort(new Error("the test stops the process"));
    await untilEnded(ended, this.clock);
    this.#process = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#ended.abort();
    this.#context.watches.drop();
    this.#endServing();
  }

  /** Until nothing is under way. */
  async #rest(): Promise<void> {
    await settle(2);
    for (
      let turns = 0;
      this.#process && this.#process.wire.underWay > 0 && turns < 50;
      turns += 1
    ) {
      await settle(1);
    }
  }
}
