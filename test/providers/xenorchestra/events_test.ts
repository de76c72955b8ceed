import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readFileSync } from "node:fs";
import type { ChangeHint } from "../../../lib/cloud/provider.ts";
import { readEvents, type ServerSentEvent } from "../../../lib/cloud_http/change_feed.ts";
import { createLogger } from "../../../lib/core/log.ts";
import type { SignIn } from "../../../lib/providers/xenorchestra/settings.ts";
import { createEventFeed } from "../../../lib/providers/xenorchestra/client.ts";
import { Session } from "../../../lib/providers/xenorchestra/session/session.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { until } from "../../support/nodes/rig.ts";
import { FakeXenOrchestra, toDeps, toSettings } from "./fake_server.ts";

const world = createDemoWorld();
const { hostIds, poolIds } = world;
const VM = world.machines.get("worker-1")?.vmId ?? "";
const OTHER_VM = world.machines.get("worker-2")?.vmId ?? "";
const EVENTS = { route: "GET /events" };

/** A feed of a server, what it hinted at, and what it logged. */
class Follower {
  readonly #stop = new AbortController();
  readonly deps: ReturnType<typeof toDeps>;
  readonly hints: ChangeHint[] = [];
  /** What is for everybody. */
  readonly lines: string[] = [];
  /** How often it began to wait for the next try. */
  waits = 0;
  readonly ended: Promise<void>;

  constructor(url: string, credentials: SignIn = { kind: "token", token: "t0ken" }) {
    const log = createLogger({
      format: "text",
      level: "debug",
      write: (line) => {
        if (line.includes(" DEBUG ")) this.waits += 1;
        else this.lines.push(line);
      },
      now: () => 0,
    });
    this.deps = { ...toDeps(), log };
    const { credentials: _token, ...rest } = toSettings(url);
    const session = new Session({ ...rest, credentials }, this.deps);
    const feed = createEventFeed({ ...this.deps, session, random: () => 0 });
    this.ended = feed.run((hint) => this.hints.push(hint), this.#stop.signal);
  }

  get clock(): Follower["deps"]["clock"] {
    return this.deps.clock;
  }

  /** 1 while the stream is connected. */
  get connected(): number {
    const text = this.deps.metrics.render();
    return Number(/^landfall_change_stream_connected (\d)$/m.exec(text)?.[1]);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("the test is over"));
    await this.ended;
  }

  /** Waits until so many times everything was hinted at: after each time that it was connected. */
  untilConnected(times = 1): Promise<void> {
    return until(`it is connected ${times} times`, () => {
      return this.hints.filter((hint) => hint === "everything").length >= times;
    });
  }
}

const CAPTURE = readFileSync(
  new URL("../../fixtures/xenorchestra/sse-stream.txt", import.meta.url),
  "utf8",
).replaceAll(/^# .*\n/gm, "");

test("a captured stream is read the same, however it is cut", async () => {
  const bytes = new TextEncoder().encode(CAPTURE);
  const parse = async (...pieces: readonly Uint8Array[]): Promise<ServerSentEvent[]> => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    return (await Array.fromAsync(readEvents(body))).flat();
  };
  const whole = await parse(bytes);
  expect(whole.map(({ event }) => event)).toEqual([
    "init",
    ...Array.from({ length: 5 }, () => "update"),
    "add",
    "remove",
    "update",
    "update",
    "ping",
  ]);
  for (const { data } of whole) expect(JSON.parse(data)).toBeObject();
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (cuts) => {
      const places = [0, ...cuts.toSorted((one, other) => one - other), bytes.length];
      const pieces = places.slice(1).map((to, at) => bytes.slice(places[at], to));
      expect(await parse(...pieces)).toEqual(whole);
    }),
  );
});

describe("EventFeed", () => {
  let cloud: XenOrchestraSimulator;
  let follower: Follower;
  const deps = toDeps();
  const start = (credentials?: SignIn): Follower => {
    follower = new Follower(cloud.url, credentials ?? { kind: "token", token: cloud.token });
    return follower;
  };
  /** The clock of the simulator is another one: both move. */
  const advance = async (ms: number): Promise<void> => {
    await deps.clock.advance(ms);
    await follower.clock.advance(ms);
  };
  const opened = (): number => cloud.requests.count("GET /events");

  beforeEach(async () => {
    cloud = await startXenOrchestraSimulator({ clock: deps.clock, world: world.world });
  });
  afterEach(async () => {
    await follower.stop();
    await cloud.stop();
  });

  test("subscribes to every field that inventories are made of, and hints at everything", async () => {
    await start().untilConnected();
    const usual = ["id", "name_label"];
    const ofVm = [
      "mainIpAddress",
      "addresses",
      "$container",
      "$pool",
      "tags",
      "current_operations",
    ];
    expect(cloud.events.subscriptions).toEqual([
      {
        VM: [...usual, "power_state", "CPUs.max", "memory.static", ...ofVm],
        host: [...usual, "$pool", "tags", "controlDomain"],
        pool: [...usual, "master"],
      },
    ]);
    expect(follower.hints).toEqual(["everything"]);
    expect(follower.connected).toBe(1);
  });

  test.each<[string, () => unknown]>([
    ["moves", () => cloud.state.migrateLive(VM, hostIds["xcp-par-3"])],
    ["begins to move", () => cloud.state.beginMigration(VM)],
    ["has another name", () => cloud.state.setVm(VM, { name_label: "other" })],
    ["is halted", () => cloud.state.setPower(VM, "Halted")],
    ["gets more memory", () => cloud.state.setVm(VM, { memory: { static: [1, 2] } })],
    ["is gone", () => cloud.state.removeVm(VM)],
  ])("hints at a VM that %s", async (_title, change) => {
    await start().untilConnected();
    change();
    await advance(200);
    await until("it is hinted at", () => follower.hints.length > 1);
    expect(follower.hints).toEqual(["everything", new Set([VM])]);
  });

  test("hints at nothing when memory is only used otherwise", async () => {
    await start().untilConnected();
    cloud.state.balloon(VM, 1);
    await advance(200);
    // Whatever came of it came before this.
    cloud.state.beginMigration(OTHER_VM);
    await advance(200);
    await until("the other is hinted at", () => follower.hints.length > 1);
    expect(follower.hints).toEqual(["everything", new Set([OTHER_VM])]);
  });

  test.each<[string, () => unknown]>([
    ["a host has another name", () => setField("hosts", hostIds["xcp-par-1"], "name_label")],
    ["a pool has another name", () => setField("pools", poolIds.paris, "name_label")],
    ["a pool is lost", () => cloud.state.dropPool(poolIds.lyon)],
  ])("hints at everything when %s", async (_title, change) => {
    await start().untilConnected();
    change();
    await advance(200);
    await follower.untilConnected(2);
    expect(new Set(follower.hints)).toEqual(new Set(["everything"]));
  });

  function setField(collection: "hosts" | "pools", id: string, field: string): void {
    const record = cloud.state.read(collection, id);
    if (record) record[field] = "other";
  }

  test.each<[string, () => unknown]>([
    ["has none (404 as HTML)", () => cloud.faults.set({ kind: "html", status: 404 }, EVENTS)],
    [
      "has none (404 as JSON)",
      () => cloud.faults.set({ kind: "json", status: 404, body: {} }, EVENTS),
    ],
    ["refuses them", () => cloud.faults.set({ kind: "status", status: 403 }, EVENTS)],
    ["answers a page", () => cloud.faults.set({ kind: "html", status: 200 }, EVENTS)],
    ["answers JSON", () => cloud.faults.set({ kind: "json", body: [] }, EVENTS)],
    ["redirects", () => cloud.faults.set({ kind: "redirect", location: "https://x/" }, EVENTS)],
    [
      "knows no such type",
      () =>
        cloud.faults.set(
          { kind: "json", status: 422, body: { error: { x: {} } } },
          { route: "POST /events/{id}/subscriptions" },
        ),
    ],
  ])("goes without events for 10 min where Xen Orchestra %s", async (...row) => {
    const [, break_] = row;
    break_();
    start();
    await until("it waits", () => follower.waits === 1);
    expect(follower.lines.map((line) => line.split(" ")[1])).toEqual(["INFO"]);
    expect([follower.hints, follower.connected]).toEqual([[new Set()], 0]);
    const before = opened();
    await follower.clock.advance(599_999);
    expect(opened()).toBe(before);
  });

  test.each(["drop", "end"] as const)(
    "opens another stream when one ends (%s), and hints at everything again",
    async (how) => {
      await start().untilConnected();
      await advance(60_000);
      cloud.events[how]();
      await until("it waits", () => follower.waits === 1);
      expect(follower.connected).toBe(0);
      expect(follower.lines.at(-1)).toContain(
        how === "end"
          ? "Xen Orchestra ended the stream of events"
          : "the stream of events broke: the connection was closed before the answer was complete",
      );
      await follower.clock.advance(999);
      expect(opened()).toBe(1);
      await follower.clock.advance(1);
      await follower.untilConnected(2);
      expect([opened(), follower.connected, cloud.events.size]).toEqual([2, 1, 1]);
    },
  );

  test("leaves a stream that fell silent, after 75 s", async () => {
    await start().untilConnected();
    cloud.events.mode = "silent";
    await advance(74_999);
    expect([follower.connected, cloud.events.size]).toEqual([1, 1]);
    await advance(1);
    await until("it leaves", () => follower.waits === 1 && cloud.events.size === 0);
    expect(follower.lines.at(-1)).toContain("Xen Orchestra sent no event for 75 s");
    cloud.events.mode = "right";
    await advance(1_000);
    await follower.untilConnected(2);
  });

  test.each([
    ["with 500", { kind: "status", status: 500 }, 1_000],
    ["with 429", { kind: "status", status: 429, retryAfterSeconds: 20 }, 20_000],
    ["with 401", { kind: "status", status: 401 }, 60_000],
  ] as const)("tries again when it is refused %s", async (_title, fault, waitMs) => {
    cloud.faults.set(fault, { ...EVENTS, times: 1 });
    start();
    await until("it waits", () => follower.waits === 1);
    await follower.clock.advance(waitMs - 1);
    expect(opened()).toBe(1);
    await follower.clock.advance(1);
    await follower.untilConnected();
    expect(opened()).toBe(2);
  });
});

describe("EventFeed, of a server that sends anything,", () => {
  let fake: FakeXenOrchestra;
  let follower: Follower;
  let send: (text: string) => void = () => {};
  beforeEach(async () => {
    fake = new FakeXenOrchestra();
    fake.answer = ({ path, method }) => {
      if (method === "POST") return Response.json({}, { status: 201 });
      if (path !== "/events") return undefined;
      const body = new ReadableStream<string>({
        start: (controller) => {
          send = (text) => controller.enqueue(text);
          send('event: init\ndata: {"id":"a/b"}\n\n');
        },
      });
      return new Response(body as never, {
        headers: { "content-type": "text/event-stream;charset=utf-8" },
      });
    };
    follower = new Follower(fake.url);
    await follower.untilConnected();
  });
  afterEach(async () => {
    await follower.stop();
    await fake.stop();
  });

  test("asks for the stream as it must, and escapes what it puts into a path", () => {
    const [get, ...posts] = fake.seen;
    expect(get?.headers.get("accept")).toBe("text/event-stream");
    expect(get?.headers.get("cookie")).toBe("authenticationToken=t0ken");
    expect(posts.map(({ path }) => path)).toEqual(Array(3).fill("/events/a%2Fb/subscriptions"));
  });

  test.each<[string, string, readonly ChangeHint[]]>([
    ["what is no JSON", "event: update\ndata: {\n\n", ["everything"]],
    ["no object", "event: update\ndata: 1\n\n", ["everything"]],
    ["null", "event: remove\ndata: null\n\n", ["everything"]],
    ["a VM without ID", 'event: add\ndata: {"$subscription":"VM"}\n\n', ["everything"]],
    ["half an ID", 'event: add\ndata: {"$subscription":"VM","id":"cf91"}\n\n', ["everything"]],
    ["another type", 'event: add\ndata: {"$subscription":"x","id":"1"}\n\n', ["everything"]],
    [
      "an ID in upper case",
      `event: add\ndata: {"$subscription":"VM","id":"${VM.toUpperCase()}"}\n\n`,
      [new Set([VM])],
    ],
    [
      "several at once",
      `event: add\ndata: {"$subscription":"VM","id":"${VM}"}\n\n`.repeat(2) +
        `event: remove\ndata: {"$subscription":"VM","id":"${OTHER_VM}"}\n\n`,
      [new Set([VM, OTHER_VM])],
    ],
    [
      "an unknown event, and then a known one",
      "event: x\ndata: 1\n\nevent: add\ndata: 1\n\n",
      ["everything"],
    ],
  ])("hints at %s", async (_title, text, hints) => {
    send(text);
    await until("it is hinted at", () => follower.hints.length > 1);
    expect(follower.hints.slice(1)).toEqual([...hints]);
  });

  test.each([
    ["line", "x".repeat(2_000_000)],
    ["event", "data: x\n".repeat(600_000)],
  ])("leaves a stream of one endless %s", async (_title, text) => {
    send(text);
    await until("it leaves", () => follower.waits === 1);
    expect(follower.lines.at(-1)).toContain("longer than");
  });
});
