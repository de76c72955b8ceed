/**
 * What is said of each way to miss Xen Orchestra, on real sockets.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import { ConnectionProblem } from "../../../../lib/core/net/connection_problem.ts";
import { makeSelfSigned } from "../../../../lib/http/certificate/self_signed.ts";
import { diagnose } from "../../../../lib/providers/xenorchestra/inspection/diagnose.ts";
import { xenOrchestra } from "../../../../lib/providers/xenorchestra/mod.ts";
import { readTls, tlsPath } from "../../../support/net/tls_fixtures.ts";
import { toDeps, toSettings } from "../fake_server.ts";

const signal = new AbortController().signal;
const SECRET = "s3cr3t-t0ken";
const NAMELESS = ["crt", "key"].map((end) =>
  readFileSync(new URL(`../../../fixtures/xenorchestra/nameless.${end}`, import.meta.url), "utf8"),
);
const [cert = "", key = ""] = NAMELESS;

let answer: () => Response = () => Response.json([]);
const urls = new Map<string, string>();
const servers: Bun.Server<undefined>[] = [];
const sockets = new Set<Socket>();
let silent: Server;
let folder = "";

function serve(name: string, tls?: { cert: string; key: string }): void {
  const fetch = (): Response => answer();
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch, ...(tls && { tls }) });
  servers.push(server);
  urls.set(name, `${tls ? "https" : "http"}://127.0.0.1:${server.port}`);
}

beforeAll(async () => {
  serve("plain");
  serve("named", { cert: readTls("named_server.crt"), key: readTls("named_server.key") });
  serve("expired", { cert: readTls("expired_server.crt"), key: readTls("expired_server.key") });
  serve("known", { cert: readTls("server.crt"), key: readTls("server.key") });
  serve("nameless", { cert, key });
  folder = await mkdtemp(join(tmpdir(), "landfall-diagnose-"));
  const early = makeSelfSigned(["127.0.0.1"], Date.now() + 86_400_000);
  serve("early", early);
  await writeFile(join(folder, "early.crt"), early.cert);
  silent = createServer((socket) => sockets.add(socket));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const address = silent.address();
  const port = typeof address === "object" ? address?.port : undefined;
  urls.set("silent", `http://127.0.0.1:${port}`);
  urls.set("speechless", `https://127.0.0.1:${port}`);
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  silent.close();
  await rm(folder, { recursive: true });
  await Promise.all(servers.map((server) => server.stop(true)));
});

/** The finding of a whole inspection, which must be the only one. */
async function inspect(url: string, more: object = {}): Promise<string> {
  const settings = toSettings(url, { token: SECRET, ...more });
  const deps = toDeps({ isTransient: true });
  const provider = xenOrchestra.create(settings, deps);
  const asked = provider.inspect?.(signal);
  // For who never answers.
  if ("clientTimeout" in more) await deps.clock.advance(60_000);
  const inspection = await asked;
  const [finding, ...others] = inspection?.findings ?? [];
  expect(others).toEqual([]);
  expect(finding?.level).toBe("failure");
  expect(finding?.advice).toBeTruthy();
  expect(inspection?.inventory).toBeUndefined();
  const text = JSON.stringify(inspection);
  expect(text).not.toContain(SECRET);
  return `${finding?.code}: ${finding?.message}; ${finding?.advice}`;
}

describe("diagnose() tells apart where a connection fails", () => {
  test("a name without an address", async () => {
    expect(await inspect("https://xo.nowhere.invalid")).toMatch(
      /^dns: .*xo\.nowhere\.invalid:443.*; check url/,
    );
  });

  test("a port where nothing listens", async () => {
    expect(await inspect("http://127.0.0.1:1")).toMatch(/^refused: .*127\.0\.0\.1:1: /);
  });

  test("a server that takes the connection and says nothing", async () => {
    const late = new DOMException("late", "TimeoutError");
    const settings = toSettings(urls.get("silent") ?? "");
    expect(await diagnose(late, settings, signal)).toMatchObject({ code: "noAnswer" });
  });

  test("a time-out of the request's own", async () => {
    const url = urls.get("silent") ?? "";
    const error = new CloudError("unreachable", "did not answer within 10 s");
    expect(await diagnose(error, toSettings(url), signal)).toMatchObject({ code: "noAnswer" });
    const closed = toSettings("http://127.0.0.1:1");
    expect(await diagnose(error, closed, signal)).toMatchObject({ code: "timeout" });
  });

  test("a port that does not speak TLS", async () => {
    const url = (urls.get("plain") ?? "").replace("http:", "https:");
    expect(await inspect(url)).toMatch(/^(notTls|closed|tls): /);
  });

  test.each([
    ["EHOSTUNREACH", "noRoute"],
    ["ECONNRESET", "closed"],
    ["ERR_PROXY_TUNNEL", "proxy"],
    ["CERT_HAS_EXPIRED", "tlsExpired"],
    ["CERT_REVOKED", "tls"],
    ["EPROTO", "notTls"],
  ])("the code %s", async (code, wanted) => {
    const cause = new ConnectionProblem(code, "words");
    const error = new CloudError("protocol", "Cannot reach", { cause });
    const settings = toSettings(urls.get("known") ?? "");
    const { code: found, advice } = await diagnose(error, settings, signal);
    expect(found).toBe(wanted);
    expect(advice).toBeTruthy();
  });
});

describe("diagnose() tells apart what is wrong with a certificate", () => {
  test("an authority that is not known, with the fingerprint to compare", async () => {
    expect(await inspect(urls.get("known") ?? "")).toMatch(
      /^tlsAuthority: .*SHA-256 ([0-9A-F]{2}:){31}[0-9A-F]{2}\).*caFile/,
    );
  });

  test("another name, with the names that it has", async () => {
    const found = await inspect(urls.get("named") ?? "", { caFile: tlsPath("ca.crt") });
    expect(found).toMatch(/^tlsName: .*kubernetes\.example/);
  });

  test("an end that is past, with its date", async () => {
    const found = await inspect(urls.get("expired") ?? "", { caFile: tlsPath("ca.crt") });
    expect(found).toMatch(/^tlsExpired: .*: valid until 2024-02-01T00:00:00Z,.*renew/);
  });

  test("a beginning that is to come, with its date and the clock to look at", async () => {
    const found = await inspect(urls.get("early") ?? "", { caFile: join(folder, "early.crt") });
    expect(found).toMatch(/^tlsNotYetValid: .*: valid from 20\S+Z,.*; check this machine's clock/);
  });

  test("an authority whose end is past, above a certificate that is good", async () => {
    const cause = new ConnectionProblem("CERT_HAS_EXPIRED", "words");
    const error = new CloudError("protocol", "Cannot reach", { cause });
    const found = await diagnose(error, toSettings(urls.get("known") ?? ""), signal);
    expect(found.code).toBe("tlsExpired");
    expect(found.message).toContain("it is valid, but an authority above it has expired");
    expect(found.message).not.toContain("valid from");
    expect(found.advice).toContain("caFile");
  });

  test("another fingerprint than the pinned one", async () => {
    const pin = "ab".repeat(32);
    expect(await inspect(urls.get("nameless") ?? "", { certificateFingerprint: pin })).toMatch(
      /^tlsFingerprint: .*its SHA-256 is/,
    );
    const both = { certificateFingerprint: pin, caFile: tlsPath("ca.crt") };
    expect(await inspect(urls.get("known") ?? "", both)).toMatch(/^tlsFingerprint: /);
  });

  test("a handshake that never ends", async () => {
    const url = urls.get("speechless") ?? "";
    expect(await inspect(url, { clientTimeout: "100ms" })).toMatch(/^noAnswer: /);
  });
});

describe("diagnose() tells apart what answers", () => {
  const html = { "content-type": "text/html" };
  const cases: readonly (readonly [string, () => Response, RegExp])[] = [
    [
      "401",
      () => Response.json({ error: "invalid credentials" }, { status: 401 }),
      /^unauth.*XOA_/,
    ],
    ["403", () => Response.json({ error: "no" }, { status: 403 }), /^forbidden: .*may read vm/],
    [
      "a redirect to elsewhere",
      () => new Response(null, { status: 302, headers: { location: "https://sso.example/x?y" } }),
      /^redirect: .*https:\/\/sso\.example,/,
    ],
    ["a page", () => new Response("<html>", { headers: html }), /^wrongService: .*text\/html/],
    ["a 404 page", () => new Response("", { status: 404, headers: html }), /^wrongService: /],
    ["other JSON", () => Response.json({}), /^wrongService: /],
    ["a list of other things", () => Response.json([{ no: "id" }]), /^wrongService: /],
    ["a gateway's 404", () => Response.json({ error: "x" }, { status: 404 }), /^wrongService: /],
    ["429", () => Response.json({}, { status: 429 }), /^throttled: /],
    ["503", () => Response.json({}, { status: 503 }), /^serverError: .*503/],
    [
      "the brake on passwords",
      () => Response.json({ error: "too fast authentication tries" }, { status: 500 }),
      /^throttled: /,
    ],
  ];
  test.each(cases)("%s", async (_name, reply, wanted) => {
    answer = reply;
    expect(await inspect(urls.get("plain") ?? "")).toMatch(wanted);
  });

  test("401, by the way of signing in", async () => {
    answer = () => Response.json({ error: "invalid credentials" }, { status: 401 });
    const user = { token: null, username: "u", password: SECRET };
    expect(await inspect(urls.get("plain") ?? "", user)).toMatch(/^unauthorized: .*password/);
  });
});

test("diagnose() rethrows what is no failure of a cloud", async () => {
  const settings = toSettings("http://127.0.0.1:1");
  await expect(diagnose(new TypeError("bug"), settings, signal)).rejects.toThrow("bug");
});
