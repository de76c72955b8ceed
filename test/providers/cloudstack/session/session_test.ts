/**
 * Lists, single objects, changes and jobs over the wire; new keys, waits, resets, and what is never shown.
 * @module
 */
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProviderDeps } from "../../../../lib/cloud/provider_definition.ts";
import { describeError } from "../../../../lib/core/errors.ts";
import { Fence, LeadershipLostError } from "../../../../lib/core/fence.ts";
import { createLogger } from "../../../../lib/core/log.ts";
import { CloudStackSession } from "../../../../lib/providers/cloudstack/session/session.ts";
import { SCHEMAS } from "../../../../lib/providers/cloudstack/wire/schema.ts";
import {
  FakeCloudStack,
  KEYS,
  refuse,
  reply,
  type Seen,
  toDeps,
  toSettings,
} from "../fake_server.ts";

const signal = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), "session-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Zones are as simple as projects: an ID and a name. */
const ZONES = { command: "listZones", key: "zone", schema: SCHEMAS.project };
const ABOUT = { command: "listCapabilities", key: "capability", schema: SCHEMAS.capabilities };
const FREE = { command: "disassociateIpAddress", params: { id: "ip-1" }, schema: SCHEMAS.success };

const HTML = { "content-type": "text/html" };
const JSON_TYPE = "application/json";

let fake: FakeCloudStack;
let deps: ReturnType<typeof toDeps>;
let lines: string[];

function open(more: object = {}, over: Partial<ProviderDeps> = {}): CloudStackSession {
  const log = createLogger({
    write: (line) => lines.push(line),
    level: "debug",
    format: "text",
    now: () => 0,
  });
  deps = toDeps({ log, ...over });
  return new CloudStackSession(toSettings(fake.url, more), deps);
}

function toId(number: number): string {
  return `aaaaaaaa-1111-4111-8111-${String(number).padStart(12, "0")}`;
}

/** Waits until so many commands have arrived. */
async function untilSeen(count: number): Promise<void> {
  while (fake.seen.length < count) await Bun.sleep(1);
}

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

beforeEach(() => {
  fake = new FakeCloudStack();
  lines = [];
});
afterEach(() => fake.stop());

/** What is said of a change without an answer. */
const UNKNOWN = "may have carried out disassociateIpAddress";

describe("list()", () => {
  test("gets every page, each object by itself, and counts requests and what cannot be read", async () => {
    fake.answer = ({ command, params }) => {
      const from = (Number(params["page"]) - 1) * 500;
      const zone = Array.from({ length: Math.min(500, 501 - from) }, (_, at) => ({
        id: toId(from + at),
        name: from + at === 7 ? 7 : "z",
      }));
      return reply(command, { count: 501, zone });
    };
    const list = await open().list({ ...ZONES, params: { available: "true" } }, signal);
    expect([list.objects.length, list.gap]).toEqual([500, undefined]);
    expect([...list.undecodable]).toEqual([[toId(7), "name: must be string"]]);
    expect(fake.seen.map(({ params }) => [params["page"], params["pagesize"]])).toEqual([
      ["1", "500"],
      ["2", "500"],
    ]);
    expect(fake.seen[0]?.params["available"]).toBe("true");
    expect(deps.metrics.render()).toContain(
      'landfall_cloud_requests_total{code="200",operation="listZones",provider="external-cloudstack"} 2',
    );
    expect(deps.metrics.render()).toContain(
      'landfall_cloud_undecodable_objects_total{collection="zone"} 1',
    );
  });

  test("an answer without objects is an empty list, and whole", async () => {
    const list = await open().list(ZONES, signal);
    expect(list).toEqual({ objects: [], undecodable: new Map() });
  });

  test("says that a list is not whole, and why", async () => {
    fake.answer = ({ command }) => reply(command, { count: 3, zone: [{ id: toId(1) }] });
    const { gap } = await open().list(ZONES, signal);
    expect(gap).toBe("listZones: the list has 1 objects, and the server counts 3");
  });
});

describe("read()", () => {
  test("gets one object", async () => {
    const capability = { cloudstackversion: "4.22.0.0", more: 1 };
    fake.answer = ({ command }) => reply(command, { capability });
    expect(await open().read(ABOUT, signal)).toEqual({ cloudstackversion: "4.22.0.0" });
  });

  test("takes JSON of old servers, and refuses an answer without the object", async () => {
    const headers = { "content-type": "text/javascript; charset=UTF-8" };
    fake.answer = () => new Response('{"listcapabilitiesresponse":{"capability":{}}}', { headers });
    const session = open();
    expect(await session.read(ABOUT, signal)).toEqual({});
    fake.answer = ({ command }) => reply(command, {});
    expect(describeError(await failure(session.read(ABOUT, signal)))).toBe(
      "CloudStack's answer to listCapabilities (capability) cannot be read: the object itself: must be Object",
    );
  });

  test("gives up at its deadline", async () => {
    const session = open();
    fake.answer = () => new Promise<Response>(() => {});
    const late = failure(session.read(ABOUT, signal));
    await untilSeen(1);
    await deps.clock.advance(10_000);
    expect(await late).toMatchObject({ kind: "unreachable" });
  });

  test("ends with its signal, and with the process", async () => {
    fake.answer = () => new Promise<Response>(() => {});
    const [own, all] = [new AbortController(), new AbortController()];
    const session = open({}, { signal: all.signal });
    const first = failure(session.read(ABOUT, own.signal));
    const second = failure(session.read(ABOUT, signal));
    await untilSeen(2);
    own.abort(new Error("own"));
    expect(await first).toMatchObject({ message: "own" });
    all.abort(new Error("all"));
    expect(await second).toMatchObject({ message: "all" });
  });

  test("waits for as long as a 429 says, and then has an answer", async () => {
    let tries = 0;
    fake.answer = ({ command }) => {
      tries += 1;
      const text =
        "The given user has reached his/her account api limit, please retry after [640] ms.";
      return tries === 1 ? refuse(command, 429, text) : reply(command, { capability: {} });
    };
    const session = open();
    const read = session.read(ABOUT, signal);
    await untilSeen(1);
    while (deps.clock.pending < 2) await Bun.sleep(1);
    await deps.clock.advance(639);
    expect(fake.seen).toHaveLength(1);
    await deps.clock.advance(1);
    expect(await read).toEqual({});
    expect(fake.seen).toHaveLength(2);
  });

  test("does not wait beyond its deadline for a 429, and says how long to wait", async () => {
    fake.answer = ({ command }) => refuse(command, 429, "retry after [20000] ms.");
    expect(await failure(open().read(ABOUT, signal))).toMatchObject({
      kind: "throttled",
      retryAfterMs: 20_000,
    });
    expect(fake.seen).toHaveLength(1);
  });

  test("uses new keys from their files, and at once after a 401", async () => {
    const [apiKeyFile, secretKeyFile] = [join(folder, "api"), join(folder, "secret")];
    const write = ({ apiKey, secretKey }: typeof KEYS): void => {
      writeFileSync(apiKeyFile, apiKey);
      writeFileSync(secretKeyFile, secretKey);
    };
    write(KEYS);
    fake.answer = ({ command }) => reply(command, { capability: {} });
    let changes = 0;
    const onOtherUser = (): void => void (changes += 1);
    const files = { apiKey: "", secretKey: "", apiKeyFile, secretKeyFile };
    const session = open(files, { onOtherUser });
    await session.read(ABOUT, signal);
    const other = { apiKey: "other-key", secretKey: "other-secret" };
    fake.secrets.clear();
    fake.secrets.set(other.apiKey, other.secretKey);
    write(other);
    await session.read(ABOUT, signal);
    expect(fake.seen.map(({ params }) => params["apikey"])).toEqual([
      KEYS.apiKey,
      KEYS.apiKey,
      other.apiKey,
    ]);
    expect(changes).toBe(1);
  });
});

describe("call()", () => {
  test("posts, and returns what the server answers at once", async () => {
    fake.answer = ({ command }) => reply(command, { success: "true", displaytext: "done" });
    expect(await open().call(FREE, signal)).toEqual({ success: true });
    expect(fake.commands).toEqual(["POST disassociateIpAddress"]);
  });

  test("waits for the job, and reads its result", async () => {
    const { answer, seen } = createJob({ jobstatus: 1, jobresult: { success: true } });
    fake.answer = answer;
    const done = open().call(FREE, signal);
    await advanceUntil(done);
    expect(await done).toEqual({ success: true });
    expect(seen).toEqual(["disassociateIpAddress", "queryAsyncJobResult", "queryAsyncJobResult"]);
    expect(fake.seen[1]).toMatchObject({ method: "GET", params: { jobid: "job-1" } });
  });

  test("reads the object of a job", async () => {
    const jobresult = { zone: { id: toId(1), name: "z" } };
    fake.answer = createJob({ jobstatus: "1", jobresult }).answer;
    const done = open().call({ ...ZONES, command: "createZone" }, signal);
    await advanceUntil(done);
    expect(await done).toEqual({ id: toId(1), name: "z" });
  });

  const cmd = "org.x.FreeIPCmd";

  test.each([
    [{ cmd, jobresult: { errorcode: 533, errortext: "no free IP" } }, 533, "(no free IP)"],
    [{ cmd, jobresult: "out of luck" }, 530, "(out of luck)"],
    [{ cmd }, 530, "530 to FreeIPCmd"],
    [{ cmd: `x.\n${"y".repeat(100_000)}` }, 530, "530 to a job:"],
  ])("a failed job with %j is a refusal", async (job, code, words) => {
    fake.answer = createJob({ jobstatus: 2, ...job }).answer;
    const done = failure(open().call(FREE, signal));
    await advanceUntil(done);
    const error = await done;
    expect(error).toMatchObject({ code });
    expect(describeError(error)).toContain(words);
  });

  test.each<[string, () => Response]>([
    ["a proxy's 502", () => new Response("<h1>", { status: 502, headers: HTML })],
    ["a proxy's 504", () => new Response("<h1>", { status: 504, headers: HTML })],
    ["half an answer", () => new Response('{"a', { headers: { "content-type": JSON_TYPE } })],
    ["a page instead of JSON", () => new Response("<h1>", { headers: HTML })],
  ])(
    "after %s it says that the change may have been made, and sends it once",
    async (_what, to) => {
      fake.answer = to;
      const error = await failure(open().call(FREE, signal));
      expect(describeError(error)).toContain(UNKNOWN);
      expect(fake.commands).toEqual(["POST disassociateIpAddress"]);
    },
  );

  test("says the same when no answer comes in time", async () => {
    fake.answer = () => new Promise<Response>(() => {});
    const session = open();
    const late = failure(session.call(FREE, signal));
    await untilSeen(1);
    await deps.clock.advance(10_000);
    expect(describeError(await late)).toContain(UNKNOWN);
    expect(fake.seen).toHaveLength(1);
  });

  test.each([401, 429, 431, 530, 531])(
    "a refusal with %d says that nothing was done",
    async (code) => {
      fake.answer = ({ command }) => refuse(command, code, "no");
      const error = await failure(open().call(FREE, signal));
      expect(describeError(error)).not.toContain(UNKNOWN);
      expect(fake.seen).toHaveLength(1);
    },
  );

  test("tells the ID of the object before the job is over, to each caller", async () => {
    fake.answer = createJob({ jobstatus: 1, jobresult: { success: true } }).answer;
    const told: [string, number][] = [];
    const onObject = (id: string): void => void told.push([id, fake.seen.length]);
    const change = { ...FREE, hooks: { onObject } };
    const session = open();
    const done = Promise.all([session.call(change, signal), session.call(change, signal)]);
    await advanceUntil(done);
    await done;
    expect(told).toEqual([
      ["ip-1", 1],
      ["ip-1", 1],
    ]);
  });

  test("the same command for another owner is another change", async () => {
    const { answer, seen } = createJob({ jobstatus: 1, jobresult: { success: true } });
    fake.answer = answer;
    const session = open();
    const owners = ["a", "b", "a"];
    const done = Promise.all(owners.map((owner) => session.call({ ...FREE, owner }, signal)));
    await advanceUntil(done);
    await done;
    expect(seen.filter((one) => one === FREE.command)).toHaveLength(2);
  });

  test("awaitJob() asks about a job of an earlier process, and sends nothing else", async () => {
    const { answer } = createJob({ jobstatus: 1, jobresult: { success: true } });
    fake.answer = answer;
    const done = open().awaitJob("job-1", "associateIpAddress", signal);
    await advanceUntil(done);
    await done;
    expect(fake.commands).toEqual(["GET queryAsyncJobResult", "GET queryAsyncJobResult"]);
  });

  test("no message of a failed job holds a key or a signature", async () => {
    let sent: Seen | undefined;
    fake.answer = (seen) => {
      if (seen.command !== "queryAsyncJobResult") return reply(seen.command, { jobid: "job-1" });
      sent = seen;
      const errortext = `failed: ${decodeURIComponent(seen.path)} ${KEYS.secretKey}`;
      return reply(seen.command, { jobstatus: 2, jobresult: { errorcode: 530, errortext } });
    };
    const done = failure(open().call(FREE, signal));
    await advanceUntil(done);
    const error = await done;
    const signature = new URLSearchParams(sent?.path.split("?")[1]).get("signature") ?? "";
    expect(signature).not.toBe("");
    const text = [describeError(error), Bun.inspect(error)].join("\n");
    expect(text).toContain("(secret)");
    for (const secret of [KEYS.apiKey, KEYS.secretKey, signature])
      expect(text).not.toContain(secret);
  });

  test("a lost answer is not asked for again: the change may have been made", async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.once("data", () => socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const session = open({ apiUrl: `http://127.0.0.1:${port}/client/api` });
    expect(describeError(await failure(session.call(FREE, signal)))).toContain(UNKNOWN);
    expect(sockets).toHaveLength(1);
    // A read is sent once more.
    expect(await failure(session.read(ABOUT, signal))).toMatchObject({ kind: "unreachable" });
    expect(sockets).toHaveLength(3);
    server.close();
  });

  test("a process that does not lead sends nothing", async () => {
    const session = open({}, { fence: new Fence() });
    expect(await failure(session.call(FREE, signal))).toBeInstanceOf(LeadershipLostError);
    expect(fake.seen).toEqual([]);
  });

  test("the same change is sent once while its job runs, another one is sent at once", async () => {
    fake.answer = createJob({ jobstatus: 1, jobresult: { success: true } }).answer;
    const session = open();
    const other = { ...FREE, params: { id: "ip-2" } };
    const done = Promise.all([FREE, FREE, other].map((one) => session.call(one, signal)));
    await advanceUntil(done);
    await done;
    expect(fake.commands.filter((one) => one.startsWith("POST"))).toHaveLength(2);
  });
});

test("no message and no log record holds a key or a signature, whatever the server repeats", async () => {
  const kinds: ((seen: Seen) => Response)[] = [
    ({ command, path }) => refuse(command, 431, `bad request ${decodeURIComponent(path)}`),
    ({ command, path }) => refuse(command, 530, path),
    ({ path }) => new Response(path, { status: 502, headers: { "content-type": "text/html" } }),
    ({ path }) => new Response(path, { status: 404, headers: { "content-type": "text/html" } }),
    ({ path }) => new Response(`"${path}`, { headers: { "content-type": "application/json" } }),
    ({ path }) => Response.json({ [path]: { errorcode: 401, errortext: path } }, { status: 401 }),
    ({ path }) =>
      new Response("", { status: 302, headers: { location: `https://evil.test${path}` } }),
  ];
  const session = open();
  const texts: string[] = [];
  let signature = "";
  for (const kind of kinds) {
    fake.answer = (seen) => {
      signature = new URLSearchParams(seen.path.split("?")[1]).get("signature") ?? "";
      return kind(seen);
    };
    const error = await failure(session.list(ZONES, signal));
    texts.push(describeError(error), JSON.stringify(error), Bun.inspect(error));
    expect(signature).not.toBe("");
    for (const secret of [KEYS.apiKey, KEYS.secretKey, signature, encodeURIComponent(signature)]) {
      expect([...texts, ...lines].join("\n")).not.toContain(secret);
    }
  }
  await fake.stop();
  const gone = await failure(session.list(ZONES, signal));
  texts.push(describeError(gone), JSON.stringify(gone), Bun.inspect(gone));
  expect([...texts, ...lines].join("\n")).not.toContain(KEYS.apiKey);
  expect([...texts, ...lines].join("\n")).not.toMatch(/signature=(?!\(secret\))/);
});

/** Answers a change with a job that runs while it is asked about for the first time. */
function createJob(end: object): { answer: (seen: Seen) => Response; seen: string[] } {
  const seen: string[] = [];
  const answer = ({ command, params }: Seen): Response => {
    seen.push(command);
    if (command !== "queryAsyncJobResult") {
      return reply(command, { id: "ip-1", jobid: `job-${params["id"]?.at(-1) ?? 1}` });
    }
    const isFirst = seen.filter((one) => one === command).length === 1;
    return reply(command, isFirst ? { jobstatus: 0, jobprocstatus: 0 } : end);
  };
  return { answer, seen };
}

/** Lets time go on, and real requests with it, until something is over. */
async function advanceUntil(done: Promise<unknown>): Promise<void> {
  while (Bun.peek.status(done) === "pending") {
    await Bun.sleep(1);
    await deps.clock.advance(50);
  }
}
