/**
 * Watches and lists that are cut, mixed with rubbish, out of order or endless: the store never holds what was not said,
 * and in the end what is true.
 * @module
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createLogger } from "../../lib/core/log.ts";
import type { WatchEvent } from "../../lib/kube/api/client.ts";
import { type Node, NODES } from "../../lib/kube/kinds/node.ts";
import { Store } from "../../lib/kube/cache/store.ts";
import { runWatcher } from "../../lib/kube/cache/watcher.ts";
import { tries } from "../support/extent.ts";
import { createMemoryClient } from "../support/kube/memory_client.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { checkReason, createStage, TOKEN, toStream } from "./kube_stage.ts";

const never = new AbortController().signal;
const encoder = new TextEncoder();

async function readAll(
  pieces: readonly Uint8Array[],
): Promise<{ events: WatchEvent[]; error?: unknown }> {
  const events: WatchEvent[] = [];
  const send = (): Promise<Response> => Promise.resolve(new Response(toStream(pieces)));
  const client = createMemoryClient(send, { clock: new ManualClock() });
  const query = { resourceVersion: "7", timeoutSeconds: 300 };
  try {
    for await (const event of client.watch(NODES, query, never)) {
      events.push(event);
    }
    return { events };
  } catch (error) {
    return { events, error: checkReason(error) };
  }
}

describe("a watch", () => {
  const EVENTS: readonly WatchEvent[] = [
    { type: "ADDED", object: { metadata: { name: "é-日本-🚢" } } },
    { type: "BOOKMARK", object: {} },
    { type: "ERROR", object: { kind: "Status" } },
  ];
  const lines = EVENTS.map((event) => `${JSON.stringify(event)}\r\n`);
  const bytes = encoder.encode(lines.join(""));
  /** Where each event is complete: its line may still lack its end. */
  const ends = lines.map((_line, at) => encoder.encode(lines.slice(0, at + 1).join("")).length);

  test("gives of a stream that ends anywhere what was complete, and says that it ended within", async () => {
    for (let end = 0; end <= bytes.length; end += 1) {
      const { events, error } = await readAll([bytes.slice(0, end)]);
      const count = ends.filter((place) => place <= end).length;
      expect(events).toEqual(EVENTS.slice(0, count));
      const isBetween = end === 0 || ends.includes(end);
      if (isBetween) expect(error).toBeUndefined();
      else
        expect(String(error)).toMatch(/: the (stream|answer) ended within an? (event|character)$/);
    }
  });

  test("reads the same in any pieces", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (cuts) => {
        const places = [0, ...cuts.toSorted((one, other) => one - other), bytes.length];
        const pieces = places.slice(1).map((to, at) => bytes.slice(places[at], to));
        expect(await readAll(pieces)).toEqual({ events: [...EVENTS] });
      }),
      tries(100),
    );
  });

  test("gives nothing but events of any bytes, and the reason of its end", async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...lines,
        "\n",
        "\r\n",
        " ",
        "{}\n",
        "null\n",
        '{"type":1,"object":1}\n',
        "<html>",
      ),
      fc.json().map((json) => `${json}\n`),
      fc.json().map((json) => `{"type":"ADDED","object":${json}}\n`),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            piece.map((text) => encoder.encode(text)),
            fc.uint8Array({ maxLength: 9 }),
          ),
          {
            maxLength: 12,
          },
        ),
        async (pieces) => {
          const { events } = await readAll(pieces.map((one) => new Uint8Array(one)));
          for (const { type } of events) expect(type).toBeString();
        },
      ),
      tries(300),
    );
  });
});

/** One answer that is not as it should be. */
interface Mishap {
  readonly kind: "stream" | "reply";
  /** What is mixed into a stream, and after how many true events. */
  readonly rubbish: readonly { readonly at: number; readonly what: number }[];
  readonly reply: number;
  readonly end: "close" | "break" | "cut";
  /** Changes of the world before it. */
  readonly changes: readonly number[];
}

const mishap: fc.Arbitrary<Mishap> = fc.record({
  kind: fc.constantFrom("stream", "stream", "reply"),
  rubbish: fc.array(fc.record({ at: fc.nat(6), what: fc.nat() }), { maxLength: 4 }),
  reply: fc.nat(),
  end: fc.constantFrom("close", "break", "cut"),
  changes: fc.array(fc.nat(), { maxLength: 6 }),
});

const json = { headers: { "content-type": "application/json" } };
const ODD_STATUS = (fields: object): Response =>
  Response.json({ kind: "Status", ...fields }, { status: 500 });

/** Replies to a list or a watch alike. */
const REPLIES: readonly (() => Response)[] = [
  () => new Response("<html>sign in</html>", { headers: { "content-type": "text/html" } }),
  () => new Response(""),
  () => new Response("", json),
  () => new Response("{", json),
  () => new Response(new Uint8Array([0x7b, 0xff, 0x7d]), json),
  () => Response.json(null),
  () => Response.json([]),
  () => Response.json({ kind: "NodeList", items: [] }),
  () => Response.json({ kind: "NodeList", items: {}, metadata: { resourceVersion: "1" } }),
  () => Response.json({ kind: "NodeList", items: [null], metadata: { resourceVersion: "1" } }),
  () =>
    Response.json({
      kind: "NodeList",
      items: [{ metadata: {} }],
      metadata: { resourceVersion: "1" },
    }),
  () => Response.json({ kind: "PodList", items: [], metadata: { resourceVersion: "1" } }),
  () => Response.json({ items: [], metadata: { resourceVersion: 1 } }),
  () => Response.json({ kind: "Status", status: "Success" }),
  () => new Response(null, { status: 204 }),
  () => new Response(null, { status: 304 }),
  () => new Response("moved", { status: 302, headers: { location: "http://elsewhere" } }),
  () => new Response(`bad Bearer ${TOKEN}`, { status: 400 }),
  () => new Response("", { status: 404 }),
  () => new Response("", { status: 410 }),
  () => new Response("", { status: 429, headers: { "retry-after": "99999999999999999999" } }),
  () =>
    new Response("", { status: 503, headers: { "retry-after": "Tue, 31 Dec 9999 23:59:59 GMT" } }),
  () => new Response("", { status: 503, headers: { "retry-after": "-5" } }),
  () => ODD_STATUS({ code: "x", details: 5 }),
  () => ODD_STATUS({ code: -1, reason: {}, message: [] }),
  () => ODD_STATUS({ code: 410, reason: "Expired", details: { retryAfterSeconds: 1e308 } }),
  () => ODD_STATUS({ message: "x".repeat(100_000) }),
];

const good = { name: "ghost", uid: "u", resourceVersion: "5" };
/** Lines of a stream that no API server sends. What they say is nowhere true. */
const LINES: readonly string[] = [
  "<html>sign in</html>",
  "{",
  "null",
  "[]",
  '{"type":"ADDED"}',
  '{"type":7,"object":{}}',
  ...[
    { type: "ADDED", object: null },
    { type: "ADDED", object: { kind: "Node", apiVersion: "v1" } },
    { type: "ADDED", object: { kind: "Node", apiVersion: "v1", metadata: { name: "ghost" } } },
    { type: "ADDED", object: { kind: "Pod", apiVersion: "v1", metadata: good } },
    { type: "ADDED", object: { kind: "Node", apiVersion: "v2", metadata: good } },
    {
      type: "MODIFIED",
      object: { kind: "Node", apiVersion: "v1", metadata: { ...good, labels: 5 } },
    },
    { type: "MODIFIED", object: { kind: "Node", apiVersion: "v1", metadata: good, spec: "x" } },
    {
      type: "ADDED",
      object: { kind: "Node", apiVersion: "v1", metadata: good, status: { conditions: {} } },
    },
    { type: "DELETED", object: { kind: "Node", apiVersion: "v1", metadata: { name: 5 } } },
    { type: "NOVELTY", object: { kind: "Node", apiVersion: "v1", metadata: good } },
    { type: "BOOKMARK", object: null },
    { type: "BOOKMARK", object: { kind: "Node", metadata: { resourceVersion: "rubbish" } } },
    { type: "BOOKMARK", object: { kind: "Node", metadata: { resourceVersion: 7 } } },
    { type: "BOOKMARK", object: { kind: "Pod", metadata: { resourceVersion: "999" } } },
    { type: "ERROR", object: null },
    { type: "ERROR", object: "gone" },
    { type: "ERROR", object: { kind: "Status", code: "410" } },
    { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } },
    { type: "ERROR", object: { kind: "Status", code: 200, details: { retryAfterSeconds: 1e9 } } },
    { type: "ERROR", object: { kind: "Status", message: `Bearer ${"x".repeat(50_000)}` } },
  ].map((event) => JSON.stringify(event)),
];

interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: Node;
}

/** An API server that keeps its history, and whose answers go wrong as it is told. */
class World {
  readonly nodes: Map<string, Node> = new Map();
  readonly history: Change[] = [];
  readonly mishaps: Mishap[];
  /** Everything that was ever true, as `name@version`. */
  readonly said: Set<string> = new Set();

  constructor(mishaps: readonly Mishap[]) {
    this.mishaps = [...mishaps];
    for (let at = 0; at < 4; at += 1) this.change(at);
  }

  change(number: number): void {
    const name = `n${number % 5}`;
    const before = this.nodes.get(name);
    const resourceVersion = String(this.history.length + 1);
    const uid = before?.metadata.uid ?? `uid-${resourceVersion}`;
    const metadata = { name, uid, resourceVersion, labels: { number: `${number % 7}` } };
    const object: Node = { apiVersion: "v1", kind: "Node", metadata };
    this.said.add(`${name}@${resourceVersion}`);
    if (before === undefined) {
      this.nodes.set(name, object);
      this.history.push({ type: "ADDED", object });
    } else if (number % 3 === 0) {
      this.nodes.delete(name);
      this.history.push({ type: "DELETED", object });
    } else {
      this.nodes.set(name, object);
      this.history.push({ type: "MODIFIED", object });
    }
  }

  answer(path: string, signal: AbortSignal): Response {
    const query = new URLSearchParams(path.split("?")[1]);
    const isWatch = query.has("watch");
    // What is to happen to a stream waits for one.
    const isDue = isWatch || this.mishaps[0]?.kind === "reply";
    const now = isDue ? this.mishaps.shift() : undefined;
    for (const number of now?.changes ?? []) this.change(number);
    if (now?.kind === "reply") {
      if (!isWatch && now.reply % 5 === 0) return this.#cutList();
      return REPLIES[now.reply % REPLIES.length]?.() ?? new Response("");
    }
    const version = query.get("resourceVersion") ?? "";
    if (version !== "" && !/^\d+$/.test(version)) {
      return Response.json({ kind: "Status", code: 400, reason: "BadRequest" }, { status: 400 });
    }
    return isWatch ? this.#watch(Number(version), now ?? signal) : Response.json(this.#list());
  }

  #list(): object {
    const metadata = { resourceVersion: String(this.history.length) };
    return { kind: "NodeList", apiVersion: "v1", metadata, items: [...this.nodes.values()] };
  }

  #cutList(): Response {
    return new Response(JSON.stringify(this.#list()).slice(0, -5), json);
  }

  #watch(from: number, mishap: Mishap | AbortSignal): Response {
    const lines = this.history.slice(from).map((event) => JSON.stringify(event));
    if (mishap instanceof AbortSignal) return toWatch(lines.join("\n"), mishap);
    for (const { at, what } of mishap.rubbish) {
      // Rubbish, or what was said last of a Node, once more: that is still true.
      const again = this.history
        .slice(0, from)
        .findLast(({ object }) => object.metadata.name === `n${what % 5}`);
      if (what % 3 === 0 && again) lines.unshift(JSON.stringify(again));
      else lines.splice(Math.min(at, lines.length), 0, LINES[what % LINES.length] ?? "");
    }
    const text = lines.join("\n");
    if (mishap.end !== "cut") return toWatch(text, mishap.end);
    return toWatch(text.slice(0, mishap.reply % Math.max(1, text.length)), "close", "");
  }
}

function toWatch(text: string, end: AbortSignal | "close" | "break", last = "\n"): Response {
  const bytes = encoder.encode(text === "" ? "" : text + last);
  const middle = Math.floor(bytes.length / 3);
  return new Response(toStream([bytes.slice(0, middle), bytes.slice(middle)], end), json);
}

describe("runWatcher() over HTTP", () => {
  test("holds nothing that was not said, and the truth as soon as answers are good again", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(mishap, { maxLength: 8 }), async (mishaps) => {
        const world = new World(mishaps);
        const clock = new ManualClock();
        const { client } = createStage(({ path }, signal) => world.answer(path, signal), clock);
        const words: string[] = [];
        const log = createLogger({
          format: "json",
          write: (line) => words.push(line),
          now: () => 0,
        });
        const store = new Store<Node>({ resource: NODES, log });
        const lies: string[] = [];
        store.subscribe((_key, _before, after) => {
          const what = `${after?.metadata.name}@${after?.metadata.resourceVersion}`;
          if (after !== undefined && !world.said.has(what)) lies.push(what);
        });
        const stop = new AbortController();
        const options = { client, resource: NODES, store, clock, log, random: () => 0 };
        const running = runWatcher(options, stop.signal);
        for (let step = 0; step < 90 && world.mishaps.length > 0; step += 1)
          await clock.advance(40_000);
        expect(world.mishaps).toEqual([]);
        // A watch that is opened anew, as every watch is after a while, is the last that is needed.
        for (let step = 0; step < 20; step += 1) await clock.advance(40_000);
        expect(lies).toEqual([]);
        expect([...store.values()].map(toText).sort()).toEqual(
          [...world.nodes.values()].map(toText).sort(),
        );
        for (const line of words) {
          expect(line).not.toContain(TOKEN);
          expect(line.length).toBeLessThan(3_000);
          expect(line).not.toContain("is not a function");
        }
        stop.abort(new Error("over"));
        await running;
      }),
      tries(60),
    );
  });
});

function toText({ metadata }: Node): string {
  return `${metadata.name}@${metadata.resourceVersion} ${metadata.labels?.["number"]}`;
}
