/**
 * What a controller sees of its own writes, of those of the leader before it, and of an API server that forgot some.
 */
import { expect, test } from "bun:test";
import { type Clock, systemClock } from "../../../lib/core/clock.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { ObjectLoop } from "../../../lib/engine/object_loop.ts";
import type { ReconcileResult } from "../../../lib/engine/workers.ts";
import { createLoopMetrics } from "../../../lib/engine/work_queue.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import { Caches } from "../../../lib/kube/cache/caches.ts";
import type { StoreReader } from "../../../lib/kube/cache/store.ts";
import {
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../../lib/simulator/kubernetes/mod.ts";
import { BentLine } from "../../support/kube/transports.ts";
import { GADGETS, type Gadget, type Widget, WIDGETS } from "../../support/kube/widgets.ts";
import { until } from "../../support/nodes/rig.ts";
import { connect } from "../../support/kube/connect.ts";

const NAMESPACE = "ns";
const PATH = { namespace: NAMESPACE, name: "w" } as const;
const GADGET_PATH = { namespace: NAMESPACE, name: "g" } as const;
/** A controller of widgets counts up to this. */
const LAST = 5;

/** Ten times as quick. */
const CLOCK: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms / 10, signal),
};

function startServer(): KubernetesSimulator {
  const kubernetes = startKubernetesSimulator({ clock: systemClock });
  for (const kind of [WIDGETS, GADGETS]) kubernetes.installKind(kind);
  kubernetes.objects.create("namespaces", { metadata: { name: NAMESPACE } });
  kubernetes.objects.create("widgets", { metadata: PATH, spec: "0" });
  return kubernetes;
}

/** A controller that does not lead yet, with caches that are in sync. */
class Stage implements AsyncDisposable {
  readonly kubernetes: KubernetesSimulator = startServer();
  readonly line: BentLine;
  /** What reconciles saw. */
  readonly seen: string[] = [];
  readonly #stopping = new AbortController();
  #running: Promise<unknown>[] = [];
  #client: KubeClient | undefined;
  #widgets: StoreReader<Widget> | undefined;
  #gadgets: StoreReader<Gadget> | undefined;

  private constructor(isOpaque: boolean) {
    this.line = new BentLine(this.kubernetes.url, isOpaque);
  }

  static async start(isOpaque = false): Promise<Stage> {
    const stage = new Stage(isOpaque);
    const clock = CLOCK;
    const options = { clock, transport: stage.line };
    const client = await connect({ master: stage.kubernetes.url }, options);
    const caches = new Caches({ client, clock, log: silentLogger, random: () => 0 });
    stage.#widgets = caches.reader(WIDGETS);
    stage.#gadgets = caches.reader(GADGETS);
    stage.#client = caches.follow(client);
    stage.#running.push(caches.run(stage.#stopping.signal));
    await stage.widgets.untilSynced(stage.#stopping.signal);
    await stage.gadgets.untilSynced(stage.#stopping.signal);
    await until("the watches", () => stage.kubernetes.requests.count({ verb: "watch" }) >= 2);
    stage.kubernetes.requests.clear();
    stage.line.asked.length = 0;
    return stage;
  }

  get client(): KubeClient {
    if (this.#client === undefined) throw new Error("Cannot ask: not started");
    return this.#client;
  }

  get widgets(): StoreReader<Widget> {
    if (this.#widgets === undefined) throw new Error("Cannot read: not started");
    return this.#widgets;
  }

  get gadgets(): StoreReader<Gadget> {
    if (this.#gadgets === undefined) throw new Error("Cannot read: not started");
    return this.#gadgets;
  }

  /** Leads from now on. */
  lead(reconcile: (widget: Widget, signal: AbortSignal) => Promise<ReconcileResult>): void {
    const metrics = new MetricsRegistry();
    const loop = new ObjectLoop<Widget>({
      context: {
        clock: CLOCK,
        log: silentLogger,
        loopMetrics: createLoopMetrics(metrics),
      },
      name: "widget",
      queueName: "widgets",
      noun: "widget",
      objects: this.widgets,
      workers: 1,
      backoffMs: 5,
      inputs: ({ spec }) => [spec],
      reconcile: (widget, signal) => {
        this.seen.push(widget.spec ?? "");
        return reconcile(widget, signal);
      },
      forget: () => undefined,
      sources: [{ subscribe: () => () => undefined, reader: this.gadgets }],
    });
    this.#running.push(loop.run(this.#stopping.signal));
  }

  /** Leads, and counts up. */
  leadUp(): void {
    this.lead(async ({ metadata, spec }, signal) => {
      const { resourceVersion } = metadata;
      const next = Number(spec) + 1;
      if (next > LAST) return {};
      const body = { metadata: { resourceVersion }, spec: String(next) };
      await this.client.patch(WIDGETS, PATH, { type: "merge", body }, signal);
      return {};
    });
  }

  /** As another process does. */
  write(spec: string): void {
    this.kubernetes.objects.patch("widgets", PATH, { spec });
  }

  get stored(): unknown {
    return this.kubernetes.objects.get("widgets", PATH)?.["spec"];
  }

  /** Lists by quorum, with their limits: `widgets 1`. */
  get lists(): string[] {
    const lists = this.line.asked.map((path) => /([a-z]+)\?limit=(\d+)$/.exec(path) ?? []);
    return lists.flatMap(([, plural, limit]) => (plural ? [`${plural} ${limit}`] : [])).toSorted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.line.release();
    this.#stopping.abort(new Error("the test is over"));
    await Promise.all(this.#running);
    await this.kubernetes.stop();
  }
}

test("a reconcile never sees an object older than its own last write, also if the watch hangs", async () => {
  await using stage = await Stage.start();
  stage.line.hold();
  stage.leadUp();
  await until("all writes", () => stage.stored === String(LAST));
  await Bun.sleep(50);
  stage.line.release();
  await Bun.sleep(50);
  expect(stage.seen).toEqual(["0", "1", "2", "3", "4", "5"]);
  expect(stage.kubernetes.requests.count({ verb: "patch" })).toBe(LAST);
});

test("a reconcile neither makes twice what it made, nor deletes twice what it deleted", async () => {
  await using stage = await Stage.start();
  stage.line.hold();
  const { apiVersion, kind } = GADGETS;
  stage.lead(async ({ spec }, signal) => {
    const gadget = stage.gadgets.get("ns/g");
    if (spec === "gone") {
      const { uid } = gadget?.metadata ?? {};
      if (uid !== undefined) await stage.client.delete(GADGETS, GADGET_PATH, { uid }, signal);
      return { requeueAfterMs: 5 };
    }
    const body = { apiVersion, kind, metadata: GADGET_PATH };
    if (!gadget) await stage.client.create(GADGETS, { namespace: NAMESPACE }, body, signal);
    const patch = { type: "merge", body: { spec: "gone" } } as const;
    if (gadget) await stage.client.patch(WIDGETS, PATH, patch, signal);
    return { requeueAfterMs: 5 };
  });
  await until("some reconciles", () => stage.seen.length > 10);
  expect(stage.kubernetes.requests.count({ verb: "create" })).toBe(1);
  expect(stage.kubernetes.requests.count({ verb: "delete" })).toBe(1);
  stage.line.release();
  await until("the watch", () => stage.widgets.get("ns/w")?.spec === "gone");
  await Bun.sleep(50);
  expect(stage.gadgets.size).toBe(0);
  expect(stage.kubernetes.requests.count({ verb: "delete" })).toBe(1);
});

test("a new leader sees what the last one wrote before it does anything", async () => {
  await using stage = await Stage.start();
  stage.line.hold();
  stage.write("of the last leader");
  stage.lead(async () => ({}));
  await until("a reconcile", () => stage.seen.length > 0);
  expect(stage.seen).toEqual(["of the last leader"]);
  expect(stage.lists).toEqual(["gadgets 1", "gadgets 500", "widgets 1", "widgets 500"]);
});

test("a new leader asks once for each collection if its caches have everything", async () => {
  await using stage = await Stage.start();
  stage.kubernetes.objects.create("gadgets", { metadata: GADGET_PATH });
  stage.write("new");
  await until("the watch", () => stage.widgets.get("ns/w")?.spec === "new");
  stage.kubernetes.sendBookmarks();
  await Bun.sleep(50);
  stage.lead(async () => ({}));
  await until("a reconcile", () => stage.seen.length > 0);
  expect(stage.lists).toEqual(["gadgets 1", "widgets 1"]);
});

test("a new leader waits a moment for the watch of a large collection, without a list", async () => {
  await using stage = await Stage.start();
  for (let at = 0; at < 600; at += 1) {
    const metadata = { ...GADGET_PATH, name: `g-${at}` };
    stage.kubernetes.objects.create("gadgets", { metadata });
    stage.kubernetes.objects.create("widgets", { metadata: { ...metadata, name: `w-${at}` } });
  }
  await until("the watch", () => stage.widgets.size === 601 && stage.gadgets.size === 600);
  stage.line.hold();
  stage.write("late");
  stage.kubernetes.sendBookmarks();
  stage.lead(async () => ({}));
  await Bun.sleep(20);
  expect(stage.seen).toEqual([]);
  stage.line.release();
  await until("a reconcile", () => stage.seen.length > 600);
  expect(stage.seen).toContain("late");
  expect(stage.lists).toEqual(["gadgets 1", "widgets 1"]);
});

test("an API server that was restored counts from its first list on, also against own writes", async () => {
  await using stage = await Stage.start();
  const older = startServer();
  stage.leadUp();
  await until("all writes", () => stage.widgets.get("ns/w")?.spec === String(LAST));
  await Bun.sleep(50);
  stage.line.moveTo(older.url);
  stage.kubernetes.expireWatches();
  try {
    const read = (): unknown => older.objects.get("widgets", PATH)?.["spec"];
    // The controller sees the old widget, and counts again.
    await until("all writes on the other server", () => read() === String(LAST));
    await until("the last reconcile", () => stage.seen.length >= 12);
    expect(stage.seen).toEqual(["0", "1", "2", "3", "4", "5", "0", "1", "2", "3", "4", "5"]);
  } finally {
    stage.line.moveTo(stage.kubernetes.url);
    await older.stop();
  }
});

test("versions that are no numbers hold nothing up: a conflict says what is outdated", async () => {
  await using stage = await Stage.start(true);
  stage.line.hold();
  stage.leadUp();
  await until("all writes", () => stage.stored === String(LAST));
  stage.line.release();
  await until("the watch", () => stage.widgets.get("ns/w")?.spec === String(LAST));
  await Bun.sleep(50);
  expect([stage.stored, stage.widgets.get("ns/w")?.spec]).toEqual([String(LAST), String(LAST)]);
});

test("an answer of a restored API server is enough to know it, although the watch shows nothing", async () => {
  await using stage = await Stage.start();
  const older = startServer();
  stage.leadUp();
  await until("all writes", () => stage.widgets.get("ns/w")?.spec === String(LAST));
  await Bun.sleep(50);
  stage.line.moveTo(older.url);
  try {
    await stage.client.read(WIDGETS, PATH, new AbortController().signal);
    await until("all writes on the other server", () => {
      return older.objects.get("widgets", PATH)?.["spec"] === String(LAST);
    });
  } finally {
    stage.line.moveTo(stage.kubernetes.url);
    await older.stop();
  }
});
