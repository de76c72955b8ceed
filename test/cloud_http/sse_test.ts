import { describe, expect, test } from "bun:test";
import { type ServerSentEvent, SseParser } from "../../lib/cloud_http/sse.ts";

function parse(...pieces: readonly string[]): ServerSentEvent[] {
  const parser = new SseParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

describe("SseParser", () => {
  test.each<[string, string, readonly (readonly [string, string])[]]>([
    ["an event", "event: ping\ndata: 1\n\n", [["ping", "1"]]],
    ["one without a type", "data: 1\n\n", [["message", "1"]]],
    ["one without a blank after the colon", "event:ping\ndata:1\n\n", [["ping", "1"]]],
    ["two blanks, of which one is data", "data:  1\n\n", [["message", " 1"]]],
    ["several lines of data", "data: 1\ndata\ndata: 2\n\n", [["message", "1\n\n2"]]],
    ["empty data", "data\n\n", [["message", ""]]],
    ["a type without data, which is forgotten", "event: a\n\ndata: 1\n\n", [["message", "1"]]],
    [
      "comments, IDs and unknown fields",
      ": hi\nid: 1\nretry: 9\nx\ndata: 1\n\n",
      [["message", "1"]],
    ],
    ["a byte order mark", "\uFEFFdata: 1\n\n", [["message", "1"]]],
    [
      "carriage returns",
      "event: a\rdata: 1\r\rdata: 2\r\r",
      [
        ["a", "1"],
        ["message", "2"],
      ],
    ],
    [
      "both",
      "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n",
      [
        ["a", "1"],
        ["message", "2"],
      ],
    ],
    ["what is not complete", "data: 1\n", []],
    ["nothing", "", []],
  ])("reads %s, whole and character by character", (_title, text, wanted) => {
    const events = wanted.map(([event, data]) => ({ event, data }));
    expect(parse(text)).toEqual(events);
    expect(parse(...text)).toEqual(events);
  });

  test("counts the characters of an event once, however it is cut", () => {
    const parser = new SseParser();
    const piece = "x".repeat(25_000);
    parser.push("data: ");
    for (let at = 0; at < 10; at += 1) expect(parser.push(piece)).toEqual([]);
    expect(parser.push("\n\n")).toHaveLength(1);
  });

  test("goes on for ever when events end", () => {
    const parser = new SseParser();
    const event = `data: ${"x".repeat(125_000)}\n\n`;
    for (let at = 0; at < 20; at += 1) expect(parser.push(event)).toHaveLength(1);
  });
});
