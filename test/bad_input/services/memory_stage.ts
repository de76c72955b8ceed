/**
 * A cluster and a CloudStack in memory, and one process after another between them.
 * @module
 */
import { runApp } from "../../../lib/app/app.ts";
import type { AppOptions } from "../../../lib/app/options.ts";
import { abortable } from "../../../lib/core/abortable.ts";
import type { LoadedController } from "../../../lib/controllers/load.ts";
import { Fence } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { Transport } from "../../../lib/kube/api/transport.ts";
import { createKubeClient } from "../../../lib/kube/api/http_client.ts";
import { cloudStack } from "../../../lib/providers/cloudstack/mod.ts";
import {
  CloudStack,
  type CloudStackOptions,
} from "../../../lib/simulator/cloudstack/cloudstack.ts";
import { Faults } from "../../../lib/simulator/kubernetes/faults.ts";
import { handle, type HandlerContext } from "../../../lib/simulator/kubernetes/handler.ts";
import { ObjectAccess } from "../../../lib/simulator/kubernetes/object_access.ts";
import { Registry } from "../../../lib/simulator/kubernetes/registry.ts";
import { RequestLog } from "../../../lib/simulator/kubernetes/requests/log.ts";
import { Watches } from "../../../lib/simulator/kubernetes/watches.ts";
import { ManualClock, settle } from "../../support/manual_clock.ts";
import { MemoryServer } from "../../support/net/memory_server.ts";
import type { Site } from "../../support/services/site.ts";

const TRIES_MAX = 200;
const STEP_MS = 100;

/** Changes an answer of the cloud on its way. */
export type Bend = (command: string, reply: Response) => Promise<Response>;

/** What a {@linkcode Stage} needs. */
export interface StageOptions {
  readonly controllers: readonly LoadedController[];
  readonly site: Site;
  readonly settings?: CloudStackOptions["settings"];
}

interface Running {
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
  /** How many requests wait for an answer, without watches. */
  #underWay = 0;
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
      return this.#count(async () => {
        const text = request.method === "POST" ? await request.clone().text() : request.url;
        const command = /[?&]?command=(\w+)/.exec(text)?.[1] ?? "?";
        const outcome = await this.cloud.answer(request, onWait);
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
  start(): void {
    const { clock } = this;
    const stop = new AbortController();
    const metrics = new MetricsRegistry();
    const fence = new Fence();
    const { apiKey, secretKey } = this.cloud.user;
    const raw = { apiUrl: `${this.#origin}/client/api`, apiKey, secretKey };
    const { settings, issues } = cloudStack.parseConfig(raw, {});
    if (settings === undefined) throw new Error(JSON.stringify(issues));
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
      transport: this.#toTransport(),
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
    this.#process = { stop, ended: runApp(options, stop.signal).catch(() => undefined) };
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
    for (let turns = 0; this.#underWay > 0 && turns < 50; turns += 1) await settle(1);
  }

  #count<T>(serve: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    return serve().finally(() => (this.#underWay -= 1));
  }

  #toTransport(): Transport {
    return {
      host: "memory",
      generation: 0,
      giveUp: () => undefined,
      close: () => undefined,
      send: async ({ method, path, headers, body }, _credential, signal) => {
        signal.throwIfAborted();
        const init = { method, headers: { ...headers }, ...(body !== undefined && { body }) };
        const request = new Request(`http://kubernetes.memory${path}`, init);
        const answer = this.#count(() => handle(this.#context, request));
        const reply = await abortable(answer, signal);
        return path.includes("watch=") ? toAbortable(reply, signal) : reply;
      },
    };
  }
}

/** A stream that ends with its signal, as that of a socket does. */
function toAbortable(response: Response, signal: AbortSignal): Response {
  const { status, headers, body } = response;
  if (body === null) return response;
  const reader = body.getReader();
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const abort = (): void => {
          controller.error(signal.reason);
          reader.cancel().catch(() => undefined);
        };
        if (signal.aborted) abort();
        else signal.addEventListener("abort", abort, { once: true });
      },
      pull: async (controller) => {
        const { value } = await reader.read();
        if (signal.aborted) return;
        if (value === undefined) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => void reader.cancel().catch(() => undefined),
    },
    { highWaterMark: 0 },
  );
  return new Response(stream, { status, headers });
}

/** Lets time pass until a process has ended, however it takes it. @throws {Error} if it never does */
async function untilEnded(ended: Promise<unknown>, clock: ManualClock): Promise<void> {
  const progress = { isOver: false };
  const over = ended.finally(() => (progress.isOver = true));
  for (let left = TRIES_MAX; !progress.isOver; left -= 1) {
    if (left === 0) throw new Error("The process does not end");
    await clock.advance(STEP_MS);
  }
  await over;
}
