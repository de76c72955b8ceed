/**
 * When a token ends and how it is renewed, on the simulated Xen Orchestra.
 * @module
 */
import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { MetricsRegistry } from "../../../../lib/core/metrics.ts";
import { OWN_CLIENT } from "../../../../lib/providers/xenorchestra/session/mint.ts";
import { Session } from "../../../../lib/providers/xenorchestra/session/session.ts";
import {
  readTokenLife,
  renewToken,
} from "../../../../lib/providers/xenorchestra/session/token_life.ts";
import {
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../../lib/simulator/xenorchestra/mod.ts";
import { FakeXenOrchestra, loadCapture, toDeps, toResponse, toSettings } from "../fake_server.ts";

const signal = new AbortController().signal;
const DAY_MS = 86_400_000;
const LIST = { route: "GET /users/{id}/authentication_tokens" };
const ANN = { id: "u-1", username: "ann", password: "canary" };
const BOB = { id: "u-2", username: "bob", password: "canary" };

let deps: ReturnType<typeof toDeps>;
let cloud: XenOrchestraSimulator;
beforeEach(async () => {
  deps = toDeps();
  cloud = await startXenOrchestraSimulator({ clock: deps.clock, users: [ANN, BOB] });
});
afterEach(() => cloud.stop());

function open(token: string): Session {
  return new Session(toSettings(cloud.url, { token }), { ...deps, metrics: new MetricsRegistry() });
}

function now(): number {
  return deps.clock.now();
}

describe("readTokenLife()", () => {
  test("finds the token in use among all of its user", async () => {
    cloud.auth.addToken("one", ANN, 20 * DAY_MS);
    cloud.auth.addToken("two", ANN, 40 * DAY_MS);
    cloud.auth.addToken("three", BOB, 60 * DAY_MS);
    expect(await readTokenLife(open("two"), signal)).toEqual({ endsAtMs: now() + 40 * DAY_MS });
  });

  test.each([
    [`${OWN_CLIENT}abc`, true],
    ["terraform", false],
  ])("says that a token with the client ID %j is ours: %p", async (id, isOurs) => {
    const token = cloud.auth.mint(ANN, { client: { id }, expiresIn: "10 days" });
    const life = await readTokenLife(open(token.id), signal);
    expect(life?.renewal).toEqual(isOurs ? { userId: ANN.id, clientId: id } : undefined);
  });

  test.each([403, 404])("gives nothing where it is answered with %d", async (status) => {
    cloud.auth.addToken("one", ANN);
    cloud.faults.set({ kind: "status", status }, LIST);
    expect(await readTokenLife(open("one"), signal)).toBeUndefined();
  });

  test("gives nothing for a token that is not listed, or of which no end is told", async () => {
    expect(await readTokenLife(open(cloud.token), signal)).toBeUndefined();
    const fake = new FakeXenOrchestra();
    fake.answer = ({ path }) => (path.startsWith("/users/me") ? Response.json([]) : undefined);
    const session = new Session(toSettings(fake.url), toDeps());
    expect(await readTokenLife(session, signal)).toBeUndefined();
    await fake.stop();
  });

  test.each([1e308, Infinity, -5, "soon", null])("knows no end of %p", async (expiration) => {
    using answered = answerWith([{ id: "one", expiration, user_id: ANN.id }]);
    expect(await readTokenLife(open("one"), signal)).toBeUndefined();
    expect(answered.fetch).toHaveBeenCalledTimes(1);
  });

  test("takes HTML, 5xx and a refused token for no answer, and shows no token", async () => {
    cloud.auth.addToken("canary", ANN);
    const session = open("canary");
    const faults = [
      { kind: "html", status: 200 },
      { kind: "status", status: 503 },
      { kind: "status", status: 401 },
    ] as const;
    for (const fault of faults) {
      cloud.faults.set(fault, LIST);
      const asked = readTokenLife(session, signal);
      await expect(asked).rejects.toMatchObject({ name: "CloudError" });
      await expect(asked).rejects.not.toThrow("canary");
      cloud.faults.clear();
    }
  });
});

describe("a question that is refused", () => {
  test("is no reason to leave the token alone", async () => {
    cloud.auth.addToken("one", ANN);
    cloud.faults.set({ kind: "status", status: 401 }, LIST);
    const session = open("one");
    await expect(readTokenLife(session, signal)).rejects.toMatchObject({ kind: "denied" });
    const reply = await session.get({ operation: "list_vms", path: "/vms", isList: true }, signal);
    expect(reply.status).toBe(200);
  });
});

describe("renewToken()", () => {
  const client = { id: `${OWN_CLIENT}abc` };
  const renewal = { userId: ANN.id, clientId: client.id };

  test("gives the same token 30 more days", async () => {
    const token = cloud.auth.mint(ANN, { client, expiresIn: "10 days" });
    const session = open(token.id);
    await deps.clock.advance(5 * DAY_MS);
    expect(await renewToken(session, renewal, signal)).toBe(now() + 30 * DAY_MS);
    expect(cloud.auth.tokens.get(token.id)?.expiration).toBe(now() + 30 * DAY_MS);
    expect(cloud.auth.tokens.size).toBe(2);
  });

  test("takes what the server gives when 30 days are too long for it", async () => {
    const fake = new FakeXenOrchestra();
    const expiration = deps.clock.now() + DAY_MS;
    fake.answer = ({ method, body }) => {
      if (method !== "POST") return undefined;
      if (body.includes("expiresIn")) return toResponse(loadCapture("token-too-long"));
      return Response.json({ token: { id: "t0ken", expiration } }, { status: 201 });
    };
    const session = new Session(toSettings(fake.url), toDeps());
    expect(await renewToken(session, renewal, signal)).toBe(expiration);
    await fake.stop();
  });

  test("is told apart from another token, which is not shown", async () => {
    const other = cloud.auth.addToken("canary", ANN);
    const renewed = renewToken(open(other.id), renewal, signal);
    await expect(renewed).rejects.toThrow("another token");
    await expect(renewed).rejects.not.toThrow("canary");
  });
});

/** Answers everything with this, until it is disposed of. */
function answerWith(value: unknown): Disposable & { readonly fetch: unknown } {
  const answered = spyOn(globalThis, "fetch").mockImplementation(
    Object.assign(() => Promise.resolve(Response.json(value)), { preconnect: () => {} }),
  );
  return { fetch: answered, [Symbol.dispose]: () => answered.mockRestore() };
}
