/**
 * The end of a token: a metric, a warning once a day, and renewal of what is ours.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createLogger } from "../../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../../lib/core/metrics.ts";
import { Session } from "../../../../lib/providers/xenorchestra/session/session.ts";
import {
  describeTokenEnd,
  TokenWatch,
} from "../../../../lib/providers/xenorchestra/session/token_watch.ts";
import {
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../../lib/simulator/xenorchestra/mod.ts";
import { toDeps, toSettings } from "../fake_server.ts";

const signal = new AbortController().signal;
const DAY_MS = 86_400_000;
const CANARY = "canary-of-a-token";
const ANN = { id: "u-1", username: "ann", password: "canary" };
const LIST = { route: "GET /users/{id}/authentication_tokens" };
const METRIC = "landfall_xenorchestra_token_expiry_timestamp_seconds";
const KIND = { kind: "token" } as const;

let deps: ReturnType<typeof toDeps>;
let cloud: XenOrchestraSimulator;
let session: Session;
let watch: TokenWatch;
let notices: string[];
let lines: string[];

beforeEach(async () => {
  notices = [];
  lines = [];
  const write = (line: string): number => lines.push(line);
  deps = toDeps({ log: createLogger({ format: "json", level: "debug", now: () => 0, write }) });
  cloud = await startXenOrchestraSimulator({ clock: deps.clock, users: [ANN] });
  session = new Session(toSettings(cloud.url, { token: CANARY }), deps);
  watch = new TokenWatch({ ...deps, session, notify: ({ message }) => notices.push(message) });
  await deps.clock.advance(10_000);
});
afterEach(async () => {
  await cloud.stop();
  expect([...lines, ...notices, deps.metrics.render()].join("")).not.toContain("canary");
});

function asked(): number {
  return cloud.requests.count(LIST.route);
}

function readMetric(): string | undefined {
  const found = deps.metrics.render().match(new RegExp(`^${METRIC} (.*)$`, "m"));
  return found?.[1];
}

describe("TokenWatch", () => {
  test("does not look while the process starts", async () => {
    const late = new MetricsRegistry();
    const early = new TokenWatch({ ...deps, session, metrics: late });
    await deps.clock.advance(9_999);
    await early.look(KIND, signal);
    expect(asked()).toBe(0);
  });

  test("shows when the token ends, and asks once a day for it", async () => {
    const { expiration } = cloud.auth.addToken(CANARY, ANN, 30 * DAY_MS);
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
    expect(notices).toEqual([`${about}, in 13 days; ${advice}`, `${about}, in 12 days; ${advice}`]);
    const warnings = lines.filter((line) => line.includes("expire soon"));
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain("2026-01-16T00:00:10.000Z");
  });

  test("looks at once when the token is another", async () => {
    cloud.auth.addToken(CANARY, ANN, 10 * DAY_MS);
    cloud.auth.addToken("canary-2", ANN, 20 * DAY_MS);
    await watch.look(KIND, signal);
    session.reconfigure(toSettings(cloud.url, { token: "canary-2" }));
    await watch.look(KIND, signal);
    expect(readMetric()).toBe(String((deps.clock.now() + 20 * DAY_MS) / 1_000));
    expect(notices).toHaveLength(1);
  });

  test("renews a token of ours before there is anything to warn of", async () => {
    const client = { id: "landfall-by-hand" };
    const token = cloud.auth.mint(ANN, { client, expiresIn: "17 days" });
    session.reconfigure(toSettings(cloud.url, { token: token.id }));
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
    session.reconfigure(toSettings(cloud.url, { token: token.id }));
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

  test("keeps what it knows while there is no answer, and asks again after an hour", async () => {
    cloud.auth.addToken(CANARY, ANN, 30 * DAY_MS);
    await watch.look(KIND, signal);
    const known = readMetric();
    await deps.clock.advance(DAY_MS);
    cloud.faults.set({ kind: "status", status: 503 }, LIST);
    await watch.look(KIND, signal);
    expect(readMetric()).toBe(known ?? "none");
    cloud.faults.clear();
    const before = asked();
    await deps.clock.advance(3_599_999);
    await watch.look(KIND, signal);
    expect(asked()).toBe(before);
    await deps.clock.advance(1);
    await watch.look(KIND, signal);
    expect(asked()).toBeGreaterThan(before);
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
