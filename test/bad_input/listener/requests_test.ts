/**
 * Requests that are none, or more than one, or not what they seem, at every listener.
 * @module
 */
import { describe, expect } from "bun:test";
import fc from "fast-check";
import { tries } from "../../support/extent.ts";
import type { RawConnection } from "../../support/net/raw_http.ts";
import { LISTENER_KINDS, type ListenerStage, PROTECTED, useListener } from "./stage.ts";
import { longTest } from "../../support/long_tests.ts";

const HOST = "Host: localhost\r\n";
const PROBE = `GET /livez HTTP/1.1\r\n${HOST}\r\n`;
/** All that an answer to anything may say. */
const STATUSES: ReadonlySet<number> = new Set([
  200, 400, 401, 404, 405, 413, 417, 421, 431, 500, 501, 503, 505,
]);
const WAIT_MS = 15_000;
const NEVER = "never";

/** What is sent, and the answer; `closed` where the connection must end with it. */
type Case = readonly [title: string, text: string, answer: string];

const get = (head: string, path = "/livez"): string => `GET ${path} HTTP/1.1\r\n${HOST}${head}\r\n`;
const line = (first: string): string => `${first}\r\n${HOST}\r\n`;
const SMUGGLED = `GET /configz HTTP/1.1\r\n${HOST}\r\n`;

const CASES: readonly Case[] = [
  ["a good request", PROBE, "200"],
  ["empty lines before it", `\r\n\r\n${PROBE}`, "200"],
  ["HTTP/1.0", line("GET /livez HTTP/1.0"), "200 closed"],
  ["HTTP/0.9", "GET /livez\r\n\r\n", "505 closed"],
  ["HTTP/0.9 by name", line("GET /livez HTTP/0.9"), "505 closed"],
  ["HTTP/1.2", line("GET /livez HTTP/1.2"), "400 closed"],
  ["HTTP/2.0", line("GET /livez HTTP/2.0"), "505 closed"],
  ["HTTP/99", line("GET /livez HTTP/99.99"), "400 closed"],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400 closed"],
  ["another protocol", "SSH-2.0-OpenSSH_9.9\r\n", "400 closed"],
  [
    "a length and chunks",
    `${get("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n")}0\r\n\r\n${SMUGGLED}`,
    "400 closed",
  ],
  [
    "chunks and a length",
    `${get("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n")}0\r\n\r\n${SMUGGLED}`,
    "400 closed",
  ],
  ["two lengths", `${get("Content-Length: 0\r\nContent-Length: 5\r\n")}12345`, "400 closed"],
  ["the same length twice", get("Content-Length: 0\r\nContent-Length: 0\r\n"), "400 closed"],
  ["a list of lengths", get("Content-Length: 0, 5\r\n"), "400 closed"],
  ["a length with a sign", get("Content-Length: +0\r\n"), "400 closed"],
  ["a length below nothing", get("Content-Length: -1\r\n"), "400 closed"],
  ["a hexadecimal length", get("Content-Length: 0x0\r\n"), "400 closed"],
  ["no length", get("Content-Length: \r\n"), "400 closed"],
  ["a length of 26 digits", get(`Content-Length: ${"9".repeat(26)}\r\n`), "400 closed"],
  ["a length of two zeros", get("Content-Length: 00\r\n"), "413 closed"],
  [
    "a body that hides a request",
    `${get(`Content-Length: ${SMUGGLED.length}\r\n`)}${SMUGGLED}`,
    "413 closed",
  ],
  [
    "chunks that hide a request",
    `${get("Transfer-Encoding: chunked\r\n")}0\r\n\r\n${SMUGGLED}`,
    "413 closed",
  ],
  [
    "chunks of no size",
    `${get("Transfer-Encoding: chunked\r\n")}zzzz\r\n${SMUGGLED}`,
    "413 closed",
  ],
  [
    "a chunk beyond all sizes",
    `${get("Transfer-Encoding: chunked\r\n")}${"F".repeat(17)}\r\n`,
    "413 closed",
  ],
  [
    "chunks with much to say",
    `${get("Transfer-Encoding: chunked\r\n")}1;${"x".repeat(40_000)}`,
    "413 closed",
  ],
  ["an encoding that is none", get("Transfer-Encoding: xchunked\r\n"), "413 closed"],
  ["identity", get("Transfer-Encoding: identity\r\n"), "413 closed"],
  ["a blank before the colon", get("Transfer-Encoding : chunked\r\n"), "400 closed"],
  ["a vertical tab before a value", get("Transfer-Encoding:\u000bchunked\r\n"), "400 closed"],
  ["a header in two lines", get("X: a\r\n b\r\n"), "400 closed"],
  ["lines that end without CR", "GET /livez HTTP/1.1\nHost: localhost\n\n", "400 closed"],
  ["a CR within a header", get("X: a\rY: b\r\n"), "400 closed"],
  ["a zero in a value", get("X: a\0b\r\n"), "400 closed"],
  ["a zero in a name", get("X\0: b\r\n"), "400 closed"],
  ["a zero in the path", get("", "/livez\0"), "400 closed"],
  ["no name of a header", get(": a\r\n"), "400 closed"],
  ["no colon", get("abc\r\n"), "400 closed"],
  ["a name of signs", get("a(b): c\r\n"), "400 closed"],
  ["names that objects have", get("__proto__: a\r\nconstructor: b\r\n"), "200"],
  ["bytes beyond ASCII in a value", get("X: \u00ff\u0080\r\n"), "200"],
  ["bytes beyond ASCII in the path", get("", "/li\u00ffvez"), "400 closed"],
  ["a tab in the path", get("", "/li\tvez"), "400 closed"],
  ["tabs between", line("GET\t/livez\tHTTP/1.1"), "400 closed"],
  ["no path", line("GET  HTTP/1.1"), "400 closed"],
  ["an address", get("", "http://localhost/livez"), "400 closed"],
  ["another's address", get("", "https://evil.example/livez"), "400 closed"],
  ["a star", get("", "*"), "400 closed"],
  ["a path without a slash", get("", "livez"), "400 closed"],
  ["OPTIONS *", line("OPTIONS * HTTP/1.1"), "405 closed"],
  ["CONNECT", line("CONNECT evil.example:443 HTTP/1.1"), "405 closed"],
  ["TRACE", line("TRACE /livez HTTP/1.1"), "405 closed"],
  ["OPTIONS", line("OPTIONS /configz HTTP/1.1"), "405 closed"],
  ["PUT", line("PUT /livez HTTP/1.1"), "405 closed"],
  ["DELETE", line("DELETE /debug/nodes/a HTTP/1.1"), "405 closed"],
  ["a method that nobody knows", line("FETCH /livez HTTP/1.1"), "501 closed"],
  ["a method in small letters", line("get /livez HTTP/1.1"), "400 closed"],
  ["a method without an end", "A".repeat(40_000), "400 closed"],
  ["a path without an end", `GET /${"a".repeat(40_000)}`, "431 closed"],
  ["a query of 15 KiB", get("", `/livez?${"a".repeat(15_000)}`), "200"],
  ["a header without an end", `GET / HTTP/1.1\r\nX: ${"a".repeat(40_000)}`, "431 closed"],
  ["a name without an end", `GET / HTTP/1.1\r\n${"a".repeat(40_000)}`, "431 closed"],
  ["2,500 headers before the host", get(`${"a:\r\n".repeat(2_500)}Host: evil\r\n`), "431 closed"],
  [
    "1,500 names",
    get(Array.from({ length: 1_500 }, (_, at) => `a${at}:a\r\n`).join("")),
    "431 closed",
  ],
  ["headers of 16 KiB together", get(`X: ${"a".repeat(4_000)}\r\n`.repeat(5)), "431 closed"],
  ["another protocol offered", get("Connection: Upgrade\r\nUpgrade: websocket\r\n"), "200 closed"],
  [
    "HTTP/2 offered",
    get("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n"),
    "200 closed",
  ],
  [
    "a request behind an offer",
    get("Connection: Upgrade\r\nUpgrade: h2c\r\n") + SMUGGLED,
    "200 closed",
  ],
  ["a body to be asked for", get("Expect: 100-continue\r\n"), "200"],
  ["a strange wish", get("Expect: a miracle\r\n"), "417 closed"],
  ["the method in a header", get("X-HTTP-Method-Override: DELETE\r\n"), "200"],
  ["a range", get("Range: bytes=0-0,0-0,-1\r\n"), "200"],
  ["a path in a header", get("X-Original-URL: /configz\r\nX-Rewrite-URL: /configz\r\n"), "200"],
];

/** Sends a text. @returns What was answered, and whether the connection ended with it */
async function findAnswer(stage: ListenerStage, text: string): Promise<string> {
  const connection = await stage.open();
  connection.send(text);
  await within(Promise.race([connection.untilAnswers(1).catch(() => {}), connection.closed]));
  if (connection.statuses.length === 1 && !/^Connection: close/im.test(connection.received)) {
    const [status] = connection.statuses;
    // It must take another request then.
    connection.send(PROBE);
    const isOver = (await within(connection.untilAnswers(2))) === NEVER;
    connection.socket.destroy();
    checkAnswers(stage, connection);
    return isOver ? `${status}, and then nothing` : String(status);
  }
  const isClosed = (await within(connection.closed)) !== NEVER;
  checkAnswers(stage, connection);
  return `${connection.statuses.join()} ${isClosed ? "closed" : "open"}`;
}

/** Makes sure that nothing was answered but statuses that there are, and nothing shown that needs a token. */
function checkAnswers(stage: ListenerStage, { statuses, received }: RawConnection): void {
  if (received !== "" && !received.startsWith("HTTP/1.1 "))
    throw new Error(`not HTTP: ${received}`);
  for (const status of statuses) if (!STATUSES.has(status)) throw new Error(`status ${status}`);
  if (stage.asks && PROTECTED.test(received)) throw new Error(`shown: ${received}`);
}

function within<T>(promise: Promise<T>): Promise<T | string> {
  return Promise.race([promise, Bun.sleep(WAIT_MS).then(() => NEVER)]);
}

/** Ways to spoil bytes. */
const spoil: fc.Arbitrary<(bytes: Buffer) => Buffer> = fc.oneof(
  fc.tuple(fc.nat(), fc.nat(255)).map(([at, value]) => (bytes: Buffer) => {
    const copy = Buffer.from(bytes);
    if (copy.length > 0) copy[at % copy.length] = value;
    return copy;
  }),
  fc.nat().map((at) => (bytes: Buffer) => bytes.subarray(0, at % (bytes.length + 1))),
  fc.tuple(fc.nat(), fc.nat(40)).map(([at, length]) => (bytes: Buffer) => {
    const from = at % (bytes.length + 1);
    const piece = bytes.subarray(from, from + length);
    return Buffer.concat([bytes.subarray(0, from), piece, bytes.subarray(from)]);
  }),
  fc.tuple(fc.nat(), fc.nat(10)).map(([at, length]) => (bytes: Buffer) => {
    const from = at % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + length)]);
  }),
  fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 20 })).map(([at, more]) => (bytes: Buffer) => {
    const from = at % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, from), more, bytes.subarray(from)]);
  }),
);

const GOOD = [
  PROBE,
  SMUGGLED,
  `${PROBE}${SMUGGLED}`,
  get("Accept: text/html\r\nAuthorization: Bearer nobody\r\n", "/debug/nodes/a%20b?format=text"),
  `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n`,
];
const soup: fc.Arbitrary<Buffer> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.uint8Array({ maxLength: 400 }).map((bytes): Buffer => Buffer.from(bytes)),
  },
  {
    weight: 5,
    arbitrary: fc
      .tuple(fc.constantFrom(...GOOD), fc.array(spoil, { minLength: 1, maxLength: 5 }))
      .map(([text, ways]) =>
        ways.reduce<Buffer>((bytes, way) => way(bytes), Buffer.from(text, "latin1")),
      ),
  },
);

describe.each(LISTENER_KINDS.map((kind) => [kind] as const))("the %s", (kind) => {
  const use = useListener(kind);

  longTest(
    `the ${kind} gives each of ${CASES.length} strange requests the answer that it deserves`,
    async () => {
      const stage = use();
      const found: Record<string, string> = {};
      for (const [title, text] of CASES) found[title] = await findAnswer(stage, text);
      expect(found).toEqual(Object.fromEntries(CASES.map(([title, , answer]) => [title, answer])));
      expect(stage.logged).toEqual([]);
      await stage.expectWell();
    },
  );

  longTest(
    `the ${kind} answers soup of bytes and spoilt requests with a status or an end`,
    async () => {
      const stage = use();
      await fc.assert(
        fc.asyncProperty(fc.array(soup, { minLength: 1, maxLength: 10 }), async (many) => {
          await Promise.all(
            many.map(async (bytes) => {
              const connection = await stage.open();
              connection.socket.end(bytes);
              await within(connection.closed);
              if (!connection.socket.closed) throw new Error("it stays open");
              checkAnswers(stage, connection);
            }),
          );
        }),
        tries(15),
      );
      expect(stage.logged).toEqual([]);
      await stage.expectWell();
    },
  );
});
