/**
 * Tokens, deadlines, retries and redirects on the wire.
 * @module
 */
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeError } from "../../../../lib/core/errors.ts";
import { createLogger } from "../../../../lib/core/log.ts";
import { ALONE, Fence, LeadershipLostError } from "../../../../lib/core/fence.ts";
import {
  type ChangeRequest,
  Session,
} from "../../../../lib/providers/xenorchestra/session/session.ts";
import { startXenOrchestraSimulator } from "../../../../lib/simulator/xenorchestra/mod.ts";
import { FakeXenOrchestra, loadCapture, toDeps, toResponse, toSettings } from "../fake_server.ts";

const signal = new AbortController().signal;
const GET = { operation: "list_pools", path: "/pools?fields=id", isList: true } as const;
const PASSWORD = { token: null, username: "ccm@local", password: "pa:ss" };

let fake: FakeXenOrchestra;
let deps: ReturnType<typeof toDeps>;

function open(more: object = {}): Session {
  return new Session(toSettings(fake.url, more), deps);
}

function codes(operation: string, code: string): string | undefined {
  const wanted = `landfall_cloud_requests_total{code="${code}",operation="${operation}",provider="xenorchestra"}`;
  const line = deps.metrics
    .render()
    .split("\n")
    .find((one) => one.startsWith(wanted));
  return line?.split(" ").at(-1);
}

/** Waits until so many requests have arrived. */
async function untilSeen(count: number): Promise<void> {
  while (fake.seen.length < count) await Bun.sleep(1);
}

beforeEach(() => {
  fake = new FakeXenOrchestra();
  deps = toDeps();
});
afterEach(() => fake.stop());

describe("get()", () => {
  test("sends the token as a cookie, never an Authorization header, and counts", async () => {
    const reply = await open().get(GET, signal);
    expect(reply.status).toBe(200);
    const [seen] = fake.seen;
    expect(seen?.headers.get("cookie")).toBe("authenticationToken=t0ken");
    expect(seen?.headers.get("authorization")).toBeNull();
    expect(seen?.headers.get("user-agent")).toBe("landfall");
    expect(codes("list_pools", "200")).toBe("1");
    expect(deps.metrics.render()).toContain(
      'landfall_cloud_request_duration_seconds_count{operation="list_pools",provider="xenorchestra"} 1',
    );
  });

  test("C-08 gives up at the deadline, also while the body is on its way", async () => {
    const session = open({ clientTimeout: "100ms" });
    const where = new URL(fake.url).host;
    fake.answer = () => new Promise<Response>(() => {});
    const asked = session.get(GET, signal).catch((error: unknown) => error);
    await untilSeen(1);
    await deps.clock.advance(100);
    const late = await asked;
    expect(late).toMatchObject({ kind: "unreachable" });
    expect(describeError(late)).toBe(`Xen Orchestra at ${where} did not answer within 0.1 s`);
    fake.answer = () => {
      const body = new ReadableStream({ start: (stream) => stream.enqueue("[") });
      return new Response(body, { headers: { "content-type": "application/json" } });
    };
    const begun = session.get(GET, signal).catch((error: unknown) => error);
    await untilSeen(2);
    await deps.clock.advance(100);
    expect(await begun).toMatchObject({ kind: "unreachable" });
    expect(codes("list_pools", "timeout")).toBe("2");
  });

  test("401 is denied, and the same token is left alone for a while", async () => {
    const session = open();
    fake.answer = () => toResponse(loadCapture("auth-badtoken"));
    const denied = { kind: "denied" };
    await expect(session.get(GET, signal)).rejects.toMatchObject(denied);
    await expect(session.get(GET, signal)).rejects.toThrow("check token or tokenFile");
    expect(fake.seen).toHaveLength(1);
    fake.answer = () => undefined;
    await deps.clock.advance(500);
    expect((await session.get(GET, signal)).status).toBe(200);
  });

  test("leaves a refused token alone for longer each time, but at most half a refresh", async () => {
    const session = open({ refreshInterval: "40s" });
    fake.answer = () => toResponse(loadCapture("auth-badtoken"));
    for (let count = 0; count < 12; count += 1) {
      await session.get(GET, signal).catch(() => {});
      await deps.clock.advance(20_000);
    }
    expect(fake.seen).toHaveLength(12);
    await session.get(GET, signal).catch(() => {});
    await deps.clock.advance(19_999);
    await session.get(GET, signal).catch(() => {});
    expect(fake.seen).toHaveLength(13);
  });

  test("has every cache ask, but in a way that lets Xen Orchestra answer 304", async () => {
    const session = open();
    await session.get(GET, signal);
    await session.get({ ...GET, etag: 'W/"1"' }, signal);
    const heads = fake.seen.map(({ headers }) => [
      headers.get("cache-control"),
      headers.get("if-none-match"),
    ]);
    expect(heads).toEqual([
      ["max-age=0", null],
      ["max-age=0", 'W/"1"'],
    ]);
  });

  test("a 304 with a body, which may not be, spoils no later answer", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (data) => {
        const isConditional = String(data).toLowerCase().includes("if-none-match");
        const [status, body] = isConditional ? ["304 Not Modified", "[1,2,3]"] : ["200 OK", "[]"];
        const head = `content-type: application/json\r\ncontent-length: ${body.length}`;
        socket.write(`HTTP/1.1 ${status}\r\n${head}\r\n\r\n${body}`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const session = new Session(toSettings(`http://127.0.0.1:${port}`), deps);
    for (let round = 0; round < 3; round += 1) {
      const reply = await session.get({ ...GET, etag: '"1"' }, signal);
      expect([reply.status, reply.json]).toEqual([304, undefined]);
      expect((await session.get(GET, signal)).json).toEqual({ value: [] });
    }
    server.close();
  });

  test("runs at most eight requests at a time", async () => {
    let running = 0;
    let most = 0;
    fake.answer = async () => {
      running += 1;
      most = Math.max(most, running);
      await Bun.sleep(5);
      running -= 1;
      return Response.json([]);
    };
    const session = open();
    await Promise.all(Array.from({ length: 30 }, () => session.get(GET, signal)));
    expect(most).toBe(8);
  });
});

test("another interval lets a refused token be sent again sooner", async () => {
  const session = open({ refreshInterval: "60s" });
  fake.answer = () => toResponse(loadCapture("auth-badtoken"));
  await session.get(GET, signal).catch(() => {});
  session.refreshIntervalMs = 1_000;
  await session.get(GET, signal).catch(() => {});
  expect(fake.seen).toHaveLength(1);
  for (let count = 2; count < 6; count += 1) {
    await deps.clock.advance(500);
    await session.get(GET, signal).catch(() => {});
    expect(fake.seen).toHaveLength(count);
  }
});

describe("tokenFile", () => {
  const folder = mkdtempSync(join(tmpdir(), "landfall-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("is read again when it changes, and when the token is refused", async () => {
    const path = join(folder, "token");
    writeFileSync(path, "one\n");
    const session = open({ token: null, tokenFile: path });
    await session.get(GET, signal);
    writeFileSync(path, "two\n");
    await session.get(GET, signal);
    await deps.clock.advance(1_000);
    await session.get(GET, signal);
    writeFileSync(path, "three");
    fake.answer = ({ headers }) =>
      headers.get("cookie")?.endsWith("=two")
        ? toResponse(loadCapture("auth-badtoken"))
        : undefined;
    expect((await session.get(GET, signal)).status).toBe(200);
    const cookies = fake.seen.map(({ headers }) => headers.get("cookie")?.split("=")[1]);
    expect(cookies).toEqual(["one", "one", "two", "two", "three"]);
  });

  test("that is not there is an error of the settings", () => {
    expect(() => open({ token: null, tokenFile: "/nowhere/token" })).toThrow(
      "tokenFile: /nowhere/token: cannot be read: there is no such file",
    );
    deps = toDeps();
    expect(() => open({ token: null, tokenFile: "./nowhere" })).toThrow(
      `tokenFile: ${process.cwd()}/nowhere: cannot be read: there is no such file`,
    );
    deps = toDeps();
    expect(() => open({ token: null, tokenFile: "/" })).toThrow(
      "tokenFile: /: cannot be read: it is a folder",
    );
  });

  test("that is the token itself is not shown", () => {
    const make = (): Session => open({ token: null, tokenFile: "canary".repeat(7) });
    expect(make).toThrow(
      "tokenFile: cannot be read: there is no such file (the name is not shown, because it may be the token itself; " +
        `a relative path begins at ${process.cwd()}); give the path of a file, or write the token itself into token`,
    );
    expect(make).not.toThrow("canary");
  });
});

test("signs in again when the user was made again with another ID, as in a restored database", async () => {
  const user = { id: "u-1", username: "ccm@local", password: "pa:ss" };
  const cloud = await startXenOrchestraSimulator({ clock: deps.clock, users: [user] });
  try {
    const session = new Session(toSettings(cloud.url, PASSWORD), deps);
    expect((await session.get(GET, signal)).status).toBe(200);
    cloud.auth.remake(user.username, "u-2");
    // What was just minted is not doubted at once.
    await deps.clock.advance(60_000);
    expect((await session.get(GET, signal)).status).toBe(200);
  } finally {
    await cloud.stop();
  }
});

describe("username and password", () => {
  const minted = loadCapture("token-renew-same-client");
  let mints: number;
  let expiration: number;

  beforeEach(() => {
    mints = 0;
    expiration = deps.clock.now() + 30 * 24 * 3_600_000;
    fake.answer = ({ method, path }) => {
      if (path === "/users/me/authentication_tokens") {
        const { headers } = loadCapture("users-me-redirect");
        const location = `${headers["location"]}/authentication_tokens`;
        return new Response("Temporary Redirect", { status: 307, headers: { location } });
      }
      if (method !== "POST") return undefined;
      mints += 1;
      return Response.json({ token: { id: `minted-${mints}`, expiration } }, { status: 201 });
    };
  });

  test("mint a token once for many requests, with Basic and a stable client ID", async () => {
    const session = open(PASSWORD);
    await Promise.all([1, 2, 3].map(() => session.get(GET, signal)));
    const posts = fake.seen.filter(({ method }) => method === "POST");
    expect(posts.map(({ path }) => path)).toEqual([
      "/users/me/authentication_tokens",
      "/users/8d5fd158-6f61-4ab5-a6ad-f208cb0b8a96/authentication_tokens",
    ]);
    for (const { headers, body } of posts) {
      expect(headers.get("authorization")).toBe(`Basic ${btoa("ccm@local:pa:ss")}`);
      expect(headers.get("cookie")).toBeNull();
      expect(JSON.parse(body).client.id).toMatch(/^landfall-[0-9a-f]{12}$/);
    }
    const gets = fake.seen.filter(({ method }) => method === "GET");
    expect(gets.map(({ headers }) => headers.get("cookie"))).toEqual(
      Array(3).fill("authenticationToken=minted-1"),
    );
    expect(gets.every(({ headers }) => headers.get("authorization") === null)).toBe(true);
  });

  test("read the token as the captured server gives it", async () => {
    fake.answer = ({ method }) => (method === "POST" ? toResponse(minted) : undefined);
    await open(PASSWORD).get(GET, signal);
    expect(fake.seen.at(-1)?.headers.get("cookie")).toBe("authenticationToken=<token>");
  });

  test("C-08 call a server that is asked too fast throttled", async () => {
    fake.answer = () => toResponse(loadCapture("auth-basic-bad-again"));
    await expect(open(PASSWORD).get(GET, signal)).rejects.toMatchObject({ kind: "throttled" });
  });

  test("mint another token when theirs is refused", async () => {
    const session = open(PASSWORD);
    await session.get(GET, signal);
    const answer = fake.answer;
    fake.answer = (seen) =>
      seen.headers.get("cookie")?.endsWith("minted-1")
        ? toResponse(loadCapture("auth-badtoken"))
        : answer(seen);
    await deps.clock.advance(3_000);
    expect((await session.get(GET, signal)).status).toBe(200);
    expect(mints).toBe(2);
  });

  test("are never sent to another origin", async () => {
    const other = new FakeXenOrchestra();
    fake.answer = () =>
      Response.redirect(`${other.url}/rest/v0/users/x/authentication_tokens`, 307);
    await expect(open(PASSWORD).get(GET, signal)).rejects.toMatchObject({ kind: "protocol" });
    expect(other.seen).toHaveLength(0);
    await other.stop();
  });

  test("P-06 never show in a log", async () => {
    const lines: string[] = [];
    const log = createLogger({
      format: "json",
      level: "debug",
      write: (line) => lines.push(line),
      now: () => 0,
    });
    deps = toDeps({ log });
    const session = open(PASSWORD);
    await session.get(GET, signal);
    fake.answer = () => toResponse(loadCapture("auth-basic-bad"));
    await deps.clock.advance(31 * 24 * 3_600_000);
    await expect(session.get(GET, signal)).rejects.toMatchObject({ kind: "denied" });
    expect(lines).toHaveLength(2);
    expect(lines.join("")).not.toMatch(/pa:ss|minted-1/);
  });
});

const PATCH: ChangeRequest = {
  operation: "patch_vm",
  method: "PATCH",
  path: "/vms/1",
  body: { json: { cpus: 1 } },
  timeoutMs: 20_000,
};
/** How many run at the same time. */
const PLACES = 8;

describe("change()", () => {
  let session: Session;
  beforeEach(() => {
    session = open();
  });

  function change(request: ChangeRequest = PATCH): Promise<{ readonly status: number }> {
    return session.change(request, new Fence(ALONE), signal);
  }

  test("sends method, body and token, and returns any reply", async () => {
    fake.answer = () => Response.json({ error: "no" }, { status: 422 });
    expect(await change()).toMatchObject({ status: 422, json: { value: { error: "no" } } });
    const [seen] = fake.seen;
    expect(seen).toMatchObject({ method: "PATCH", path: "/vms/1", body: '{"cpus":1}' });
    expect(seen?.headers.get("cookie")).toBe("authenticationToken=t0ken");
  });

  test("is not sent again after a lost answer", async () => {
    let asked = 0;
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.on("data", () => {
        asked += 1;
        socket.resetAndDestroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    session = new Session(toSettings(`http://127.0.0.1:${port}`), toDeps());
    await expect(change()).rejects.toMatchObject({ kind: "unreachable" });
    expect(asked).toBe(1);
    server.close();
  });

  test("is given up after its time", async () => {
    fake.answer = () => new Promise(() => undefined);
    const late = change();
    late.catch(() => undefined);
    await untilSeen(1);
    await deps.clock.advance(PATCH.timeoutMs);
    await expect(late).rejects.toThrow("did not answer within 20 s");
  });

  test("waits for its turn only as long as its time, if it must be prompt", async () => {
    const free: (() => void)[] = [];
    fake.answer = () =>
      new Promise((resolve) => free.push(() => resolve(new Response(null, { status: 204 }))));
    const slow = { ...PATCH, timeoutMs: 600_000 };
    const running = Array.from({ length: PLACES }, () => change(slow));
    await untilSeen(PLACES);
    const prompt = change({ ...PATCH, isPrompt: true });
    const patient = change(PATCH);
    prompt.catch(() => undefined);
    await deps.clock.advance(PATCH.timeoutMs);
    await expect(prompt).rejects.toThrow("did not answer within 20 s");
    expect(fake.seen).toHaveLength(PLACES);
    for (const one of free.splice(0)) one();
    await Promise.all(running);
    await untilSeen(PLACES + 1);
    for (const one of free.splice(0)) one();
    expect(await patient).toMatchObject({ status: 204 });
  });

  test("sends JSON, bytes, or nothing", async () => {
    const { body: _json, ...empty } = PATCH;
    const bytes = new TextEncoder().encode("bytes");
    for (const request of [empty, PATCH, { ...PATCH, body: { bytes } }]) await change(request);
    expect(fake.seen.map(({ body, headers }) => [body, headers.get("content-type")])).toEqual([
      ["", null],
      ['{"cpus":1}', "application/json"],
      ["bytes", "application/octet-stream"],
    ]);
  });

  test("sends nothing without the lead", async () => {
    const sent = session.change(PATCH, new Fence(), signal);
    await expect(sent).rejects.toBeInstanceOf(LeadershipLostError);
    expect(fake.seen).toEqual([]);
  });

  test("says that the lead was lost, and not that a connection broke", async () => {
    const lost = new AbortController();
    let isHeld = true;
    const fence = new Fence({ signal: lost.signal, isHeld: () => isHeld });
    fake.answer = () => {
      isHeld = false;
      lost.abort(new LeadershipLostError("gone"));
      return new Promise<never>(() => {});
    };
    const sent = session.change(PATCH, fence, signal);
    await expect(sent).rejects.toBeInstanceOf(LeadershipLostError);
  });
});
