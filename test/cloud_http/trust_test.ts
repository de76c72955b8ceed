/**
 * Whom Landfall trusts, against servers whose certificates have no name, or change.
 * @module
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { CloudError } from "../../lib/cloud/errors.ts";
import { type CloudClient, normalise, type Server } from "../../lib/cloud_http/client.ts";
import { SecretMount } from "../support/process/secret_mount.ts";
import { startTcpProxy } from "../support/net/tcp_proxy.ts";
import { readTls } from "../support/net/tls_fixtures.ts";
import { createClient, FakeServer, toDeps } from "./fake_server.ts";

const signal = new AbortController().signal;

function toPath(name: string): string {
  return new URL(`../fixtures/${name}`, import.meta.url).pathname;
}

/** Self-signed, without any name in it, as appliances make it for themselves. */
const NAMELESS = toPath("xenorchestra/nameless.crt");
const certificate = readFileSync(NAMELESS, "utf8");
const key = readFileSync(toPath("xenorchestra/nameless.key"), "utf8");
const fingerprint = normalise(new X509Certificate(certificate).fingerprint256);

/** The status of an answer, or what went wrong. */
async function ask(client: CloudClient, { url }: Pick<Server, "url">): Promise<unknown> {
  const request = { operation: "list_things", method: "GET", url, headers: {} } as const;
  return await client.request(request, signal).then(
    ({ status }) => status,
    (error: CloudError) => `${error.kind}: ${error.message}`,
  );
}

describe("a client", () => {
  let server: FakeServer;
  beforeAll(() => {
    server = new FakeServer({ cert: certificate, key });
  });
  afterAll(() => server.stop());
  const get = async (more: Partial<Server>): Promise<unknown> =>
    await ask(createClient({ url: server.url, ...more }), server);

  test("does not trust a self-signed certificate by itself, and says what to set", async () => {
    expect(await get({})).toMatch(/^protocol: .*self-signed.*set ca-file or pin/);
  });

  test("trusts anything when told so", async () => {
    expect(await get({ insecure: true })).toBe(200);
  });

  test("trusts the pinned certificate although it has no name", async () => {
    expect(await get({ certificateFingerprint: fingerprint })).toBe(200);
    expect(await get({ certificateFingerprint: fingerprint, caFile: NAMELESS })).toBe(200);
  });

  test("shows nothing to another certificate than the pinned one, be it told to trust any", async () => {
    const other = fingerprint.replace(/^../, (byte) => (byte === "00" ? "01" : "00"));
    const before = server.seen.length;
    for (const more of [{}, { caFile: NAMELESS }, { insecure: true }]) {
      expect(await get({ certificateFingerprint: other, ...more })).toMatch(
        /^protocol: .*Example Cloud.*the SHA-256 fingerprint .*, not the one in pin;/,
      );
    }
    expect(server.seen).toHaveLength(before);
  });

  test("says that the pinned certificate could not be read", async () => {
    const url = "https://127.0.0.1:1";
    expect(await ask(createClient({ url, certificateFingerprint: fingerprint }), { url })).toBe(
      "unreachable: Cannot reach Example Cloud at 127.0.0.1:1 to read its certificate: " +
        "connection refused; check api-url",
    );
  });
});

/** A server behind an address that stays while its certificate changes; which of them answered is in `served`. */
async function startFaces(): Promise<{
  url: string;
  served: string[];
  showOther(): void;
  stop(): Promise<void>;
}> {
  const served: string[] = [];
  const start = (tls: { cert: string; key: string }, name: string) =>
    Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      tls,
      fetch() {
        served.push(name);
        return Response.json([]);
      },
    });
  const first = start({ cert: readTls("server.crt"), key: readTls("server.key") }, "first");
  const other = start(
    { cert: readTls("other_server.crt"), key: readTls("other_server.key") },
    "other",
  );
  const proxy = await startTcpProxy(first.port ?? 0);
  return {
    url: `https://127.0.0.1:${proxy.port}`,
    served,
    showOther: () => {
      proxy.aim(other.port ?? 0);
      proxy.cut();
    },
    stop: async () => {
      await proxy.stop();
      await first.stop(true);
      await other.stop(true);
    },
  };
}

describe("a caFile in a mounted Secret", () => {
  let faces: Awaited<ReturnType<typeof startFaces>>;
  let mount: SecretMount;
  beforeEach(async () => {
    faces = await startFaces();
    mount = new SecretMount({ "ca.crt": readTls("ca.crt") });
  });
  afterEach(async () => {
    await faces.stop();
    mount[Symbol.dispose]();
  });
  const open = (deps = toDeps(), more: Partial<Server> = {}): CloudClient =>
    createClient({ url: faces.url, caFile: mount.path("ca.crt"), ...more }, deps);

  test("is read again at once when the server shows another certificate, and nothing fails", async () => {
    const client = open();
    expect(await ask(client, faces)).toBe(200);
    mount.update({ "ca.crt": readTls("other_ca.crt") });
    faces.showOther();
    const all = await Promise.all([1, 2, 3].map(() => ask(client, faces)));
    expect(all).toEqual([200, 200, 200]);
    expect(faces.served).toEqual(["first", "other", "other", "other"]);
  });

  test("is believed within a minute of its change, and what it no longer holds is not", async () => {
    const deps = toDeps();
    const client = open(deps);
    expect(await ask(client, faces)).toBe(200);
    mount.update({ "ca.crt": readTls("other_ca.crt") });
    await deps.clock.advance(59_999);
    expect(await ask(client, faces)).toMatch(/^protocol: .*not trusted/);
  });

  test("that does not follow the server leaves it not believed, and is asked twice at most", async () => {
    const client = open();
    await ask(client, faces);
    faces.showOther();
    expect(await ask(client, faces)).toMatch(/^protocol: .*not trusted.*ca-file/);
    mount.update({ "ca.crt": readTls("other_ca.crt") });
    expect(await ask(client, faces)).toBe(200);
  });

  test("goes with a pin when it changes", async () => {
    const pin = new X509Certificate(readTls("server.crt")).fingerprint256;
    const client = open(toDeps(), { certificateFingerprint: normalise(pin) });
    expect(await ask(client, faces)).toBe(200);
    mount.update({ "ca.crt": `${readTls("other_ca.crt")}${readTls("ca.crt")}` });
    expect(await ask(client, faces)).toBe(200);
    faces.showOther();
    expect(await ask(client, faces)).toMatch(/^protocol: .*not the one in pin/);
    expect(faces.served).not.toContain("other");
  });
});

test("a pinned certificate that is replaced is told as what it is, and believed again when it is back", async () => {
  const own = { cert: certificate, key };
  const other = { cert: readTls("other_server.crt"), key: readTls("other_server.key") };
  let live = new FakeServer(own);
  const { port, url } = live;
  const client = createClient({ url, certificateFingerprint: fingerprint });
  expect(await ask(client, { url })).toBe(200);
  await live.stop();
  live = new FakeServer(other, port);
  expect(await ask(client, { url })).toMatch(/^protocol: .*not the one in pin/);
  await live.stop();
  live = new FakeServer(own, port);
  expect(await ask(client, { url })).toBe(200);
  await live.stop();
});
