/**
 * Handshakes that are none, too old, too long, or never end, at the HTTPS port.
 * @module
 */
import { beforeAll, expect } from "bun:test";
import { connect, createServer, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import fc from "fast-check";
import { tries } from "../../support/extent.ts";
import { readTls } from "../../support/net/tls_fixtures.ts";
import { useListener } from "./stage.ts";
import { longTest } from "../../support/long_tests.ts";

const PROBE = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
const RECORD_MAX = 16_384;

const use = useListener("HTTPS port");
let hello: Buffer = Buffer.alloc(0);
beforeAll(async () => {
  hello = await recordHello();
});

/** What a client of today says first. */
async function recordHello(): Promise<Buffer> {
  const heard = Promise.withResolvers<Buffer>();
  const server = createServer((socket) => {
    socket.once("data", (chunk: Buffer) => {
      heard.resolve(chunk);
      socket.destroy();
    });
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  connectTls({ port, host: "127.0.0.1", servername: "localhost" }).on("error", () => {});
  const bytes = await heard.promise;
  server.close();
  return bytes;
}

/** A ClientHello of RFC 5246 with a name in it (RFC 6066), in as many records as it takes. */
function makeHello(version: number, name: string): Buffer {
  const names = Buffer.concat([Buffer.from([0]), toSized(Buffer.from(name), 2)]);
  const extension = Buffer.concat([Buffer.from([0, 0]), toSized(toSized(names, 2), 2)]);
  const head = Buffer.from([version >> 8, version & 255]);
  const ciphers = Buffer.from([0xc0, 0x2b, 0xc0, 0x2f, 0xc0, 0x09, 0xc0, 0x13, 0x00, 0x2f]);
  const body = [
    head,
    Buffer.alloc(32, 7),
    toSized(Buffer.alloc(0), 1),
    toSized(ciphers, 2),
    Buffer.from([1, 0]),
  ];
  const message = Buffer.concat([
    Buffer.from([1]),
    toSized(Buffer.concat([...body, toSized(extension, 2)]), 3),
  ]);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += RECORD_MAX) {
    records.push(Buffer.from([22, 3, 1]), toSized(message.subarray(at, at + RECORD_MAX), 2));
  }
  return Buffer.concat(records);
}

/** Bytes behind their count, cut to so many bytes where it does not fit. */
function toSized(bytes: Buffer, width: number): Buffer {
  const size = Buffer.alloc(width);
  size.writeUIntBE(bytes.length % 256 ** width, 0, width);
  return Buffer.concat([size, bytes]);
}

function open(): Promise<Socket> {
  const { place } = use();
  const socket = connect("port" in place ? place.port : 0, "127.0.0.1");
  socket.on("error", () => {});
  return new Promise((resolve) => socket.once("connect", () => resolve(socket)));
}

/** Sends bytes, and maybe nothing more. @returns What came until the other side closed, within ten seconds */
async function say(bytes: Uint8Array, isLast = false): Promise<Buffer> {
  const socket = await open();
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => void chunks.push(chunk));
  if (isLast) socket.end(bytes);
  else socket.write(bytes);
  for (let turn = 0; turn < 300 && !socket.closed; turn += 1) {
    await Bun.sleep(5);
    await use().clock.advance(1_000);
  }
  if (!socket.closed) throw new Error("it stays open");
  return Buffer.concat(chunks);
}

longTest.each<[title: string, toBytes: () => Buffer]>([
  ["plain HTTP", () => Buffer.from(PROBE)],
  ["a proxy's preface", () => Buffer.from(`PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n${PROBE}`)],
  ["zeros", () => Buffer.alloc(70_000)],
  ["a record of an unknown kind", () => Buffer.from([99, 3, 1, 0, 1, 0])],
  ["a record that is too long", () => Buffer.from([22, 3, 1, 255, 255, ...Buffer.alloc(1_000, 1)])],
  ["an empty record", () => Buffer.from([22, 3, 1, 0, 0])],
  ["10,000 empty records", () => Buffer.alloc(50_000, Buffer.from([22, 3, 1, 0, 0]))],
  ["an alert first", () => Buffer.from([21, 3, 3, 0, 2, 1, 0])],
  ["data before a handshake", () => Buffer.from([23, 3, 3, 0, 5, 1, 2, 3, 4, 5])],
  [
    "a hello of SSL 2",
    () => Buffer.from([128, 46, 1, 0, 2, 0, 21, 0, 0, 0, 16, ...Buffer.alloc(37, 1)]),
  ],
  ["a hello of SSL 3", () => makeHello(0x0300, "localhost")],
  ["a hello of TLS 1.0", () => makeHello(0x0301, "localhost")],
  ["a hello of TLS 1.1", () => makeHello(0x0302, "localhost")],
  ["a name of 64 KB", () => makeHello(0x0303, "a".repeat(64_000))],
  ["a name of rubbish", () => makeHello(0x0303, "\0\r\n<script>\u00ff../..")],
  ["a hello that promises 16 MB", () => Buffer.from([22, 3, 1, 0, 4, 1, 255, 255, 255])],
  ["a hello twice", () => Buffer.concat([hello, hello])],
  ["a hello and then HTTP", () => Buffer.concat([hello, Buffer.from(PROBE)])],
  ["a hello and then nothing", () => hello],
])("the HTTPS port ends a connection that begins with %s", async (_title, toBytes) => {
  const received = await say(toBytes());
  expect(received.toString("latin1")).not.toContain("HTTP/");
  expect(use().logged).toEqual([]);
});

longTest.each([0x0301, 0x0302])(
  "the HTTPS port tells a client of version %p that it is too old",
  async (version) => {
    // An alert: fatal, protocol_version (RFC 5246 section 7.2).
    expect([...(await say(makeHello(version, "localhost"))).subarray(-2)]).toEqual([2, 70]);
  },
);

longTest("the HTTPS port ends handshakes that stop anywhere, or are spoilt anywhere", async () => {
  const bytes = fc.oneof(
    fc.nat().map((at) => hello.subarray(0, at % hello.length)),
    fc.tuple(fc.nat(), fc.nat(255)).map(([at, value]) => {
      const copy = Buffer.from(hello);
      copy[at % copy.length] = value;
      return copy;
    }),
    fc.uint8Array({ maxLength: 200 }),
    fc
      .uint8Array({ maxLength: 200 })
      .map((rest) => Buffer.from([22, 3, 1, 0, rest.length, ...rest])),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(bytes, { minLength: 1, maxLength: 10 }), async (many) => {
      await Promise.all(many.map((one) => say(one, true)));
    }),
    tries(10),
  );
  expect(use().logged).toEqual([]);
  await use().expectWell();
});

longTest(
  "the HTTPS port serves who shows a certificate that nobody asked for, and who leaves early",
  async () => {
    const { place } = use();
    const shake = (options: ConnectionOptions): Promise<string> =>
      new Promise((resolve) => {
        const port = "port" in place ? place.port : 0;
        const socket = connectTls({
          port,
          host: "127.0.0.1",
          rejectUnauthorized: false,
          ...options,
        });
        let text = "";
        socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
        socket.on("error", () => {});
        socket.on("close", () => resolve(text.slice(0, 12)));
        socket.write(PROBE.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
      });
    const client = { cert: readTls("client.crt"), key: readTls("client.key") };
    expect(await shake(client)).toBe("HTTP/1.1 200");
    expect(await shake({ maxVersion: "TLSv1.2", ...client })).toBe("HTTP/1.1 200");
    expect(await shake({ ALPNProtocols: ["h2", "spdy/3"] })).not.toContain("HTTP/2");
    expect(await shake({ servername: "evil.example" })).toBe("HTTP/1.1 200");
    for (let count = 0; count < 10; count += 1) {
      const socket = await open();
      socket.write(hello);
      socket.once("data", () => socket.resetAndDestroy());
      await new Promise((resolve) => socket.once("close", resolve));
    }
    await use().expectWell();
  },
);
