/**
 * A cluster and a CloudStack in memory, and the process between them that has the controller of Services.
 * @module
 */
import { runApp } from "../../../lib/app/app.ts";
import { loadControllers } from "../../../lib/controllers/definition.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { abortable } from "../../../lib/core/clock.ts";
import { Fence } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { cloudStack } from "../../../lib/providers/cloudstack/mod.ts";
import { CloudStack } from "../../../lib/simulator/cloudstack/cloudstack.ts";
import type { ObjectAccess } from "../../../lib/simulator/kubernetes/object_access.ts";
import { MemoryApiServer } from "../../support/kube/election/rig.ts";
import { createMemoryClient, toMemoryRequest } from "../../support/kube/memory_client.ts";
import { ManualClock, settle } from "../../support/manual_clock.ts";
import type { Site } from "../../support/services/site.ts";
import { answerFetch } from "../stage.ts";
import type { Transport } from "../../../lib/kube/api/request.ts";

const TRIES_MAX = 200;
const STEP_MS = 100;
const JOB_MS = 200;
const SERVICE_CONTROLLER = await loadControllers(
  CONTROLLERS.filter(({ name }) => name === "service"),
);

/** Changes an answer of the cloud on its way. */
type Bend = (command: string, reply: Response) => Promise<Response>;

/** Cluster, cloud and process. */
export class Stage implements AsyncDisposable {
  readonly site: Site;
  readonly clock: ManualClock = new ManualClock(undefined, () => this.#rest());
  readonly cloud: CloudStack;
  readonly #cluster = new MemoryApiServer(this.clock);
  readonly #stop = new AbortController();
  readonly #endServing: () => void;
  readonly #process: Promise<unknown>;
  /** How many requests wait for an answer, without watches. */
  #underWay = 0;
  /** What happens to the answers of the cloud from now on. @default {nothing} */
  bend: Bend | undefined;

  constructor(site: Site) {
    this.site = site;
    const { clock } = this;
    const { signal } = this.#stop;
    this.cloud = new CloudStack({ clock, signal, world: site.world, settings: { jobMs: JOB_MS } });
    this.#endServing = answerFetch((request) =>
      this.#count(async () => {
        const text = request.method === "POST" ? await request.clone().text() : request.url;
        const command = /[?&]?command=(\w+)/.exec(text)?.[1] ?? "?";
        const outcome = await this.cloud.answer(request);
        if (outcome.kind !== "reply") throw new TypeError("The cloud does not answer");
        return this.bend === undefined ? outcome.response : this.bend(command, outcome.response);
      }),
    );
    for (const node of site.nodes) this.objects.createNode(node);
    this.#process = this.#run(signal).catch(() => undefined);
  }

  get objects(): ObjectAccess {
    return this.#cluster.objects;
  }

  #run(signal: AbortSignal): Promise<void> {
    const { apiKey, secretKey } = this.cloud.user;
    const raw = { apiUrl: "http://cloud.memory/client/api", apiKey, secretKey };
    const { settings, issues } = cloudStack.parseConfig(raw, {});
    if (settings === undefined) throw new Error(JSON.stringify(issues));
    const { clock } = this;
    const deps = { clock, metrics: new MetricsRegistry(), log: silentLogger, fence: new Fence() };
    const app = {
      ...deps,
      provider: cloudStack.create(settings, { ...deps, signal }),
      client: createMemoryClient((...sent) => this.#send(...sent), {
        clock,
        metrics: deps.metrics,
      }),
      host: "test",
      controllers: SERVICE_CONTROLLER,
      concurrentNodeSyncs: 4,
      flags: {},
    };
    return runApp(app, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("the test stops the process"));
    await untilEnded(this.#process, this.clock);
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

  async #send(...[sent, , signal]: Parameters<Transport["send"]>): Promise<Response> {
    signal.throwIfAborted();
    const answer = this.#count(() => this.#cluster.answer(toMemoryRequest(sent)));
    const reply = await abortable(answer, signal);
    return sent.path.includes("watch=") ? toAbortable(reply, signal) : reply;
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
