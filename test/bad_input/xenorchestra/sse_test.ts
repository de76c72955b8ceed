/**
 * Streams of server-sent events that are cut, mixed, endless or rubbish.
 * @module
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readFileSync } from "node:fs";
import { ChangeHints } from "../../../lib/cloud/inventory/source.ts";
import type { Reply, StreamReply } from "../../../lib/cloud_http/http.ts";
import { type ServerSentEvent, SseParser } from "../../../lib/cloud_http/sse.ts";
import type { ChangeHint } from "../../../lib/cloud/provider.ts";
import { createLogger } from "../../../lib/core/log.ts";
import { parseUuid } from "../../../lib/core/text/uuid.ts";
import { createEventFeed } from "../../../lib/providers/xenorchestra/wire/events.ts";
import { toDeps, WORKER_1 } from "../../providers/xenorchestra/fake_server.ts";
import { tries } from "../../support/net/hostile.ts";
import { checkWords } from "./stage.ts";

const CAPTURE = readFileSync(
  new URL("../../fixtures/xenorchestra/sse-stream.txt", import.meta.url),
  "utf8",
).replaceAll(/^# .*\n/gm, "");
/** Short, and with everything in it: types, comments, several lines, characters of two to four bytes. */
const SMALL = [
  "\uFEFF: hi",
  'event: init\ndata: {"id":"é"}\n',
  "data: 日本\ndata: 🚢\nid: 1\n",
  "event: ping\ndata\n",
  "event: no data\n",
].join("\n");

function parse(pieces: readonly string[]): ServerSentEvent[] {
  const parser = new SseParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

/** As the bytes of a stream come. */
function parseBytes(pieces: readonly Uint8Array[]): ServerSentEvent[] {
  const decoder = new TextDecoder();
  return parse(pieces.map((piece) => decoder.decode(piece, { stream: true })));
}

function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const all = [0, ...places.toSorted((one, other) => one - other), bytes.length];
  return all.slice(1).map((to, at) => bytes.slice(all[at], to));
}

/** The format as the standard has it, for a whole text. */
function parseWhole(text: string): ServerSentEvent[] {
  const events: ServerSentEvent[] = [];
  let event = "";
  let data: string[] = [];
  // What comes after the last end of a line is no line yet.
  for (const line of text
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\r|\n/)
    .slice(0, -1)) {
    if (line === "") {
      if (data.length > 0) events.push({ event: event || "message", data: data.join("\n") });
      event = "";
      data = [];
      continue;
    }
    const [name = ""] = line.split(":", 1);
    const text = line.slice(name.length + 1).replace(/^ /, "");
    if (name === "event") event = text;
    if (name === "data") data.push(text);
  }
  return events;
}

describe("SseParser", () => {
  test("reads the same whatever two bytes a stream is cut at", () => {
    const bytes = new TextEncoder().encode(SMALL);
    const whole = parseBytes([bytes]);
    expect(whole.map(({ data }) => data)).toEqual(['{"id":"é"}', "日本\n🚢", ""]);
    for (let one = 0; one <= bytes.length; one += 1) {
      for (let other = one; other <= bytes.length; other += 1) {
        if (!Bun.deepEquals(parseBytes(cutAt(bytes, [one, other])), whole)) {
          throw new Error(`another reading when cut at ${one} and ${other}`);
        }
      }
    }
  });

  test("gives of a stream that ends anywhere what was complete, and nothing else", () => {
    const whole = parse([CAPTURE]);
    let count = 0;
    for (let end = 0; end <= CAPTURE.length; end += 1) {
      // A sample of the places, and all around the ends of events.
      if (end % 97 !== 0 && !/\n\n/.test(CAPTURE.slice(end - 3, end + 3))) continue;
      const events = parse([CAPTURE.slice(0, end)]);
      expect(events).toEqual(whole.slice(0, events.length));
      expect(events.length).toBeGreaterThanOrEqual(count);
      count = events.length;
    }
    expect(count).toBe(whole.length);
  });

  test("reads any text as the standard says, in any pieces", () => {
    const piece = fc.constantFrom(
      ..."\r|\n|\r\n|:|: | |data|data:|data: |event:|event: |id:|retry: 1|x|é|🚢|\uFEFF|\0|\n\n".split(
        "|",
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join("");
        const whole = parseWhole(text);
        // A return at the very end is a line already, whether or not a newline follows.
        expect(parse([text])).toEqual(whole);
        expect(parse(pieces)).toEqual(whole);
        expect(parse([...text])).toEqual(whole);
      }),
      tries(1_000),
    );
  });

  test("keeps a bounded part of what never ends", () => {
    for (const piece of [
      "x".repeat(1_000),
      ": comment\n".repeat(100),
      "data: x\n".repeat(100),
      "data: ",
      "\uFEFF",
    ]) {
      const parser = new SseParser();
      let pushed = 0;
      const error = (): void => {
        for (; pushed < 4_000_000; pushed += piece.length) parser.push(piece);
      };
      expect(error).toThrow(RangeError);
      expect(pushed).toBeLessThan(2_000_000);
    }
  });
});

test("ChangeHints takes no more room for 200,000 hints than for nine", () => {
  const hints = new ChangeHints();
  for (let at = 0; at < 200_000; at += 1) hints.add(new Set([`${at}`]), () => true);
  expect(hints.due).toBe("everything");
  const unknown = new ChangeHints();
  for (let at = 0; at < 200_000; at += 1) unknown.add(new Set([`${at}`]), () => false);
  expect(unknown.isEmpty).toBe(true);
});

/** A feed on a session that gives one stream after another, then none. */
class Bench {
  readonly deps: ReturnType<typeof toDeps> = toDeps();
  readonly hints: ChangeHint[] = [];
  readonly errors: Error[] = [];
  posts = 0;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(streams: readonly (readonly Uint8Array[])[]) {
    const left = [...streams];
    const post = async (): Promise<Reply> => {
      this.posts += 1;
      return { status: 201, contentType: "" };
    };
    const openStream = async (): Promise<StreamReply> => {
      const chunks = left.shift();
      if (chunks === undefined) return { status: 503, contentType: "" };
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const chunk of chunks) controller.enqueue(chunk);
          controller.close();
        },
      });
      return { status: 200, contentType: "text/event-stream", body };
    };
    const log = createLogger({
      format: "json",
      level: "debug",
      write: (line) => this.#note(line),
      now: () => 0,
    });
    const session = { post, openStream };
    const feed = createEventFeed({ ...this.deps, log, session, random: () => 0 });
    this.#ended = feed.run((hint) => this.hints.push(hint), this.#stop.signal);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("over"));
    await this.#ended;
  }

  #note(line: string): void {
    const { error } = JSON.parse(line);
    if (typeof error === "string") this.errors.push(checkWords(new Error(error)));
  }
}

describe("EventFeed", () => {
  const event = fc.oneof(
    fc.constant('event: init\ndata: {"id":"1"}\n\n'),
    fc.constant(`event: update\ndata: {"$subscription":"VM","id":"${WORKER_1}"}\n\n`),
    fc.constant(`event: remove\ndata: {"$subscription":"host","id":"${WORKER_1}"}\n\n`),
    fc.constant('event: update\ndata: {"__proto__":{"id":1},"$subscription":"VM"}\n\n'),
    fc.json().map((json) => `event: update\ndata: ${json}\n\n`),
    fc.string().map((text) => `event: add\ndata: ${text}\n\n`),
    fc.constantFrom("event: ping\ndata: {}\n\n", ": comment\n\n", "\n", "\r", "data", ":", "\0"),
  );
  const chunk = fc.oneof(
    { weight: 4, arbitrary: event.map((text) => new TextEncoder().encode(text)) },
    {
      weight: 1,
      arbitrary: fc.uint8Array({ maxLength: 20 }).map((bytes) => new Uint8Array(bytes)),
    },
  );
  const begin = new TextEncoder().encode('event: init\ndata: {"id":"1"}\n\n');

  test("makes hints of IDs and of everything out of any stream, a reason of its end, and goes on", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(chunk, { maxLength: 12 }), { maxLength: 3 }),
        async (streams) => {
          const bench = new Bench([...streams, [begin]]);
          for (let minutes = 0; minutes < 45; minutes += 1) await bench.deps.clock.advance(60_000);
          for (const hint of bench.hints) {
            if (hint !== "everything") for (const id of hint) expect(parseUuid(id)).toBe(id);
          }
          expect(bench.hints).toContain("everything");
          expect(bench.posts).toBeLessThanOrEqual(3 * (streams.length + 1));
          expect(bench.errors).not.toBeEmpty();
          await bench.stop();
          expect(bench.deps.clock.pending).toBe(0);
        },
      ),
      tries(60),
    );
  });

  test("hints once for each piece of a burst, however many events are in it", async () => {
    const text = `event: update\ndata: {"$subscription":"VM","id":"${WORKER_1}"}\n\n`;
    const burst = new TextEncoder().encode(text.repeat(10_000));
    const bench = new Bench([[begin, burst, burst]]);
    await bench.deps.clock.advance(100);
    expect(bench.hints).toEqual(["everything", new Set([WORKER_1]), new Set([WORKER_1])]);
    await bench.stop();
  });
});
