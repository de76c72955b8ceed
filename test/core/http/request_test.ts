import { afterEach, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import fc from "fast-check";
import {
  BodyError,
  BodyGroup,
  parseBytes,
  parseReply,
  parseRetryAfter,
  readPieces,
  readText,
  sendHttp,
} from "../../../lib/core/http/request.ts";
import { until } from "../../support/nodes/rig.ts";
import { tries } from "../../support/extent.ts";

describe("parseRetryAfter()", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  test.each([
    [null, undefined],
    ["0", 0],
    [" 7 ", 7000],
    ["Thu, 01 Jan 2026 00:00:05 GMT", 5000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
    ["soon", undefined],
    ["-1", undefined],
    ["1.5", undefined],
    // No server silences the client for more than five minutes.
    ["9999999", 300_000],
    ["Fri, 31 Dec 2100 23:59:59 GMT", 300_000],
  ])("reads %p as %p", (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });
});

/** A body that goes on as long as somebody reads it. */
function createEndless(): {
  body: ReadableStream<Uint8Array>;
  sent: () => number;
  ended: () => boolean;
} {
  let sent = 0;
  let isEnded = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        sent += 1_000;
        controller.enqueue(new Uint8Array(1_000).fill(97));
      },
      cancel() {
        isEnded = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, sent: () => sent, ended: () => isEnded };
}

function cut(bytes: Uint8Array, size: number): Pick<Response, "body"> {
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_one, at) =>
    bytes.slice(at * size, (at + 1) * size),
  );
  return new Response(
    new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    }),
  );
}

const ALL = { bytesMax: 1024 * 1024 };

describe("readText()", () => {
  test("reads a body whatever the size of its pieces, without a byte order mark", async () => {
    const bytes = new TextEncoder().encode("\uFEFFGrüße-日本-🚢");
    for (const size of [1, 2, 3, 5, 100]) {
      expect(await readText(cut(bytes, size), ALL)).toBe("Grüße-日本-🚢");
    }
  });

  test("gives nothing for no body", async () => {
    expect(await readText(new Response(null), ALL)).toBe("");
  });

  test("takes as much as the bound, and not a byte more", async () => {
    const bytes = new TextEncoder().encode("abcdef");
    for (const size of [1, 4, 6]) {
      expect(await readText(cut(bytes, size), { bytesMax: 6 })).toBe("abcdef");
      const error = "the answer is longer than 5 bytes";
      await expect(readText(cut(bytes, size), { bytesMax: 5 })).rejects.toThrow(error);
      expect(await readText(cut(bytes, size), { bytesMax: 5, isCut: true })).toBe("abcde");
    }
  });

  test.each([false, true])("ends what has no end (cut: %p)", async (isCut) => {
    const endless = createEndless();
    const reading = readText(endless, { bytesMax: 10 * 1024 * 1024, isCut });
    if (isCut) expect(await reading).toHaveLength(10 * 1024 * 1024);
    else await expect(reading).rejects.toThrow("the answer is longer than 10Mi");
    expect(endless.sent()).toBeLessThan(10 * 1024 * 1024 + 3_000);
    expect(endless.ended()).toBe(true);
  });

  test.each([
    [[0xff], "is not UTF-8"],
    [[0x7b, 0xc3], "ended within a character"],
    [[0xed, 0xa0, 0x80], "is not UTF-8"],
    [[0xfe, 0xff, 0, 0x7b], "is not UTF-8"],
  ])("refuses %p, which is no UTF-8, but for people", async (bytes, problem) => {
    const body = (): Pick<Response, "body"> => new Response(new Uint8Array(bytes));
    await expect(readText(body(), ALL)).rejects.toThrow(`the answer ${problem}`);
    expect(await readText(body(), { ...ALL, isCut: true })).toContain("\uFFFD");
  });

  test("passes on what breaks the connection", async () => {
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) });
    await expect(readText({ body }, ALL)).rejects.toThrow("reset");
  });
});

describe("readPieces()", () => {
  test("gives each piece as it comes, whole characters only", async () => {
    const pieces: string[] = [];
    for await (const piece of readPieces(cut(new TextEncoder().encode("aé"), 2), ALL))
      pieces.push(piece);
    expect(pieces).toEqual(["a", "é", ""]);
  });

  test("cancels what is left when nobody wants it", async () => {
    const endless = createEndless();
    const pieces = readPieces(endless, { bytesMax: Infinity });
    expect((await pieces.next()).value).toHaveLength(1_000);
    await pieces.return();
    expect(endless.ended()).toBe(true);
  });
});

test("readText() counts bodies that are read at the same time, and no longer", async () => {
  const group = new BodyGroup(8);
  const options = { bytesMax: 6, group };
  const body = (): Pick<Response, "body"> => cut(new TextEncoder().encode("abcdef"), 2);
  const both = await Promise.allSettled([readText(body(), options), readText(body(), options)]);
  expect(both).toContainEqual({ status: "rejected", reason: expect.any(BodyError) });
  expect(await readText(body(), options)).toBe("abcdef");
});

describe("parseReply()", () => {
  const bytesMax = 4 * 1024 * 1024;

  test("parses what has room, and a text that is long but simple", () => {
    expect(parseReply('{"a":[1]}', bytesMax)).toEqual({ a: [1] });
    const long = "x".repeat(1024 * 1024);
    expect(parseReply(JSON.stringify([long]), bytesMax)).toEqual([long]);
    expect(() => parseReply("[", bytesMax)).toThrow(SyntaxError);
  });

  test.each([
    ["nested lists", "[".repeat(50_000) + "]".repeat(50_000)],
    ["nested objects", `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`],
    ["short objects", `[${"{},".repeat(50_000)}{}]`],
    ["short texts", JSON.stringify(Array.from({ length: 50_000 }, (_one, at) => `a${at}`))],
    ["numbers", `[${"1,".repeat(200_000)}1]`],
  ])("does not parse %s that need too much memory", (_title, text) => {
    expect(() => parseReply(text, bytesMax)).toThrow("would need more than 4Mi of memory");
  });
});

describe("parseBytes()", () => {
  const parse = (value: unknown): unknown =>
    parseBytes(Buffer.from(JSON.stringify(value)), ["managedFields", "images"]);

  test("leaves unread lists of objects empty", () => {
    const node = (managedFields: object[], images: object[]): object => ({
      metadata: { name: "é", managedFields },
      status: { phase: "", images, addresses: [{ type: "Hostname" }] },
    });
    const full = node([{ "f:a": { "k:{}": {} } }], [{ names: ["a", "b"], sizeBytes: 1 }, {}]);
    expect(parse(full)).toEqual(node([], []));
    expect(parse(node([], []))).toEqual(node([], []));
    expect(parse(node([], [{}]))).toEqual(node([], []));
  });

  test("reads all else as JSON.parse() does, whatever the lists have", async () => {
    const piece = fc.constantFrom(
      "}]",
      "]",
      "}",
      '"',
      "\\",
      ",",
      ":",
      '"images":[{',
      "{",
      "é",
      "a",
    );
    const hostile = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
    const image = fc.record({ names: fc.array(hostile, { maxLength: 3 }) }, { requiredKeys: [] });
    const inner = fc.record({ inner: fc.array(image, { maxLength: 2 }), name: hostile });
    const list = fc.array(fc.oneof(image, inner), { maxLength: 3 });
    const rest = fc.record({ a: hostile, b: list, c: hostile }, { requiredKeys: [] });
    const document = fc.record({ type: hostile, status: fc.record({ x: hostile, images: list }) });
    await fc.assert(
      fc.property(document, rest, ({ type, status }, more) => {
        const whole = { type, status: { ...status, ...more }, more };
        const read = parse(whole) as typeof whole;
        const { images } = read.status;
        expect([[], status.images]).toContainEqual(images);
        expect({ ...read, status: { ...read.status, images: [] } }).toEqual({
          ...whole,
          status: { ...whole.status, images: [] },
        });
      }),
      tries(2_000),
    );
  });

  test.each([
    ["no JSON", '{"a":1,"images":[{}],}', SyntaxError],
    ["no UTF-8", new Uint8Array([0x7b, 0xff]), "is not UTF-8"],
  ])("refuses what is %s", (_what, body, problem) => {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    expect(() => parseBytes(bytes, ["images"])).toThrow(problem);
  });
});

const HEADERS = { accept: "application/json", "impersonate-group": ["a", "b"] };
const REQUEST = { method: "POST", headers: HEADERS, body: "{}", tls: {} } as const;
const signal = new AbortController().signal;
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

interface Heard {
  readonly url: string;
  /** What each connection sent. */
  readonly requests: string[];
}

/** Answers the request of each connection with this text, and then closes it or leaves it open. */
async function listen(answer: string, end: "close" | "open" = "close"): Promise<Heard> {
  const requests: string[] = [];
  const server = createServer((socket) => {
    const at = requests.push("") - 1;
    socket.on("error", () => {});
    socket.on("data", (data: Buffer) => {
      requests[at] += data.toString();
      if (!requests[at]?.includes("\r\n\r\n{}")) return;
      socket.write(answer);
      if (end === "close") socket.end();
    });
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", () => done()));
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  return { url: `http://127.0.0.1:${port}/apis/x?y=z`, requests };
}

const OK = "HTTP/1.1 201 Created\r\ncontent-length: 4\r\nretry-after: 3\r\n\r\nbody";

describe("sendHttp() with several values in one header", () => {
  test("sends a line for each value, and gives the reply as fetch does", async () => {
    const { url, requests } = await listen(OK);
    const reply = await sendHttp(url, { ...REQUEST, signal });
    expect([reply.status, reply.headers.get("retry-after")]).toEqual([201, "3"]);
    expect(await reply.text()).toBe("body");
    const [head = "", body] = requests.join().split("\r\n\r\n");
    const lines = head.toLowerCase().split("\r\n");
    expect(lines[0]).toBe("post /apis/x?y=z http/1.1");
    expect(lines.filter((line) => line.startsWith("impersonate-"))).toEqual([
      "impersonate-group: a",
      "impersonate-group: b",
    ]);
    expect(lines).toContain("content-length: 2");
    expect(body).toBe("{}");
  });

  test("uses a connection once, and follows no redirect", async () => {
    const { url, requests } = await listen(
      "HTTP/1.1 302 Found\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n",
    );
    for (let times = 0; times < 2; times += 1) {
      expect((await sendHttp(url, { ...REQUEST, signal })).status).toBe(302);
    }
    expect(requests).toHaveLength(2);
  });

  test("streams a body, and ends it by the signal", async () => {
    const start = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n";
    const { url } = await listen(start, "open");
    const stop = new AbortController();
    const reply = await sendHttp(url, { ...REQUEST, signal: stop.signal });
    const reader = reply.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toBe("first");
    stop.abort(new Error("over"));
    await expect(reader?.read()).rejects.toThrow();
  });

  test("rejects without a server, and when the signal aborts before the reply", async () => {
    await expect(sendHttp("http://127.0.0.1:1/", { ...REQUEST, signal })).rejects.toThrow();
    const { url, requests } = await listen("", "open");
    const stop = new AbortController();
    const sending = sendHttp(url, { ...REQUEST, signal: stop.signal });
    await until("the request is there", () => requests.length > 0);
    stop.abort(new Error("over"));
    await expect(sending).rejects.toThrow();
  });
});
