/**
 * Changes on the wire: how often they are sent, how long they wait, and what a refused token means.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { ALONE, Fence, LeadershipLostError } from "../../../../lib/core/fence.ts";
import {
  type ChangeRequest,
  Session,
} from "../../../../lib/providers/xenorchestra/session/session.ts";
import { FakeXenOrchestra, toDeps, toSettings } from "../fake_server.ts";

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

  test("change() sends JSON, bytes, or nothing", async () => {
    const { body: _json, ...empty } = PATCH;
    const bytes = new TextEncoder().encode("bytes");
    for (const request of [empty, PATCH, { ...PATCH, body: { bytes } }]) await change(request);
    expect(fake.seen.map(({ body, headers }) => [body, headers.get("content-type")])).toEqual([
      ["", null],
      ['{"cpus":1}', "application/json"],
      ["bytes", "application/octet-stream"],
    ]);
  });

  test("change() sends nothing without the lead", async () => {
    const sent = session.change(PATCH, new Fence(), signal);
    await expect(sent).rejects.toBeInstanceOf(LeadershipLostError);
    expect(fake.seen).toEqual([]);
  });

  test("change() says that the lead was lost, and not that a connection broke", async () => {
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
