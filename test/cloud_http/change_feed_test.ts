/**
 * Streams that begin, end, fall silent or are refused, of no cloud in particular.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { CloudError } from "../../lib/cloud/errors.ts";
import type { ChangeHint } from "../../lib/cloud/provider.ts";
import { ChangeFeed, type ChangeSource, Unsupported } from "../../lib/cloud_http/change_feed.ts";
import { createLogger } from "../../lib/core/log.ts";
import { until } from "../support/nodes/rig.ts";
import { toDeps } from "./fake_server.ts";

/** A cloud whose streams a test writes to. */
class FakeSource implements ChangeSource {
  readonly server = "Example Cloud";
  readonly silenceMs = 20_000;
  /** Thrown instead of opening a stream. */
  refusal: Error | undefined;
  /** Whether what would begin a stream waits for ever. */
  isStuck = false;
  opened = 0;
  begun = 0;
  /** How many streams the feed let go of. */
  left = 0;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;

  open(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    this.opened += 1;
    if (this.refusal) return Promise.reject(this.refusal);
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => {
        this.#stream = stream;
        // As the body of a request does.
        const leave = (): void => {
          this.left += 1;
          stream.error(signal.reason);
        };
        signal.addEventListener("abort", leave, { once: true });
        this.send("hello");
      },
    });
    return Promise.resolve(body);
  }

  async begin({ event }: { readonly event: string }, signal: AbortSignal): Promise<boolean> {
    if (event !== "hello") return false;
    this.begun += 1;
    if (this.isStuck) {
      await new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
      );
    }
    return true;
  }

  toHint(
    events: readonly { readonly event: string; readonly data: string }[],
  ): ChangeHint | undefined {
    const ids = events.filter(({ event }) => event === "change").map(({ data }) => data);
    return ids.length > 0 ? new Set(ids) : undefined;
  }

  send(event: string, data = "x"): void {
    this.#stream?.enqueue(new TextEncoder().encode(`event: ${event}\ndata: ${data}\n\n`));
  }

  end(): void {
    this.#stream?.close();
  }

  break(): void {
    this.#stream?.error(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
  }
}

let source: FakeSource;
let deps: ReturnType<typeof toDeps>;
let hints: ChangeHint[];
/** What is for everybody. */
let lines: string[];
/** How often it began to wait for the next try. */
let waits: number;
let stop: AbortController;
let ended: Promise<void>;

beforeEach(() => {
  source = new FakeSource();
  deps = toDeps();
  [hints, lines, waits] = [[], [], 0];
  stop = new AbortController();
  ended = Promise.resolve();
});
afterEach(async () => {
  stop.abort();
  await ended;
});

function start(): void {
  const write = (line: string): void => {
    if (line.includes(" DEBUG ")) waits += 1;
    else lines.push(line);
  };
  const log = createLogger({ format: "text", level: "debug", write, now: () => 0 });
  const feed = new ChangeFeed({ ...deps, log, source, random: () => 0 });
  ended = feed.run((hint) => hints.push(hint), stop.signal);
}

function isConnected(): boolean {
  return /^landfall_change_stream_connected 1$/m.test(deps.metrics.render());
}

function untilWaits(times: number): Promise<void> {
  return until(`it waits ${times} times`, () => waits === times);
}

/** Checks that the next try comes after so long, and not before. */
async function expectTryAfter(ms: number): Promise<void> {
  const before = source.opened;
  await deps.clock.advance(ms - 1);
  expect(source.opened).toBe(before);
  await deps.clock.advance(1);
  await until("it tried again", () => source.opened === before + 1);
}

describe("ChangeFeed", () => {
  test("hints at everything when a stream begins, then at what is told", async () => {
    start();
    await until("it is connected", isConnected);
    source.send("other");
    source.send("change", "1");
    await until("it is hinted at", () => hints.length === 2);
    expect(hints).toEqual(["everything", new Set(["1"])]);
    expect(lines.join("")).toContain("Example Cloud reports changes as they happen");
  });

  test("lets a stream begin once, whatever it says", async () => {
    start();
    for (let at = 0; at < 5; at += 1) source.send("hello");
    source.send("change", "1");
    await until("what follows is hinted at", () => hints.length === 2);
    expect(source.begun).toBe(1);
  });

  test.each([
    ["ends", () => source.end(), "Example Cloud ended the stream of events"],
    [
      "breaks",
      () => source.break(),
      "the stream of events broke: the connection was closed before the answer was complete",
    ],
  ] as const)("opens another stream when one %s, and hints at everything again", async (...row) => {
    const [, act, why] = row;
    start();
    await until("it is connected", isConnected);
    await deps.clock.advance(15_000);
    act();
    await untilWaits(1);
    expect(isConnected()).toBe(false);
    expect(lines.at(-1)).toContain("Event stream lost; falling back to polling");
    expect(lines.at(-1)).toContain(why);
    await expectTryAfter(1_000);
    await until("it is connected", isConnected);
    expect(hints).toEqual(["everything", "everything"]);
  });

  test("waits ever longer for a server whose streams end at once, and not after a good one", async () => {
    start();
    for (const [index, ms] of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000].entries()) {
      await until("it is connected", isConnected);
      source.end();
      await untilWaits(index + 1);
      await expectTryAfter(ms);
    }
    await until("it is connected", isConnected);
    for (let at = 0; at < 4; at += 1) {
      await deps.clock.advance(15_000);
      source.send("ping");
      await Bun.sleep(1);
    }
    source.end();
    await untilWaits(8);
    await expectTryAfter(1_000);
  });

  test("leaves a stream that is silent for longer than it may be, and keeps one that pings", async () => {
    start();
    await until("it is connected", isConnected);
    await deps.clock.advance(19_999);
    source.send("ping");
    await Bun.sleep(1);
    await deps.clock.advance(19_999);
    expect(isConnected()).toBe(true);
    await deps.clock.advance(1);
    await untilWaits(1);
    expect(lines.at(-1)).toContain("Example Cloud sent no event for 20 s");
    expect(source.left).toBe(1);
  });

  test("waits no longer than 10 s for a stream to begin", async () => {
    source.isStuck = true;
    start();
    await until("it is stuck", () => source.begun === 1);
    await deps.clock.advance(10_000);
    await untilWaits(1);
    expect([hints, isConnected()]).toEqual([[new Set()], false]);
    expect(lines.at(-1)).toContain("Example Cloud sent no event for 10 s");
  });

  test("goes without events where there are none, and looks again after 10 min", async () => {
    source.refusal = new Unsupported("no such thing");
    start();
    await untilWaits(1);
    expect(lines.map((line) => line.split(" ")[1])).toEqual(["INFO"]);
    expect(lines[0]).toContain("Example Cloud has no event stream; falling back to polling");
    await expectTryAfter(600_000);
    await untilWaits(2);
    expect(lines).toHaveLength(1);
    source.refusal = undefined;
    await expectTryAfter(600_000);
    await until("it is connected", isConnected);
  });

  test("comes back within a minute where there were events before", async () => {
    start();
    await until("it is connected", isConnected);
    source.refusal = new Unsupported("something in between");
    source.end();
    await untilWaits(1);
    await expectTryAfter(1_000);
    await untilWaits(2);
    await expectTryAfter(60_000);
  });

  test.each([
    ["is in trouble", new CloudError("unreachable", "x"), 1_000],
    ["asks to wait", new CloudError("throttled", "x", { retryAfterMs: 20_000 }), 20_000],
    ["refuses the credentials", new CloudError("denied", "x", { retryAfterMs: 500 }), 60_000],
  ] as const)("tries again when the server %s", async (_title, refusal, ms) => {
    source.refusal = refusal;
    start();
    await untilWaits(1);
    await expectTryAfter(ms);
  });

  test("tries soon, once, when it is refused right after a loss", async () => {
    start();
    await until("it is connected", isConnected);
    source.end();
    source.refusal = new CloudError("denied", "x");
    await untilWaits(1);
    await expectTryAfter(1_000);
    await untilWaits(2);
    await expectTryAfter(5_000);
    await untilWaits(3);
    await expectTryAfter(60_000);
  });

  test("ends with its signal, and leaves nothing behind", async () => {
    start();
    await until("it is connected", isConnected);
    stop.abort();
    await ended;
    expect([isConnected(), source.left, deps.clock.pending]).toEqual([false, 1, 0]);
  });
});
