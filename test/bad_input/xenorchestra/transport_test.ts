/**
 * What a socket can bring in place of an answer: each ends in a reason, soon, and takes no room.
 * @module
 */
import { afterEach, describe, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import type { CloudError } from "../../../lib/cloud/errors.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import { toDeps, toSettings } from "../../providers/xenorchestra/fake_server.ts";
import { ask, askElsewhere } from "../ask.ts";
import { longTest } from "../../support/long_tests.ts";

const MIB = 1024 * 1024;
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Sends these bytes to whoever asks, and then hangs up, or sends the last of them for ever. */
async function serve(
  parts: readonly (string | Uint8Array)[],
  end: "close" | "open" | "endless",
): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => {
      for (const part of parts) socket.write(part);
      if (end === "close") socket.end();
      const last = parts.at(-1) ?? "";
      const more = (): void => {
        while (!socket.destroyed && socket.write(last));
        if (!socket.destroyed) socket.once("drain", more);
      };
      if (end === "endless") more();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}

const OK = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const packed = gzipSync("[]".padEnd(10_000));
/** One of many such parts, which unpack as one text. */
const mib = gzipSync(Buffer.alloc(MIB, 32));

describe("XenOrchestraProvider, of a server that", () => {
  test.each<[string, readonly (string | Uint8Array)[], "close" | "open", CloudError["kind"]]>([
    ["hangs up", [], "close", "unreachable"],
    ["does not speak HTTP", ["220 smtp ready\r\n\r\n"], "close", "unreachable"],
    ["sends half a head", ["HTTP/1.1 200 O"], "close", "unreachable"],
    [
      "switches protocols",
      ["HTTP/1.1 101 X\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n[]"],
      "close",
      "unreachable",
    ],
    ["has a status of zero", ["HTTP/1.1 000 X\r\ncontent-length: 0\r\n\r\n"], "open", "protocol"],
    ["has a status of 999", ["HTTP/1.1 999 X\r\ncontent-length: 0\r\n\r\n"], "open", "unreachable"],
    ["has nothing to say", ["HTTP/1.1 204 X\r\n\r\n"], "open", "protocol"],
    [
      "says that nothing changed, unasked",
      ['HTTP/1.1 304 X\r\netag: "a"\r\n\r\n'],
      "open",
      "protocol",
    ],
    [
      "sends a part",
      ["HTTP/1.1 206 X\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n[]"],
      "open",
      "protocol",
    ],
    [
      "sends two lengths",
      [`${OK}content-length: 2\r\ncontent-length: 3\r\n\r\n[]`],
      "close",
      "unreachable",
    ],
    ["sends less than it says", [`${OK}content-length: 20\r\n\r\n[]`], "close", "unreachable"],
    ["sends a length below zero", [`${OK}content-length: -2\r\n\r\n[]`], "close", "unreachable"],
    [
      "breaks off within a chunk",
      [`${OK}transfer-encoding: chunked\r\n\r\n9\r\n[`],
      "close",
      "unreachable",
    ],
    [
      "sends chunks that are none",
      [`${OK}transfer-encoding: chunked\r\n\r\nzz\r\n[]`],
      "close",
      "unreachable",
    ],
    [
      "sends a page with 200",
      ["HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>"],
      "open",
      "protocol",
    ],
    [
      "sends an error with 200",
      [`${OK}content-length: 13\r\n\r\n{"error":"x"}`],
      "open",
      "protocol",
    ],
    [
      "redirects elsewhere",
      ["HTTP/1.1 302 X\r\nlocation: https://ann:geheim@evil.test/\r\ncontent-length: 0\r\n\r\n"],
      "close",
      "protocol",
    ],
    [
      "asks to wait for ever",
      [`HTTP/1.1 429 X\r\nretry-after: ${"9".repeat(99)}\r\ncontent-length: 0\r\n\r\n`],
      "open",
      "throttled",
    ],
  ])("%s", async (_title, parts, end, kind) => {
    const error = await ask(await serve(parts, end));
    expect(error.kind).toBe(kind);
    expect(error.retryAfterMs ?? 0).toBeLessThanOrEqual(300_000);
    expect(error.message).not.toContain("geheim");
  });

  test.each<[string, readonly (string | Uint8Array)[]]>([
    [
      "sends what is not packed as if it were",
      [`${OK}content-encoding: gzip\r\ncontent-length: 2\r\n\r\n[]`],
    ],
    ["breaks off what is packed", [`${OK}content-encoding: gzip\r\n\r\n`, packed.subarray(0, -12)]],
  ])("%s", async (_title, parts) => {
    const { kind, stderr } = await askElsewhere(await serve(parts, "close"));
    expect(kind).toBe("protocol");
    // The line is Bun's own.
    expect(stderr.replaceAll("Decompression error: ZlibError\n", "")).toBe("");
  });

  test("sends a byte order mark is understood", async () => {
    const body = Buffer.from("\uFEFF[]");
    const url = await serve([`${OK}content-length: ${body.length}\r\n\r\n`, body], "close");
    const provider = xenOrchestra.create(toSettings(url), toDeps());
    const inventory = await provider.listInventory([], new AbortController().signal);
    expect(inventory.instances.size).toBe(0);
  });

  longTest.each<[string, readonly (string | Uint8Array)[], "close" | "open" | "endless"]>([
    ["an endless head", ["HTTP/1.1 200 OK\r\n", "x-more: y\r\n".repeat(1_000)], "endless"],
    ["an endless line of a head", ["HTTP/1.1 200 OK\r\nx: ", "y".repeat(10_000)], "endless"],
    ["news of an answer for ever", ["HTTP/1.1 100 Continue\r\n\r\n".repeat(100)], "endless"],
    [
      "an endless list",
      [`${OK}transfer-encoding: chunked\r\n\r\n`, chunk(" ".repeat(MIB))],
      "endless",
    ],
    [
      "an endless refusal",
      [
        "HTTP/1.1 500 X\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
        chunk(" ".repeat(65_536)),
      ],
      "endless",
    ],
    [
      "an endless page",
      ["HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n", "x".repeat(65_536)],
      "endless",
    ],
    ["ten million brackets", [`${OK}\r\n`, "[".repeat(5_000_000) + "]".repeat(5_000_000)], "close"],
    [
      "a list that unpacks to 300 MiB",
      [`${OK}content-encoding: gzip\r\n\r\n`, ...Array<Uint8Array>(300).fill(mib)],
      "open",
    ],
  ])("sends %s takes a bounded part of the memory", async (_title, parts, end) => {
    const url = await serve(parts, end);
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    const error = await ask(url, end === "endless");
    expect(["protocol", "unreachable"]).toContain(error.kind);
    // Three lists at once, each to its bound of 64 MiB, whole and in pieces.
    expect(process.memoryUsage.rss() - before).toBeLessThan(450 * MIB);
  });
});
