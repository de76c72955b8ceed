/**
 * Streams of server-sent events that are cut, mixed, endless or rubbish.
 * @module
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ChangeHints } from "../../../lib/cloud/inventory/source.ts";
import type { Reply, StreamReply } from "../../../lib/cloud_http/client.ts";
import type { ChangeHint } from "../../../lib/cloud/provider.ts";
import { createLogger } from "../../../lib/core/log.ts";
import { parseUuid } from "../../../lib/core/text/values.ts";
import { createEventFeed } from "../../../lib/providers/xenorchestra/client.ts";
import { toDeps, WORKER_1 } from "../../providers/xenorchestra/fake_server.ts";
import { tries } from "../../support/extent.ts";
import { checkWords } from "./stage.ts";
import { longTest } from "../../support/long_tests.ts";

longTest("ChangeHints takes no more room for 200,000 hints than for nine", () => {
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
