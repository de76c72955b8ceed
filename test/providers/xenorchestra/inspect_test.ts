/**
 * What is said of each way to miss Xen Orchestra, and of its token and rights.
 * @module
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { CloudError } from "../../../lib/cloud/errors.ts";
import { diagnose } from "../../../lib/providers/xenorchestra/inspect.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import { readTls, tlsPath } from "../../support/net/tls_fixtures.ts";
import { toDeps, toSettings } from "./fake_server.ts";
import type { Finding, Inspection } from "../../../lib/cloud/inspection.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";

const signal = new AbortController().signal;
const SECRET = "s3cr3t-t0ken";

let answer: () => Response = () => Response.json([]);
const urls = new Map<string, string>();
const servers: Bun.Server<undefined>[] = [];
const sockets = new Set<Socket>();
let silent: Server;

function serve(name: string, tls?: { cert: string; key: string }): void {
  const fetch = (): Response => answer();
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch, ...(tls && { tls }) });
  servers.push(server);
  urls.set(name, `${tls ? "https" : "http"}://127.0.0.1:${server.port}`);
}

function toUrl(name: string): string {
  return urls.get(name) ?? "";
}

/** The finding of a whole inspection, which must be the only one. */
async function diagnoseFault(url: string, more: object = {}): Promise<string> {
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

describe("diagnose", () => {
  beforeAll(async () => {
    serve("plain");
    serve("known", { cert: readTls("server.crt"), key: readTls("server.key") });
    silent = createServer((socket) => sockets.add(socket));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const address = silent.address();
    const port = typeof address === "object" ? address?.port : undefined;
    urls.set("silent", `http://127.0.0.1:${port}`);
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    silent.close();
    await Promise.all(servers.map((server) => server.stop(true)));
  });

  describe("diagnose() tells apart where a connection fails", () => {
    test.each<[string, () => string, object, RegExp]>([
      [
        "a name without an address",
        () => "https://xo.nowhere.invalid",
        {},
        /^dns: .*xo\.nowhere\.invalid:443.*; check url/,
      ],
      [
        "a port that does not speak TLS",
        () => toUrl("plain").replace("http:", "https:"),
        {},
        /^(notTls|closed|tls): /,
      ],
      [
        "an authority that is not known, with the fingerprint to compare",
        () => toUrl("known"),
        {},
        /^tlsAuthority: .*SHA-256 ([0-9A-F]{2}:){31}[0-9A-F]{2}\).*caFile/,
      ],
      [
        "a handshake that never ends",
        () => toUrl("silent").replace("http:", "https:"),
        { clientTimeout: "100ms" },
        /^noAnswer: /,
      ],
    ])("%s", async (_title, url, more, expected) => {
      expect(await diagnoseFault(url(), more)).toMatch(expected);
    });

    test("a time-out of the request's own, by a second look at the server", async () => {
      const settings = toSettings(toUrl("silent"));
      const late = new DOMException("late", "TimeoutError");
      const error = new CloudError("unreachable", "did not answer within 10 s");
      for (const one of [late, error]) {
        expect(await diagnose(one, settings, signal)).toMatchObject({ code: "noAnswer" });
      }
      const closed = toSettings("http://127.0.0.1:1");
      expect(await diagnose(error, closed, signal)).toMatchObject({ code: "timeout" });
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
      expect(await diagnoseFault(toUrl("plain"))).toMatch(wanted);
    });

    test("401, by the way of signing in", async () => {
      answer = () => Response.json({ error: "invalid credentials" }, { status: 401 });
      const user = { token: null, username: "u", password: SECRET };
      expect(await diagnoseFault(toUrl("plain"), user)).toMatch(/^unauthorized: .*password/);
    });
  });

  test("diagnose() rethrows what is no failure of a cloud", async () => {
    const settings = toSettings("http://127.0.0.1:1");
    await expect(diagnose(new TypeError("bug"), settings, signal)).rejects.toThrow("bug");
  });
});

const PASSWORD = { token: null, username: "admin@admin.net", password: "admin" };

let cloud: XenOrchestraSimulator;

async function inspect(more: object = {}, isTransient = true): Promise<Inspection> {
  const settings = toSettings(cloud.url, { token: cloud.token, ...more });
  const provider = xenOrchestra.create(settings, toDeps({ isTransient }));
  const found = await provider.inspect?.(signal);
  if (found === undefined) throw new Error("no inspection");
  return found;
}

function codes({ findings }: Inspection): string[] {
  return findings
    .filter(({ level }) => level !== "ok")
    .map(({ level, code }) => `${level} ${code}`);
}

describe("inspect", () => {
  beforeEach(async () => {
    const { world } = createDemoWorld();
    cloud = await startXenOrchestraSimulator({ clock: systemClock, world });
  });
  afterEach(() => cloud.stop());

  describe("inspectXenOrchestra()", () => {
    test("shows pools, hosts and how many VMs may be seen", async () => {
      const found = await inspect();
      expect(codes(found)).toEqual([]);
      expect(found.counts).toEqual({ pools: 2, vms: 12, hosts: 5 });
      expect(found.endpoint).toBe(new URL(cloud.url).host);
      const kinds = found.parts.map(({ kind, name, complete }) => [kind, name, complete]);
      expect(kinds).toContainEqual(["pool", "paris", true]);
      expect(kinds).toContainEqual(["host", "xcp-lyo-2", undefined]);
      expect(found.inventory?.instances.size).toBe(12);
    });

    test("asks for hosts alone before anything else, so that a wrong password is tried once", async () => {
      const before = cloud.requests.total;
      const found = await inspect({ ...PASSWORD, password: "wrong" });
      expect(codes(found)).toEqual(["failure unauthorized"]);
      expect(cloud.requests.total - before).toBe(1);
    });

    test("leaves no token behind when it signs in with a password", async () => {
      const before = [...cloud.auth.tokens.keys()];
      expect(codes(await inspect(PASSWORD))).toEqual([]);
      expect([...cloud.auth.tokens.keys()]).toEqual(before);
      // The same provider in a running controller mints one.
      await inspect(PASSWORD, false);
      expect(cloud.auth.tokens.size).toBe(before.length + 1);
    });

    test("fails when the user may see nothing, and says which rights count", async () => {
      cloud.faults.set({ kind: "nonAdmin" });
      const found = await inspect();
      expect(codes(found)).toEqual(["failure noInstances"]);
      const { advice } = found.findings.at(-1) ?? {};
      expect(advice).toContain("a role that may read vm, host, pool, network, vif and server");
      expect(advice).toContain("ACLs do not count");
    });

    test("warns of a pool that lacks its master, and of a connection that is down", async () => {
      cloud.faults.set({ kind: "json", body: [] }, { route: "GET /hosts" });
      expect(codes(await inspect())).toEqual(["warning partIncomplete", "warning partIncomplete"]);
      cloud.faults.clear();
      const server = { id: "s", label: "rack 2", enabled: true, status: "connecting" };
      cloud.faults.set({ kind: "json", body: [server] }, { route: "GET /servers" });
      const found = await inspect();
      expect(codes(found)).toEqual(["warning disconnected"]);
      expect(found.findings.at(-1)?.message).toBe(
        'the connection "rack 2" to a pool is connecting',
      );
    });

    test("says that there is no such pool, and which one was meant", async () => {
      const found = await inspect({ pools: ["Paris", "lyon"] });
      expect(codes(found)).toEqual(["warning unknownPool"]);
      expect(found.findings.find(({ code }) => code === "unknownPool")).toMatchObject({
        message:
          'pool "Paris" is in "pools", but no pool that the user can see has this name or UUID',
        advice: 'correct it in "pools"; did you mean paris?',
      });
      expect(found.counts).toMatchObject({ pools: 2 });
      expect(found.parts.filter(({ kind }) => kind === "pool")).toHaveLength(2);
    });

    test("says nothing of a connection that is switched off", async () => {
      const off = { id: "s", label: "old", enabled: false, status: "disconnected" };
      cloud.state.put("servers", off);
      expect(codes(await inspect())).toEqual([]);
    });

    test.each([
      ["are refused", { kind: "status", status: 403 }],
      ["are none, though pools are shown", { kind: "json", body: [] }],
      ["are not listed by this server", { kind: "html", status: 404 }],
    ] as const)("warns when the connections %s, and says what follows", async (_title, fault) => {
      cloud.faults.set(fault, { route: "GET /servers" });
      const found = await inspect();
      expect(codes(found)).toEqual(["warning connectionsUnreadable"]);
      expect(found.findings.at(-1)?.message).toContain("deletes no Node");
    });

    test("warns of a network that nobody knows", async () => {
      expect(codes(await inspect({ addresses: { network: "no such" } }))).toEqual([
        "warning noNetwork",
      ]);
    });

    test("warns that nobody checks the certificate", async () => {
      const tls = { cert: readTls("server.crt"), key: readTls("server.key") };
      const front = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        tls,
        fetch: ({ url, headers }) => {
          const { pathname, search } = new URL(url);
          return fetch(`${cloud.url}${pathname}${search}`, { headers });
        },
      });
      const url = `https://127.0.0.1:${front.port}`;
      expect(codes(await inspect({ url, insecure: true }))).toEqual(["warning insecure"]);
      expect(codes(await inspect({ url, caFile: tlsPath("ca.crt") }))).toEqual([]);
      await front.stop(true);
    });

    test("rejects with the reason of a signal that aborts", async () => {
      cloud.faults.set({ kind: "hang" });
      const stop = new AbortController();
      const settings = toSettings(cloud.url, { token: cloud.token });
      const looking = xenOrchestra.create(settings, toDeps()).inspect?.(stop.signal);
      stop.abort(new Error("stop"));
      await expect(looking).rejects.toThrow("stop");
    });
  });

  test("inspectXenOrchestra() names tag prefixes that no host and no VM has", async () => {
    const before = cloud.requests.count("GET /vms");
    const found = await inspect({ zoneLabelFrom: "hostTag:odd=", instanceTypeTag: "odd=" });
    expect(codes(found)).toEqual(["warning unmatchedTag", "warning unmatchedTag"]);
    // The inventory asks for them, too.
    expect(cloud.requests.count("GET /vms") - before).toBe(2);
    await inspect();
    expect(cloud.requests.count("GET /vms") - before).toBe(3);
  });

  test("inspectXenOrchestra() names entries of regions and zones that match nothing", async () => {
    const regions = { paris: "eu", berlin: "eu" };
    const zones = { "xcp-par-1": "a", lyon: "b", "xcp-ber-1": "c" };
    const before = cloud.requests.count("GET /pools");
    const { findings } = await inspect({ regions, zones });
    // The inventory asks for them.
    expect(cloud.requests.count("GET /pools") - before).toBe(1);
    const warnings = findings.filter(({ level }) => level !== "ok");
    expect(warnings.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      'unmatchedEntry: the entry regions: "berlin" matches no pool that Xen Orchestra shows',
      'unmatchedEntry: the entry zones: "xcp-ber-1" matches no pool or host that Xen Orchestra shows',
    ]);
  });
});

const DAY_MS = 86_400_000;
const ANN = { id: "u-1", username: "ann", password: "canary" };

let deps: ReturnType<typeof toDeps>;

async function inspectToken(credentials: object): Promise<Finding | undefined> {
  const provider = xenOrchestra.create(toSettings(cloud.url, credentials), deps);
  const found = await provider.inspect?.(signal);
  expect(JSON.stringify(found?.findings)).not.toContain("canary");
  return found?.findings.find(({ code }) => code === "tokenEnd");
}

describe("inspectToken()", () => {
  beforeEach(async () => {
    deps = toDeps({ isTransient: true });
    const { world } = createDemoWorld();
    cloud = await startXenOrchestraSimulator({ clock: deps.clock, users: [ANN], world });
  });
  afterEach(() => cloud.stop());

  test("says until when the token is good", async () => {
    cloud.auth.addToken("canary", ANN, 20 * DAY_MS);
    expect(await inspectToken({ token: "canary" })).toEqual({
      level: "ok",
      code: "tokenEnd",
      message: "The token for Xen Orchestra expires on 2026-01-21, in 20 days",
    });
  });

  test("warns of one that ends within 14 days, and says what to do", async () => {
    cloud.auth.addToken("canary", ANN, 3 * DAY_MS);
    expect(await inspectToken({ token: "canary" })).toMatchObject({
      level: "warning",
      advice: "create a new one and set token or XOA_TOKEN",
    });
  });

  test("does not warn of one that is renewed, and renews nothing itself", async () => {
    const minted = cloud.auth.mint(ANN, { client: { id: "landfall-x" }, expiresIn: "3 days" });
    const { expiration } = minted;
    expect(await inspectToken({ token: minted.id })).toMatchObject({
      level: "ok",
      message: expect.stringContaining("Landfall renews it in time"),
    });
    expect(cloud.auth.tokens.get(minted.id)?.expiration).toBe(expiration);
  });

  test.each([403, 404, 503])("finds nothing where it is answered with %d", async (status) => {
    cloud.auth.addToken("canary", ANN, 3 * DAY_MS);
    const route = "GET /users/{id}/authentication_tokens";
    cloud.faults.set({ kind: "status", status }, { route });
    expect(await inspectToken({ token: "canary" })).toBeUndefined();
  });

  test("finds nothing with a password", async () => {
    expect(
      await inspectToken({ token: null, username: "ann", password: "canary" }),
    ).toBeUndefined();
    expect(cloud.requests.count("GET /users/{id}/authentication_tokens")).toBe(0);
  });
});
