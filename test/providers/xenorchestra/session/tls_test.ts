/**
 * Whom Landfall trusts, against a server with a certificate without any name, as Xen Orchestra makes it.
 * @module
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import { describeError } from "../../../../lib/core/errors.ts";
import { Session } from "../../../../lib/providers/xenorchestra/session/session.ts";
import { Trust } from "../../../../lib/providers/xenorchestra/session/tls.ts";
import { SecretMount } from "../../../support/process/secret_mount.ts";
import { startTcpProxy } from "../../../support/net/tcp_proxy.ts";
import { readTls } from "../../../support/net/tls_fixtures.ts";
import { toDeps, toSettings } from "../fake_server.ts";

const signal = new AbortController().signal;
const GET = { operation: "list_pools", path: "/pools", isList: true } as const;

function fixture(name: string): string {
  return new URL(`../../../fixtures/${name}`, import.meta.url).pathname;
}

const certificate = readFileSync(fixture("xenorchestra/nameless.crt"), "utf8");
const key = readFileSync(fixture("xenorchestra/nameless.key"), "utf8");
const fingerprint = new X509Certificate(certificate).fingerprint256;

let server: Bun.Server<undefined>;
let url: string;
let served = 0;

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: certificate, key },
    fetch() {
      served += 1;
      return Response.json([]);
    },
  });
  url = `https://127.0.0.1:${server.port}`;
});
afterAll(() => server.stop(true));

async function get(more: object): Promise<string> {
  const session = new Session(toSettings(url, more), toDeps());
  const reply = await session.get(GET, signal).catch((error: CloudError) => error);
  return reply instanceof CloudError ? `${reply.kind}: ${reply.message}` : String(reply.status);
}

describe("Trust", () => {
  test("does not trust a self-signed certificate by itself, and says what to set", async () => {
    expect(await get({})).toMatch(/^protocol: .*self-signed.*caFile or certificateFingerprint/);
  });

  test("trusts anything when told so", async () => {
    expect(await get({ insecure: true })).toBe("200");
  });

  test("trusts the pinned certificate although it has no name", async () => {
    expect(await get({ certificateFingerprint: fingerprint })).toBe("200");
    const caFile = fixture("xenorchestra/nameless.crt");
    expect(await get({ certificateFingerprint: fingerprint, caFile })).toBe("200");
  });

  test("shows the token to no other certificate than the pinned one", async () => {
    const other = fingerprint.replace(/^../, (byte) => (byte === "00" ? "01" : "00"));
    const before = served;
    expect(await get({ certificateFingerprint: other })).toMatch(
      /^protocol: .*certificateFingerprint/,
    );
    const caFile = fixture("xenorchestra/nameless.crt");
    expect(await get({ certificateFingerprint: other, caFile })).toMatch(
      /^protocol: .*fingerprint/,
    );
    expect(served).toBe(before);
  });

  test("read() gives nothing for http", async () => {
    const trust = new Trust({ url: "http://x", insecure: true }, toDeps());
    expect(await trust.read(signal)).toEqual({});
  });

  test("read() says that no certificate could be had", async () => {
    const certificateFingerprint = "00".repeat(32);
    const settings = { url: "https://127.0.0.1:1", insecure: false, certificateFingerprint };
    const trust = new Trust(settings, toDeps());
    const error = await trust.read(signal).catch((error: unknown) => error);
    expect(error).toMatchObject({ kind: "unreachable" });
    expect(describeError(error)).toBe(
      "Cannot reach Xen Orchestra at 127.0.0.1:1 to see its certificate: connection refused; check url",
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
  const open = (deps = toDeps(), more: object = {}): Session =>
    new Session(toSettings(faces.url, { caFile: mount.path("ca.crt"), ...more }), deps);
  const ask = (session: Session): Promise<unknown> =>
    session.get(GET, signal).then(
      ({ status }) => status,
      (error: CloudError) => `${error.kind}: ${error.message}`,
    );

  test("is read again at once when the server shows another certificate, and nothing fails", async () => {
    const session = open();
    expect(await ask(session)).toBe(200);
    mount.update({ "ca.crt": readTls("other_ca.crt") });
    faces.showOther();
    const all = await Promise.all([1, 2, 3].map(() => ask(session)));
    expect(all).toEqual([200, 200, 200]);
    expect(faces.served).toEqual(["first", "other", "other", "other"]);
  });

  test("is believed within a minute of its change, and what it no longer holds is not", async () => {
    const deps = toDeps();
    const session = open(deps);
    expect(await ask(session)).toBe(200);
    mount.update({ "ca.crt": readTls("other_ca.crt") });
    await deps.clock.advance(59_999);
    expect(await ask(session)).toMatch(/^protocol: .*not trusted/);
  });

  test("that does not follow the server leaves it not believed, and is asked twice at most", async () => {
    const session = open();
    await ask(session);
    faces.showOther();
    expect(await ask(session)).toMatch(/^protocol: .*not trusted.*caFile/);
    mount.update({ "ca.crt": readTls("other_ca.crt") });
    expect(await ask(session)).toBe(200);
  });

  test("goes with certificateFingerprint when it changes", async () => {
    const certificateFingerprint = new X509Certificate(readTls("server.crt")).fingerprint256;
    const session = open(toDeps(), { certificateFingerprint });
    expect(await ask(session)).toBe(200);
    mount.update({ "ca.crt": `${readTls("other_ca.crt")}${readTls("ca.crt")}` });
    expect(await ask(session)).toBe(200);
    faces.showOther();
    expect(await ask(session)).toMatch(/^protocol: .*not the one in certificateFingerprint/);
    expect(faces.served).not.toContain("other");
  });
});

describe("a pinned certificate", () => {
  test("that is replaced is told as what it is, and believed again when it is back", async () => {
    const serve = (name: "server" | "other_server", port: number) =>
      Bun.serve({
        port,
        hostname: "127.0.0.1",
        tls:
          name === "server"
            ? { cert: certificate, key }
            : { cert: readTls("other_server.crt"), key: readTls("other_server.key") },
        fetch: () => Response.json([]),
      });
    let live = serve("server", 0);
    const port = live.port ?? 0;
    const at = `https://127.0.0.1:${port}`;
    const session = new Session(toSettings(at, { certificateFingerprint: fingerprint }), toDeps());
    expect((await session.get(GET, signal)).status).toBe(200);
    await live.stop(true);
    live = serve("other_server", port);
    await expect(session.get(GET, signal)).rejects.toThrow("not the one in certificateFingerprint");
    await live.stop(true);
    live = serve("server", port);
    expect((await session.get(GET, signal)).status).toBe(200);
    await live.stop(true);
  });
});
