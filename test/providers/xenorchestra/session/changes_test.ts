/**
 * Changes on the wire: how often they are sent, how long they wait, and what a refused token means.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { ALONE, Fence, LeadershipLostError } from "../../../../lib/core/fence.ts";
import {
  type ChangeRequest,
  sendChange,
} from "../../../../lib/providers/xenorchestra/session/change.ts";
import { Session } from "../../../../lib/providers/xenorchestra/session/session.ts";
import { FakeXenOrchestra, toDeps, toSettings } from "../fake_server.ts";
import type { CloudRequest } from "../../../../lib/cloud_http/client.ts";

const signal = new AbortController().signal;
const PATCH: ChangeRequest = {
  operation: "patch_vm",
  method: "PATCH",
  path: "/vms/1",
  body: { json: { cpus: 1 } },
  timeoutMs: 20_000,
};
/** How many run at the same time. */
const PLACES = 8;

let fake: FakeXenOrchestra;
let deps: ReturnType<typeof toDeps>;
let session: Session;

async function untilSeen(count: number): Promise<void> {
  while (fake.seen.length < count) await Bun.sleep(1);
}

function change(request: ChangeRequest = PATCH): Promise<{ readonly status: number }> {
  return session.change(request, new Fence(ALONE), signal);
}

describe("changes", () => {
  beforeEach(() => {
    fake = new FakeXenOrchestra();
    deps = toDeps();
    session = new Session(toSettings(fake.url), deps);
  });
  afterEach(() => fake.stop());

  test("change() sends method, body and token, and returns any reply", async () => {
    fake.answer = () => Response.json({ error: "no" }, { status: 422 });
    expect(await change()).toMatchObject({ status: 422, json: { value: { error: "no" } } });
    const [seen] = fake.seen;
    expect(seen).toMatchObject({ method: "PATCH", path: "/vms/1", body: '{"cpus":1}' });
    expect(seen?.headers.get("cookie")).toBe("authenticationToken=t0ken");
  });

  test("change() is not sent again after a lost answer", async () => {
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

  test("change() is given up after its time", async () => {
    fake.answer = () => new Promise(() => undefined);
    const late = change();
    late.catch(() => undefined);
    await untilSeen(1);
    await deps.clock.advance(PATCH.timeoutMs);
    await expect(late).rejects.toThrow("did not answer within 20 s");
  });

  test("change() waits for its turn only as long as its time, if it must be prompt", async () => {
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
});

const REQUEST = { operation: "patch_vm", method: "PATCH", path: "/vms/1", timeoutMs: 1 } as const;

function createRoute(over: object = {}) {
  const sent: CloudRequest[] = [];
  const request = async (one: CloudRequest) => {
    sent.push(one);
    return { status: 204, contentType: "" };
  };
  const leadership = { signal: new AbortController().signal, isHeld: () => true };
  const fence = new Fence(leadership);
  const route = { base: "http://xo/rest/v0", client: { request }, fence, headers: { cookie: "c" } };
  return { sent, route: { ...route, ...over } };
}

describe("sendChange()", () => {
  test("sends JSON, bytes, or nothing", async () => {
    const { sent, route } = createRoute();
    const bytes = new Uint8Array([1]);
    await sendChange(REQUEST, route, signal);
    await sendChange({ ...REQUEST, body: { json: { a: 1 } } }, route, signal);
    await sendChange({ ...REQUEST, body: { bytes } }, route, signal);
    expect(sent.map(({ body, headers }) => [body, headers["content-type"]])).toEqual([
      [undefined, undefined],
      ['{"a":1}', "application/json"],
      [bytes, "application/octet-stream"],
    ]);
    expect(sent[0]).toMatchObject({
      url: "http://xo/rest/v0/vms/1",
      method: "PATCH",
      headers: { cookie: "c" },
    });
  });

  test("sends nothing without the lead", async () => {
    const { sent, route } = createRoute({ fence: new Fence() });
    await expect(sendChange(REQUEST, route, signal)).rejects.toBeInstanceOf(LeadershipLostError);
    expect(sent).toEqual([]);
  });

  test("says that the lead was lost, and not that a connection broke", async () => {
    const lost = new AbortController();
    let isHeld = true;
    const fence = new Fence({ signal: lost.signal, isHeld: () => isHeld });
    const request = async (_sent: CloudRequest, both: AbortSignal): Promise<never> => {
      isHeld = false;
      lost.abort(new LeadershipLostError("gone"));
      expect(both.aborted).toBe(true);
      throw new Error("closed");
    };
    const { route } = createRoute({ fence, client: { request } });
    await expect(sendChange(REQUEST, route, signal)).rejects.toBeInstanceOf(LeadershipLostError);
  });
});
