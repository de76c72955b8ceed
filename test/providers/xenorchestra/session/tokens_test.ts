/**
 * Life of a token: minted once, renewed in time, never tried too fast.
 * @module
 */
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import type { Reply } from "../../../../lib/cloud_http/client.ts";
import { createLogger, silentLogger } from "../../../../lib/core/log.ts";
import {
  describeTokenEnd,
  FileToken,
  MintedToken,
  OWN_CLIENT,
  TokenWatch,
  toMinted,
} from "../../../../lib/providers/xenorchestra/session/tokens.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { MetricsRegistry } from "../../../../lib/core/metrics.ts";
import { Session } from "../../../../lib/providers/xenorchestra/session/session.ts";
import {
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../../lib/simulator/xenorchestra/mod.ts";
import { FakeXenOrchestra, loadCapture, toDeps, toResponse, toSettings } from "../fake_server.ts";

const signal = new AbortController().signal;
const USER = { kind: "password", username: "ccm@local", password: "canary:ss" } as const;
const URL = "https://xo.example.org";
const TOKEN = { token: { id: "canary-token" } };
let clock: ManualClock;

function json(value: unknown, status = 201): Reply {
  return { status, contentType: "application/json", json: { value } };
}

/** Answers with a token. */
function give(id: string, expiration?: number): Promise<Reply> {
  return Promise.resolve(json({ token: { id, expiration } }));
}

describe("tokens", () => {
  beforeEach(() => {
    clock = new ManualClock();
  });

  describe("FileToken", () => {
    const folder = mkdtempSync(join(tmpdir(), "landfall-"));
    const path = join(folder, "token");
    afterAll(() => rmSync(folder, { recursive: true }));

    test.each([
      ["\n", "is empty"],
      ["canary token", "holds a blank"],
      ["canary\ncanary", "holds a blank, a line break"],
    ])("refuses a file of %j at the start, without showing it", (text, problem) => {
      writeFileSync(path, text);
      const make = () => new FileToken(path, { clock, log: silentLogger });
      expect(make).toThrow(`${path}: ${problem}`);
      expect(make).not.toThrow("canary");
    });

    test.each<[string, string, () => void]>([
      ["away", "cannot be read: there is no such file", () => rmSync(path)],
      ["empty", "is empty", () => writeFileSync(path, "\n")],
    ])(
      "says once that the file is %s, but not while it is replaced",
      async (_what, problem, lose) => {
        const lines: string[] = [];
        const write = (line: string): number => lines.push(line);
        writeFileSync(path, "one");
        const log = createLogger({ format: "text", write, now: () => 0 });
        const source = new FileToken(path, { clock, log });
        const readFor = async (seconds: number): Promise<void> => {
          for (let second = 0; second < seconds; second += 10) {
            await clock.advance(10_000);
            expect(await source.read()).toBe("one");
          }
        };
        lose();
        await readFor(50);
        writeFileSync(path, "one");
        await readFor(10);
        lose();
        await readFor(60);
        expect(lines).toEqual([]);
        await readFor(300);
        expect(lines).toEqual([expect.stringContaining(problem)]);
      },
    );

    test("keeps the last token while the file holds none, and says so once", async () => {
      const lines: string[] = [];
      const write = (line: string): number => lines.push(line);
      writeFileSync(path, "one");
      const log = createLogger({ format: "json", now: () => 0, write });
      const source = new FileToken(path, { clock, log });
      writeFileSync(path, "<html> canary </html>");
      expect(await source.refuse("one")).toBe(false);
      expect(await source.refuse("one")).toBe(false);
      expect(await source.read()).toBe("one");
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain(path);
      expect(lines[0]).not.toContain("canary");
      writeFileSync(path, "two");
      expect(await source.refuse("one")).toBe(true);
    });
  });

  describe("MintedToken", () => {
    let tries: number;
    let next: () => Promise<Reply>;
    let source: MintedToken;
    /** URL and client ID of each request. */
    let sent: unknown[];

    beforeEach(() => {
      tries = 0;
      sent = [];
      next = () => give(`t${tries}`, clock.now() + 3_600_000);
      source = open();
    });

    function open(): MintedToken {
      const post = (request: { url: string; body: string }): Promise<Reply> => {
        tries += 1;
        sent.push([request.url, JSON.parse(request.body).client.id]);
        return next();
      };
      const deps = { clock, log: silentLogger, signal };
      return new MintedToken({ url: URL, credentials: USER, timeoutMs: 1_000, post, deps });
    }

    /** Answers with these, one a request, then with tokens. */
    function answer(...replies: Reply[]): void {
      const usual = next;
      next = () => {
        const reply = replies.shift();
        return reply ? Promise.resolve(reply) : usual();
      };
    }

    /** Asks for another token, as soon as that is allowed. */
    async function mintAgain(): Promise<string> {
      await clock.advance(300_000);
      await source.refuse(`t${tries}`);
      return await source.read(signal);
    }

    const toRedirect = (redirectUrl: string): Reply => ({
      status: 307,
      contentType: "",
      redirectUrl,
    });
    const [me, own, another] = ["me", "u-1", "u-2"].map(
      (user) => `${URL}/rest/v0/users/${user}/authentication_tokens`,
    ) as [string, string, string];
    const urls = (): unknown[] => sent.map((one) => (one as string[])[0]);

    test("follows the redirect to the user's own path, and goes there at once the next time", async () => {
      answer(toRedirect(own));
      await source.read(signal);
      await mintAgain();
      expect(urls()).toEqual([me, own, own]);
    });

    test.each([403, 404])(
      "asks who it is again when its old path is answered with %d",
      async (status) => {
        answer(toRedirect(own), json(TOKEN), json({ error: "no" }, status), toRedirect(another));
        await source.read(signal);
        await clock.advance(300_000);
        await source.refuse("canary-token");
        await source.read(signal);
        await mintAgain();
        expect(urls()).toEqual([me, own, own, me, another, another]);
      },
    );

    test("asks who it is with the next try after a 401, for a second one at once would be held back", async () => {
      answer(toRedirect(own), json(TOKEN), json({ error: "no" }, 401), toRedirect(another));
      await source.read(signal);
      await clock.advance(300_000);
      await source.refuse("canary-token");
      await expect(source.read(signal)).rejects.toThrow("the username or the password is wrong");
      await mintAgain();
      expect(urls()).toEqual([me, own, own, me, another]);
    });

    test("keeps its path after trouble of the server, and forgets one that never worked", async () => {
      answer(toRedirect(own), json({}, 403), toRedirect(own), json(TOKEN), json({}, 500));
      await expect(source.read(signal)).rejects.toThrow("403");
      await mintAgain();
      await clock.advance(300_000);
      await source.refuse("canary-token");
      await expect(source.read(signal)).rejects.toThrow("500");
      await mintAgain();
      expect(urls()).toEqual([me, own, me, own, own, own]);
    });

    test("asks for the same client every time, so that a token is renewed and not added", async () => {
      await source.read(signal);
      await open().read(signal);
      expect(sent[0]).toEqual(sent[1]);
      expect(sent[0]).toEqual([
        me,
        expect.stringMatching(new RegExp(`^${OWN_CLIENT}[0-9a-f]{12}$`)),
      ]);
    });

    test("read() renews at two thirds of the life, and lives with a failure until the end", async () => {
      await source.read(signal);
      await clock.advance(2_399_000);
      await source.read(signal);
      expect(tries).toBe(1);
      next = () => Promise.reject(new CloudError("unreachable", "down"));
      await clock.advance(1_000);
      expect(await source.read(signal)).toBe("t1");
      expect(tries).toBe(2);
      await clock.advance(100);
      expect(await source.read(signal)).toBe("t1");
      expect(tries).toBe(2);
      await clock.advance(1_200_000);
      await expect(source.read(signal)).rejects.toMatchObject({ kind: "unreachable" });
    });

    test("read() does not mint again at once when the clocks differ", async () => {
      next = () => give("t", clock.now() + 1_000);
      await source.read(signal);
      await clock.advance(2_400);
      await expect(source.read(signal)).rejects.toMatchObject({ kind: "denied" });
      expect(tries).toBe(1);
      await clock.advance(200);
      expect(await source.read(signal)).toBe("t");
      expect(tries).toBe(2);
    });

    test("read() uses a token that had ended when it was given: a clock is wrong, not the token", async () => {
      next = () => give("t", clock.now() - 86_400_000);
      for (let times = 0; times < 3; times += 1) {
        expect(await source.read(signal)).toBe("t");
        await clock.advance(3_600_000);
      }
      expect(tries).toBe(1);
    });

    test("read() waits longer after each failure", async () => {
      next = () => Promise.reject(new CloudError("denied", "wrong password"));
      for (let at = 0; at < 60; at += 1) {
        await source.read(signal).catch(() => {});
        await clock.advance(1_000);
      }
      expect(tries).toBeWithin(4, 6);
    });

    test("read() gives up for one who asks, not for the others", async () => {
      const { promise, resolve } = Promise.withResolvers<Reply>();
      next = () => promise;
      const stop = new AbortController();
      const first = source.read(stop.signal);
      const second = source.read(signal);
      stop.abort(new Error("stop"));
      await expect(first).rejects.toThrow("stop");
      resolve(await give("t"));
      expect(await second).toBe("t");
    });

    test("refuse() leads to a new token, but not at once", async () => {
      await source.read(signal);
      expect(await source.refuse("t1")).toBe(false);
      await expect(source.read(signal)).rejects.toThrow("refuses the token that it just issued");
      await clock.advance(2_500);
      expect(await source.read(signal)).toBe("t2");
      expect(await source.refuse("t1")).toBe(true);
    });
  });
});

describe("toMinted()", () => {
  test("takes a token without an end, and nothing that is no token", () => {
    expect(toMinted(json({ token: { id: "a" } }))).toEqual({ token: "a" });
    expect(() => toMinted(json({ token: { id: "a" } }, 403))).toThrow("403");
    expect(() => toMinted(json({ id: "a" }))).toThrow("did not expect");
  });

  test.each(["", "geheim\r\nx: y", "geheim;x", "gehe im", "geheimé", '"geheim"'])(
    "refuses %j, which no header could carry, without showing it",
    (id) => {
      const error = (): unknown => toMinted(json({ token: { id } }));
      expect(error).toThrow("Xen Orchestra gave an unusable token");
      expect(error).not.toThrow(/gehe/);
    },
  );

  test.each([1e308, Infinity, -1, 0, null])("takes an end of %p for none", (expiration) => {
    expect(toMinted(json({ token: { id: "a", expiration } }))).toEqual({ token: "a" });
  });
});

const DAY_MS = 86_400_000;
const LIST = { route: "GET /users/{id}/authentication_tokens" };
const ANN = { id: "u-1", username: "ann", password: "canary" };
const BOB = { id: "u-2", username: "bob", password: "canary" };

let deps: ReturnType<typeof toDeps>;
let cloud: XenOrchestraSimulator;

const CANARY = "canary-of-a-token";
const METRIC = "landfall_xenorchestra_token_expiry_timestamp_seconds";
const KIND = { kind: "token" } as const;
let session: Session;
let watch: TokenWatch;
let notices: string[];
let lines: string[];

function asked(): number {
  return cloud.requests.count(LIST.route);
}

function readMetric(): string | undefined {
  const found = deps.metrics.render().match(new RegExp(`^${METRIC} (.*)$`, "m"));
  return found?.[1];
}

/** A process that started ten seconds ago. */
async function openWatch(credentials: object): Promise<void> {
  deps = { ...deps, metrics: new MetricsRegistry() };
  session = new Session(toSettings(cloud.url, credentials), deps);
  watch = new TokenWatch({ ...deps, session, notify: ({ message }) => notices.push(message) });
  await deps.clock.advance(10_000);
}

describe("token watch", () => {
  beforeEach(async () => {
    notices = [];
    lines = [];
    const write = (line: string): number => lines.push(line);
    deps = toDeps({ log: createLogger({ format: "json", level: "debug", now: () => 0, write }) });
    cloud = await startXenOrchestraSimulator({ clock: deps.clock, users: [ANN, BOB] });
    await openWatch({ token: CANARY });
  });
  afterEach(async () => {
    await cloud.stop();
    expect([...lines, ...notices, deps.metrics.render()].join("")).not.toContain("canary");
  });

  describe("TokenWatch", () => {
    test("does not look while the process starts", async () => {
      const late = new MetricsRegistry();
      const early = new TokenWatch({ ...deps, session, metrics: late });
      await deps.clock.advance(9_999);
      await early.look(KIND, signal);
      expect(asked()).toBe(0);
    });

    test("shows when the token ends, and asks once a day for it", async () => {
      cloud.auth.addToken("canary-2", ANN, 20 * DAY_MS);
      const { expiration } = cloud.auth.addToken(CANARY, ANN, 30 * DAY_MS);
      cloud.auth.addToken("canary-3", BOB, 60 * DAY_MS);
      await watch.look(KIND, signal);
      expect(readMetric()).toBe(String(expiration / 1_000));
      // The answer to /users/me is a redirect.
      const once = asked();
      await deps.clock.advance(DAY_MS - 1);
      await watch.look(KIND, signal);
      expect(asked()).toBe(once);
      await deps.clock.advance(1);
      await watch.look(KIND, signal);
      expect(asked()).toBe(2 * once);
      expect(notices).toEqual([]);
    });

    test("warns from 14 days before the end, once a day, in the log and to a person", async () => {
      cloud.auth.addToken(CANARY, ANN, 15 * DAY_MS);
      for (let day = 0; day < 4; day += 1) {
        for (let hour = 0; hour < 24; hour += 6) {
          await watch.look(KIND, signal);
          await deps.clock.advance(DAY_MS / 4);
        }
      }
      const advice = "create a new one and set token or XOA_TOKEN";
      const about = "The token for Xen Orchestra expires on 2026-01-16";
      expect(notices).toEqual([
        `${about}, in 13 days; ${advice}`,
        `${about}, in 12 days; ${advice}`,
      ]);
      const warnings = lines.filter((line) => line.includes("expire soon"));
      expect(warnings).toHaveLength(2);
      expect(warnings[0]).toContain("2026-01-16T00:00:10.000Z");
    });

    test("looks at once when the token is another", async () => {
      cloud.auth.addToken(CANARY, ANN, 10 * DAY_MS);
      const { expiration } = cloud.auth.addToken("canary-2", ANN, 20 * DAY_MS);
      const tokenFile = join(mkdtempSync(join(tmpdir(), "landfall-")), "token");
      writeFileSync(tokenFile, CANARY);
      await openWatch({ token: null, tokenFile });
      await watch.look(KIND, signal);
      writeFileSync(tokenFile, "canary-2");
      await deps.clock.advance(1_000);
      await watch.look(KIND, signal);
      rmSync(dirname(tokenFile), { recursive: true });
      expect(readMetric()).toBe(String(expiration / 1_000));
      expect(notices).toHaveLength(1);
    });

    test("renews a token of ours before there is anything to warn of", async () => {
      const client = { id: "landfall-by-hand" };
      const token = cloud.auth.mint(ANN, { client, expiresIn: "17 days" });
      await openWatch({ token: token.id });
      await watch.look(KIND, signal);
      expect(cloud.requests.count("POST /users/{id}/authentication_tokens")).toBe(0);
      let leastMs = Infinity;
      for (let hour = 0; hour < 60 * 24; hour += 1) {
        leastMs = Math.min(leastMs, Number(readMetric()) * 1_000 - deps.clock.now());
        await deps.clock.advance(3_600_000);
        await watch.look(KIND, signal);
      }
      expect(leastMs).toBeGreaterThan(14 * DAY_MS);
      expect(cloud.requests.count("POST /users/{id}/authentication_tokens")).toBeLessThan(7);
      expect(notices).toEqual([]);
      expect(lines.join("")).not.toContain(token.id);
    });

    test("warns of a token of ours that cannot be renewed", async () => {
      const client = { id: "landfall-by-hand" };
      const token = cloud.auth.mint(ANN, { client, expiresIn: "10 days" });
      await openWatch({ token: token.id });
      const route = "POST /users/{id}/authentication_tokens";
      cloud.faults.set({ kind: "status", status: 403 }, { route });
      await watch.look(KIND, signal);
      expect(notices).toHaveLength(1);
      expect(lines.join("")).toContain("Cannot renew the credentials");
      expect(lines.join("") + notices.join("")).not.toContain(token.id);
    });

    test.each([403, 404])("says nothing where it is answered with %d", async (status) => {
      cloud.auth.addToken(CANARY, ANN, DAY_MS);
      cloud.faults.set({ kind: "status", status }, LIST);
      await watch.look(KIND, signal);
      expect(readMetric()).toBeUndefined();
      expect([notices, lines]).toEqual([[], []]);
    });

    test.each([1e308, Infinity, -5, "soon", null])("knows no end of %p", async (expiration) => {
      cloud.auth.addToken(CANARY, ANN, DAY_MS);
      cloud.faults.set({ kind: "json", body: [{ id: CANARY, expiration, user_id: ANN.id }] }, LIST);
      await watch.look(KIND, signal);
      expect([readMetric(), notices, lines]).toEqual([undefined, [], []]);
    });

    test.each([
      { kind: "html", status: 200 },
      { kind: "status", status: 503 },
      { kind: "status", status: 401 },
    ] as const)("keeps what it knows after %p, and asks again after an hour", async (fault) => {
      cloud.auth.addToken(CANARY, ANN, 30 * DAY_MS);
      await watch.look(KIND, signal);
      const known = readMetric();
      await deps.clock.advance(DAY_MS);
      cloud.faults.set(fault, LIST);
      await watch.look(KIND, signal);
      expect(readMetric()).toBe(known ?? "none");
      cloud.faults.clear();
      // A refused question about the token says nothing about the token.
      const listed = await session.get(
        { operation: "list_vms", path: "/vms", isList: true },
        signal,
      );
      expect(listed.status).toBe(200);
      const before = asked();
      await deps.clock.advance(3_599_999);
      await watch.look(KIND, signal);
      expect(asked()).toBe(before);
      await deps.clock.advance(1);
      await watch.look(KIND, signal);
      expect(asked()).toBeGreaterThan(before);
    });

    /** A server that renews tokens, and how it answers. */
    async function renewAt(answer: (body: string) => Response): Promise<void> {
      const fake = new FakeXenOrchestra();
      const listed = {
        id: "t0ken",
        expiration: deps.clock.now() + 5 * DAY_MS,
        user_id: ANN.id,
        client: { id: `${OWN_CLIENT}abc` },
      };
      fake.answer = ({ method, path, body }) => {
        if (method === "POST") return answer(body);
        return path.startsWith("/users/me") ? Response.json([listed]) : undefined;
      };
      deps = { ...deps, metrics: new MetricsRegistry() };
      const renewing = new Session(toSettings(fake.url), deps);
      watch = new TokenWatch({ ...deps, session: renewing });
      await deps.clock.advance(10_000);
      await watch.look(KIND, signal);
      await fake.stop();
    }

    test("takes what the server gives when 30 days are too long for it", async () => {
      const expiration = deps.clock.now() + 20 * DAY_MS;
      await renewAt((body) =>
        body.includes("expiresIn")
          ? toResponse(loadCapture("token-too-long"))
          : Response.json({ token: { id: "t0ken", expiration } }, { status: 201 }),
      );
      expect(readMetric()).toBe(String(expiration / 1_000));
    });

    test("does not use another token that the server gives instead", async () => {
      const expiration = deps.clock.now() + 20 * DAY_MS;
      await renewAt(() => Response.json({ token: { id: "canary", expiration } }, { status: 201 }));
      expect(readMetric()).toBe(String((deps.clock.now() - 10_000 + 5 * DAY_MS) / 1_000));
      expect(lines.join("")).toContain("another token instead of renewing");
    });

    test("leaves a token alone that a password gets, and shows none", async () => {
      cloud.auth.addToken(CANARY, ANN, DAY_MS);
      await watch.look(KIND, signal);
      expect(readMetric()).toBeDefined();
      const before = asked();
      await watch.look({ kind: "password" }, signal);
      expect(readMetric()).toBeUndefined();
      expect(asked()).toBe(before);
    });
  });

  describe("describeTokenEnd()", () => {
    test.each([
      [14, false, "in 14 days"],
      [13.9, true, "in 13 days"],
      [1.5, true, "in 1 day"],
      [0.5, true, "in less than a day"],
    ])("calls %p days soon: %p", (days, isSoon, words) => {
      const described = describeTokenEnd("tokenFile", days * DAY_MS, 0);
      expect(described).toMatchObject({
        isSoon,
        advice: "create a new one and write it into tokenFile",
      });
      expect(described.message).toContain(words);
    });
  });
});
