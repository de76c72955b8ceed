import { afterEach, expect, test } from "bun:test";
import { createLogger } from "../../../lib/core/log.ts";
import type { ListPage, Selection } from "../../../lib/kube/api/client.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { Caches } from "../../../lib/kube/cache/caches.ts";
import type { StoreReader } from "../../../lib/kube/cache/store.ts";
import { GALLERIES, type Gallery } from "../../support/galleries/gallery.ts";
import { toDiscovery } from "../../support/kube/discovery.ts";
import {
  ScriptedKubeClient,
  type ScriptStep,
  type WatchPart,
} from "../../support/kube/scripted_kube_client.ts";
import { ManualClock } from "../../support/manual_clock.ts";

/** What an API server says about a path that it does not have, like any server. */
const notThere: ScriptStep = { fail: new KubeError("unavailable", "404", { code: 404 }) };
const served = toDiscovery({ "example.org": { v1: ["galleries"] } });
const otherVersion = toDiscovery({ "example.org": { v2: ["galleries"] } });
const missing = toDiscovery({});

function toGallery(name: string): Gallery {
  const { apiVersion, kind } = GALLERIES;
  const metadata = { name, namespace: "n", uid: name, resourceVersion: "1", finalizers: ["a/b"] };
  return { apiVersion, kind, metadata };
}

function list(...names: string[]): { readonly page: ListPage<Gallery> } {
  return { page: { items: names.map(toGallery), resourceVersion: "9" } };
}

/** A watch that says something in time and ends after 30 s. */
const watch: ScriptStep = { watch: [{ waitMs: 30_000 }] };

/** What ends after each test. */
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

interface Rig {
  readonly client: ScriptedKubeClient;
  readonly clock: ManualClock;
  readonly caches: Caches;
  readonly galleries: StoreReader<Gallery>;
  /** Messages of the log, each with what it names. */
  readonly log: string[];
  /** Answers that the discovery gives from now on. Absent: it cannot be asked. */
  discovery: Readonly<Record<string, unknown>> | undefined;
  run(): Promise<void>;
  stop(): Promise<void>;
}

function setUp(script: readonly ScriptStep[], selection: Selection = {}): Rig {
  const clock = new ManualClock();
  const client = new ScriptedKubeClient(clock, script);
  const log: string[] = [];
  const write = (line: string): void => {
    const { level, message, crd, version } = JSON.parse(line);
    if (crd !== undefined) log.push(`${level} ${message} ${crd} ${version}`);
  };
  const logger = createLogger({ format: "json", write, now: () => 0 });
  const caches = new Caches({ client, clock, log: logger, random: () => 0 });
  const controller = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const rig: Rig = {
    client,
    clock,
    caches,
    galleries: caches.reader(GALLERIES, selection),
    log,
    discovery: served,
    run: async () => {
      running = caches.run(controller.signal);
      await clock.advance(0);
    },
    stop: () => {
      controller.abort(new Error("stop"));
      return running;
    },
  };
  stops.push(rig.stop);
  client.onGet = (path) => {
    if (rig.discovery && path in rig.discovery) return rig.discovery[path];
    throw new KubeError("unavailable", "no answer");
  };
  return rig;
}

const MISSING =
  "warn CustomResourceDefinition is missing; install it in this version galleries.example.org v1";
const FOUND = "info CustomResourceDefinition was found galleries.example.org v1";

test("Caches.reader() gives one view to all who ask for the same objects of one kind", async () => {
  const { caches, client, galleries, run } = setUp([list("a"), watch]);
  expect(caches.reader(GALLERIES)).toBe(galleries);
  await run();
  expect(client.requests).toEqual(["list limit=500", "watch rv=9"]);
  expect([...galleries.keys()]).toEqual(["n/a"]);
  const { apiVersion } = GALLERIES;
  expect(caches.states).toEqual([
    { resource: "galleries", apiVersion, synced: true, missing: false },
  ]);
});

test.each<[string, Selection]>([
  ["another namespace", { namespace: "n" }],
  ["another label selector", { labelSelector: "a=b" }],
  ["another field selector", { fieldSelector: "metadata.name=a" }],
])("Caches.reader() gives a view of its own to who asks for %s", (_title, selection) => {
  const { caches, galleries } = setUp([]);
  const other: object = caches.reader(GALLERIES, selection);
  expect(other).not.toBe(galleries);
  expect<object>(caches.reader(GALLERIES, { ...selection })).toBe(other);
});

test("Caches.reader() gives a view of its own to a kind that keeps something else", () => {
  const { caches, galleries } = setUp([]);
  const { metadata: _metadata, ...rest } = GALLERIES;
  expect(caches.reader(rest)).not.toBe(galleries);
});

test("Caches refuse to be asked for a view once they run", async () => {
  const { caches, run } = setUp([]);
  await run();
  expect(() => caches.reader(GALLERIES)).toThrow("before they run");
});

test("Caches ask for what was selected alone, in lists and watches", async () => {
  const selection = { namespace: "n", labelSelector: "a=b", fieldSelector: "metadata.name=a" };
  const { client, run } = setUp([list("a"), watch], selection);
  await run();
  const which = "labels=a=b fields=metadata.name=a";
  expect(client.requests).toEqual([`list ns=n limit=500 ${which}`, `watch rv=9 ${which}`]);
});

test("Caches wait for a kind that is missing, say so once, and say once that it was found", async () => {
  const rig = setUp([notThere, list("a"), watch]);
  rig.discovery = missing;
  await rig.run();
  expect(rig.caches.states).toMatchObject([
    { resource: "galleries", synced: false, missing: true },
  ]);
  await rig.clock.advance(300_000);
  expect(rig.log).toEqual([MISSING]);
  rig.discovery = served;
  await rig.clock.advance(60_000);
  expect(rig.log).toEqual([MISSING, FOUND]);
  expect(rig.caches.states).toMatchObject([
    { resource: "galleries", synced: true, missing: false },
  ]);
  expect([...rig.galleries.keys()]).toEqual(["n/a"]);
});

test("Caches look for a missing kind less and less often, and once a minute at least", async () => {
  const rig = setUp([notThere]);
  rig.discovery = missing;
  await rig.run();
  await rig.clock.advance(250_000);
  const looks = rig.client.timesMs.filter((_ms, at) => rig.client.requests[at] === "get /apis");
  expect(looks.map((ms) => ms / 1_000)).toEqual([0, 2, 6, 14, 30, 62, 122, 182, 242]);
});

test.each<[string, Rig["discovery"]]>([
  ["cannot be asked what it serves", undefined],
  ["says that it serves the kind", served],
])("Caches take no 404 for an answer while the API server %s", async (_title, discovery) => {
  const rig = setUp([notThere, list("a"), watch]);
  rig.discovery = discovery;
  await rig.run();
  expect(rig.caches.states).toMatchObject([
    { resource: "galleries", synced: false, missing: false },
  ]);
  await rig.clock.advance(1_000);
  expect(rig.galleries.synced).toBe(true);
  expect(rig.log).toEqual([]);
});

test.each([
  ["a refusal", new KubeError("forbidden", "denied", { code: 403 })],
  ["a broken connection", new KubeError("unavailable", "reset")],
  ["a bug", new TypeError("bug")],
])("Caches look for no kind after %s", async (_title, fail) => {
  const rig = setUp([{ fail }, list("a"), watch]);
  rig.discovery = missing;
  await rig.run();
  await rig.clock.advance(1_000);
  expect(rig.client.requests.filter((request) => request.startsWith("get"))).toEqual([]);
});

/** A view of one object, whose watch then meets a 404. */
const removed: readonly ScriptStep[] = [
  list("a"),
  { watch: [{ waitMs: 1_000 }] satisfies WatchPart[] },
  notThere,
];

test("Caches empty the view of a kind that was removed when the API server said so twice", async () => {
  const rig = setUp([...removed, list("b"), watch]);
  const told: string[] = [];
  await rig.run();
  rig.galleries.subscribe((key, _before, after) => told.push(`${after ? "+" : "-"}${key}`));
  rig.discovery = missing;
  await rig.clock.advance(1_500);
  expect([rig.galleries.size, rig.galleries.synced]).toEqual([1, true]);
  expect(rig.caches.states).toMatchObject([{ resource: "galleries", synced: true, missing: true }]);
  await rig.clock.advance(2_000);
  expect([rig.galleries.size, rig.galleries.synced]).toEqual([0, false]);
  rig.discovery = served;
  await rig.clock.advance(4_000);
  expect(told).toEqual(["+n/a", "-n/a", "+n/b"]);
  expect(rig.galleries.synced).toBe(true);
  expect(rig.log).toEqual([MISSING, FOUND]);
});

test.each<[string, Rig["discovery"]]>([
  ["serves the kind in another version", otherVersion],
  ["cannot be asked any more", undefined],
])("Caches keep the view of a kind while the API server %s", async (_title, discovery) => {
  const rig = setUp([...removed, list("b"), watch]);
  await rig.run();
  rig.discovery = discovery === undefined ? missing : discovery;
  await rig.clock.advance(1_500);
  rig.discovery = discovery;
  await rig.clock.advance(300_000);
  expect([...rig.galleries.keys()]).toEqual(["n/a"]);
  expect(rig.caches.states).toMatchObject([{ resource: "galleries", synced: true, missing: true }]);
  rig.discovery = served;
  await rig.clock.advance(60_000);
  expect([...rig.galleries.keys()]).toEqual(["n/b"]);
});

test("Caches count as proof only what the API server says twice in a row", async () => {
  const rig = setUp([...removed]);
  await rig.run();
  rig.discovery = otherVersion;
  await rig.clock.advance(1_500);
  rig.discovery = missing;
  await rig.clock.advance(2_000);
  expect(rig.galleries.size).toBe(1);
  await rig.clock.advance(4_000);
  expect(rig.galleries.size).toBe(0);
});

test("Caches end while they wait for a kind", async () => {
  const rig = setUp([notThere]);
  rig.discovery = missing;
  await rig.run();
  await rig.stop();
  expect(rig.clock.pending).toBe(0);
});

test("Caches.follow() makes a damaged answer an error, because no cache can have it", async () => {
  const { caches, client } = setUp([]);
  const { metadata } = toGallery("a");
  client.answerRead = () => ({ metadata: { ...metadata, labels: { a: 1 } } });
  const read = caches
    .follow(client)
    .read(GALLERIES, { namespace: "n", name: "a" }, new AbortController().signal);
  await expect(read).rejects.toThrow('Gallery "n/a": metadata.labels has a wrong type');
});

test.each<[Selection, readonly string[]]>([
  [{ namespace: "n", labelSelector: "a in (b,c),!d", fieldSelector: "metadata.name=a" }, ["n/a"]],
  [{ labelSelector: "a in (c)" }, []],
  [{ labelSelector: "!a" }, []],
  [{ fieldSelector: "metadata.name=b" }, []],
  [{ namespace: "other" }, []],
])(
  "Caches.follow() puts an answer into the view of %j only if it is selected",
  async (selection, keys) => {
    const { caches, client, galleries, run } = setUp([list(), watch], selection);
    await run();
    const { metadata, ...gallery } = toGallery("a");
    client.answerRead = () => ({
      ...gallery,
      metadata: { ...metadata, resourceVersion: "10", labels: { a: "b" } },
    });
    await caches
      .follow(client)
      .read(GALLERIES, { namespace: "n", name: "a" }, new AbortController().signal);
    expect([...galleries.keys()]).toEqual([...keys]);
  },
);
