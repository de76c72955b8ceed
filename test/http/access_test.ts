import { describe, expect, test } from "bun:test";
import { createLogger } from "../../lib/core/log.ts";
import { guardAccess, type Reviewer } from "../../lib/http/access.ts";
import type { Handler } from "../../lib/http/sockets/server.ts";
import { ManualClock } from "../support/manual_clock.ts";

const TOKENS: Readonly<Record<string, string>> = { "t-reader": "reader", "t-other": "other" };
const DEFAULT_OPEN = ["/healthz", "/readyz", "/livez"] as const;

class Rig {
  readonly clock: ManualClock = new ManualClock();
  readonly asked: string[] = [];
  readonly lines: string[] = [];
  failure: Error | undefined;
  readonly #guard: Handler;

  constructor(alwaysAllowPaths: readonly string[] = DEFAULT_OPEN) {
    const reviewer: Reviewer<{ readonly name: string }> = {
      authenticate: (token) => {
        this.asked.push(`who is ${token}`);
        if (this.failure) return Promise.reject(this.failure);
        const name = TOKENS[token];
        return Promise.resolve(name === undefined ? undefined : { name });
      },
      authorize: ({ name }, { verb, path }) => {
        this.asked.push(`may ${name} ${verb} ${path}`);
        if (this.failure) return Promise.reject(this.failure);
        return Promise.resolve(name === "reader");
      },
    };
    const write = (line: string): void => {
      this.lines.push(line);
    };
    const log = createLogger({ format: "text", write, now: () => 0 });
    const signal = new AbortController().signal;
    const options = { reviewer, alwaysAllowPaths, clock: this.clock, log, signal };
    this.#guard = guardAccess({ fetch: () => new Response("page") }, options);
  }

  async get(path: string, authorization?: string, method = "GET"): Promise<Response> {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    return await this.#guard.fetch(new Request(`http://h${path}`, { method, headers }));
  }

  async status(path: string, authorization?: string): Promise<number> {
    return (await this.get(path, authorization)).status;
  }
}

describe("guardAccess()", () => {
  test.each<[title: string, authorization: string | undefined, status: number]>([
    ["no token", undefined, 401],
    ["another scheme", "Basic dDpyZWFkZXI=", 401],
    ["no token after the scheme", "Bearer ", 401],
    ["two tokens", "Bearer t-reader t-other", 401],
    ["two tokens with a comma", "Bearer t-reader, Bearer t-other", 401],
    ["a token that is not accepted", "Bearer nobody", 401],
    ["a token that may not", "Bearer t-other", 403],
    ["a token that may", "Bearer t-reader", 200],
    ["a scheme in lower case", "bearer t-reader", 200],
  ])("guardAccess() with %s gives the status of %p", async (_title, authorization, status) => {
    expect(await new Rig().status("/metrics", authorization)).toBe(status);
  });

  test.each([
    ["without a token", undefined, "give a token as Authorization: Bearer"],
    ["in a form that is none", "Bearer a b", "give a token as Authorization: Bearer"],
    ["that the cluster refuses", "Bearer nobody", "the API server does not accept this token"],
  ])("guardAccess() says what is wrong with a request %s", async (_title, authorization, why) => {
    const reply = await new Rig().get("/metrics", authorization);
    expect(await reply.text()).toBe(`unauthorized: ${why}\n`);
    expect(reply.headers.get("www-authenticate")).toBe('Bearer realm="landfall"');
  });

  test.each<[path: string, status: number]>([
    ["/healthz", 200],
    ["/healthz?verbose", 200],
    ["/livez/ping", 200],
    ["/readyz/nodes-synced", 200],
    ["/readyzz", 401],
    ["/", 401],
    ["/metrics", 401],
    ["/configz", 401],
    ["/debug/", 401],
    ["/debug/nodes", 401],
    ["/healthz/../metrics", 401],
    ["/healthz/%2e%2e/metrics", 401],
    ["//healthz", 401],
    ["/healthz%", 400],
    ["/healthz%2f..%2fmetrics", 400],
    ["/healthz/%252e%252e/metrics", 400],
    ["/debug%2Fnodes", 400],
  ])("guardAccess() without a token gives %s the status %d", async (path, status) => {
    const rig = new Rig();
    expect(await rig.status(path)).toBe(status);
    expect(rig.asked).toEqual([]);
  });

  test.each<[open: readonly string[], path: string, status: number]>([
    [["/metrics"], "/metrics", 200],
    [["/metrics"], "/metrics/slis", 401],
    [["/metrics"], "/healthz", 401],
    [["/debug/*"], "/debug/nodes", 200],
    [["/debug/*"], "/debug", 401],
    [["/debug/*"], "/debugging", 401],
    [["/*"], "/configz", 200],
    [[], "/healthz", 401],
  ])("guardAccess() with %j open gives %s the status %d", async (open, path, status) => {
    expect(await new Rig(open).status(path)).toBe(status);
  });

  test("guardAccess() asks about the path as routes read it, HEAD as GET, without the query", async () => {
    const rig = new Rig();
    await rig.get("/%6detrics?a=b", "Bearer t-reader", "HEAD");
    expect(rig.asked).toEqual(["who is t-reader", "may reader get /metrics"]);
  });

  test("guardAccess() remembers both answers for ten seconds, each path by itself", async () => {
    const rig = new Rig();
    for (const path of ["/metrics", "/metrics", "/configz"]) await rig.get(path, "Bearer t-reader");
    const asked = ["who is t-reader", "may reader get /metrics", "may reader get /configz"];
    expect(rig.asked).toEqual(asked);
    await rig.clock.advance(10_000);
    await rig.get("/metrics", "Bearer t-reader");
    expect(rig.asked).toEqual([...asked, ...asked.slice(0, 2)]);
  });

  test("guardAccess() takes no token for another that begins or ends like it", async () => {
    const rig = new Rig();
    expect(await rig.status("/metrics", "Bearer t-reader")).toBe(200);
    for (const token of ["t-reader2", "t-reade", "-reader", "T-READER"])
      expect(await rig.status("/metrics", `Bearer ${token}`)).toBe(401);
  });

  test("guardAccess() gives 503 while nobody can tell, says so once, and goes on when it can be told", async () => {
    const rig = new Rig();
    rig.failure = new Error("the API server is away");
    expect(await rig.status("/metrics", "Bearer t-reader")).toBe(503);
    expect(await rig.status("/metrics", "Bearer t-reader")).toBe(503);
    expect(await rig.status("/healthz")).toBe(200);
    rig.failure = undefined;
    expect(await rig.status("/metrics", "Bearer t-reader")).toBe(200);
    rig.failure = new Error("the API server is away");
    // What is remembered holds without it, for its time.
    expect(await rig.status("/metrics", "Bearer t-reader")).toBe(200);
    await rig.clock.advance(10_000);
    expect(await rig.status("/metrics", "Bearer t-reader")).toBe(503);
    const told = rig.lines.map((line) => line.replace(/^\S+ (\w+) .*$/s, "$1"));
    expect(told).toEqual(["WARN", "INFO", "WARN"]);
  });

  test("guardAccess() gives 429 to unknown tokens after a flood of wrong ones, and 200 to a known one", async () => {
    const rig = new Rig();
    expect(await rig.status("/metrics", "Bearer t-reader")).toBe(200);
    const statuses = new Set<number>();
    for (let at = 0; at < 200; at += 1)
      statuses.add(await rig.status("/metrics", `Bearer x-${at}`));
    expect([...statuses]).toEqual([401, 429]);
    expect(rig.asked.length).toBeLessThan(30);
    await rig.clock.advance(10_000);
    for (let at = 0; at < 200; at += 1) await rig.status("/metrics", `Bearer y-${at}`);
    expect(await rig.status("/metrics", "Bearer t-reader")).toBe(200);
  });

  test("guardAccess() tells nothing of tokens, neither in answers nor in the log", async () => {
    const rig = new Rig();
    rig.failure = new Error("away");
    const texts = [await (await rig.get("/metrics", "Bearer t-secret")).text()];
    rig.failure = undefined;
    texts.push(await (await rig.get("/metrics", "Bearer t-secret")).text(), ...rig.lines);
    expect(texts.join("")).not.toContain("t-secret");
    const refusal = await rig.get("/metrics");
    expect(refusal.headers.get("www-authenticate")).toStartWith("Bearer");
  });
});
