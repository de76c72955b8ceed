/**
 * The body of a watch, however it is cut into pieces.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { describeError } from "../../../lib/core/errors.ts";
import type { WatchEvent } from "../../../lib/kube/api/client.ts";
import { readWatchEvents } from "../../../lib/kube/api/watch_stream.ts";

const never = new AbortController().signal;
const EVENTS: WatchEvent[] = [
  { type: "ADDED", object: { metadata: { name: "a" } } },
  { type: "MODIFIED", object: { metadata: { name: "Grüße-日本-🚢" } } },
  { type: "ERROR", object: { kind: "Status", code: 410 } },
];
const BYTES = new TextEncoder().encode(
  EVENTS.map((event) => `${JSON.stringify(event)}\n`).join(""),
);

interface Body {
  stream: ReadableStream<Uint8Array>;
  cancelled: () => boolean;
}

/** A body that gives these chunks, and then ends or fails. */
function createBody(chunks: readonly (Uint8Array | string)[], failure?: Error): Body {
  let cancelled = false;
  const left = chunks.map((one) => (typeof one === "string" ? new TextEncoder().encode(one) : one));
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const next = left.shift();
        if (next !== undefined) controller.enqueue(next);
        else if (failure === undefined) controller.close();
        else controller.error(failure);
      },
      cancel() {
        cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, cancelled: () => cancelled };
}

async function readAll(body: Body, signal: AbortSignal = never): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  for await (const event of readWatchEvents(body.stream, 'watch "/x"', signal)) events.push(event);
  return events;
}

describe("readWatchEvents()", () => {
  test("passes over blank lines, a blank end too, and takes CRLF", async () => {
    const body = createBody(['\n{"type":"BOOKMARK","object":{}}\r\n\r\n \t']);
    expect(await readAll(body)).toEqual([{ type: "BOOKMARK", object: {} }]);
  });

  test.each([
    ["not json\n", "a line is not JSON"],
    ['"text"\n', "a line is not a watch event"],
    ["null\n", "a line is not a watch event"],
    ['{"type":1,"object":{}}\n', "a line is not a watch event"],
    ['{"type":"ADDED"}\n', "a line is not a watch event"],
    ['{"type":"ADDED","obj', "the stream ended within an event"],
  ])("fails on %p without showing it, and closes the stream", async (text, message) => {
    const body = createBody([text, "more\n"].slice(0, text.endsWith("\n") ? 2 : 1));
    const error = await readAll(body).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "KubeError", kind: "unavailable" });
    expect(String(error)).toEndWith(`Cannot watch "/x": ${message}`);
    expect(body.cancelled()).toBe(text.endsWith("\n"));
  });

  test("says that the connection broke", async () => {
    const broken = Object.assign(new Error("pass `verbose`"), { code: "ECONNRESET" });
    const error = await readAll(createBody([BYTES], broken)).catch((error: unknown) => error);
    expect(describeError(error)).toBe(
      'Cannot watch "/x": the connection was closed before the answer was complete',
    );
  });

  test("yields nothing more once the signal has aborted", async () => {
    const stop = new AbortController();
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of readWatchEvents(createBody([BYTES]).stream, "watch", stop.signal)) {
        seen.push(event.type);
        stop.abort(new Error("stop"));
      }
    })();
    await expect(reading).rejects.toThrow("stop");
    expect(seen).toEqual(["ADDED"]);
  });

  test("refuses what is no UTF-8: a name may be damaged", async () => {
    const [before = "", after = ""] = JSON.stringify(EVENTS[1]).split("ü");
    const encoder = new TextEncoder();
    const body = createBody([encoder.encode(before), new Uint8Array([0xfc]), `${after}\n`]);
    await expect(readAll(body)).rejects.toThrow('Cannot watch "/x": the answer is not UTF-8');
  });
});
