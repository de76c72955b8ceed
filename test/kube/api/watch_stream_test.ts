/**
 * The body of a watch, however it is cut into pieces.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { WatchEvent } from "../../../lib/kube/api/client.ts";
import { readWatchEvents } from "../../../lib/kube/api/watch_stream.ts";

const EVENTS: WatchEvent[] = [
  { type: "ADDED", object: { metadata: { name: "a" } } },
  { type: "MODIFIED", object: { metadata: { name: "Grüße-日本-🚢" } } },
  { type: "ERROR", object: { kind: "Status", code: 410 } },
];

interface Body {
  stream: ReadableStream<Uint8Array>;
  cancelled: () => boolean;
}

/** A body that gives these chunks, and then ends. */
function createBody(chunks: readonly (Uint8Array | string)[]): Body {
  let cancelled = false;
  const left = chunks.map((one) => (typeof one === "string" ? new TextEncoder().encode(one) : one));
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const next = left.shift();
        if (next !== undefined) controller.enqueue(next);
        else controller.close();
      },
      cancel() {
        cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, cancelled: () => cancelled };
}

async function readAll(body: Body): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  for await (const event of readWatchEvents({ body: body.stream })) events.push(event);
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
    expect(error).toMatchObject({ name: "BodyError", message });
    expect(body.cancelled()).toBe(text.endsWith("\n"));
  });

  test("refuses what is no UTF-8: a name may be damaged", async () => {
    const [before = "", after = ""] = JSON.stringify(EVENTS[1]).split("ü");
    const encoder = new TextEncoder();
    const body = createBody([encoder.encode(before), new Uint8Array([0xfc]), `${after}\n`]);
    await expect(readAll(body)).rejects.toThrow("the answer is not UTF-8");
  });
});
