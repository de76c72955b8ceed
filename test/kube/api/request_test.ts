/**
 * When a request is tried again, and when not.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { ALONE, Fence, type Leadership } from "../../../lib/core/fence.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { Credential, Credentials } from "../../../lib/kube/credentials/credentials.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { type Node, NODES } from "../../../lib/kube/kinds/node.ts";
import { createMemoryClient } from "../../support/kube/memory_client.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const never = new AbortController().signal;
const PATH = { name: "a" };
const WHAT = '"/api/v1/nodes/a"';

/** One answer of the pretended server. */
type Answer = Response | Error;

interface Bench {
  clock: ManualClock;
  metrics: MetricsRegistry;
  /** Tokens that were sent, one a try. */
  sent: string[];
  /** Can be repeated. */
  read(signal?: AbortSignal): Promise<Node>;
  /** Cannot be repeated. */
  write(leadership?: Leadership): Promise<Node>;
}

function createBench(...answers: (Answer | (() => Answer))[]): Bench {
  return createRotatedBench(1, ...answers);
}

/** @param version That of the credentials once the first ones were refused */
function createRotatedBench(version: number, ...answers: (Answer | (() => Answer))[]): Bench {
  const clock = new ManualClock();
  const metrics = new MetricsRegistry();
  const sent: string[] = [];
  let current: Credential = { headers: { authorization: "Bearer geheim-1" }, tls: {}, version: 1 };
  const credentials: Credentials = {
    server: "https://a",
    current: () => Promise.resolve(current),
    invalidate: (used) => {
      if (used === current)
        current = { headers: { authorization: "Bearer geheim-2" }, tls: {}, version };
    },
  };
  const client = createMemoryClient(
    (_request, credential) => {
      sent.push(String(credential.headers["authorization"]));
      const next = answers.length > 1 ? answers.shift() : answers[0];
      const answer = typeof next === "function" ? next() : next;
      return answer instanceof Error || answer === undefined
        ? Promise.reject(answer)
        : Promise.resolve(answer.clone() as Response);
    },
    { clock, metrics, credentials },
  );
  return {
    clock,
    metrics,
    sent,
    read: (signal = never) => client.read(NODES, PATH, signal),
    write: (leadership = ALONE) =>
      client.fencedBy(new Fence(leadership)).patch(NODES, PATH, { type: "merge", body: {} }, never),
  };
}

function refuse(code: number, retryAfter?: string): Response {
  const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  return new Response("", { status: code, headers });
}

function failWith(code: string): KubeError {
  return new KubeError("unavailable", "broke", { cause: Object.assign(new Error(code), { code }) });
}

const NODE = { apiVersion: "v1", kind: "Node", metadata: { name: "a" } };
const OK = Response.json(NODE);

describe("a request", () => {
  test.each([429, 500, 503])(
    "waits as Retry-After says after %i, whatever the verb",
    async (code) => {
      const { write, clock, sent } = createBench(refuse(code, "2"), OK);
      const sending = write();
      await clock.advance(1999);
      expect(sent).toHaveLength(1);
      await clock.advance(1);
      expect(await sending).toEqual(NODE);
      expect(sent).toHaveLength(2);
    },
  );

  test.each([
    [refuse(429), "throttled"],
    [refuse(503), "unavailable"],
    [refuse(404, "1"), "unavailable"],
  ])(
    "does not wait unless both the code and Retry-After ask for it, case %#",
    async (answer, kind) => {
      const { read, sent } = createBench(answer);
      await expect(read()).rejects.toMatchObject({ kind });
      expect(sent).toHaveLength(1);
    },
  );

  test("shows no secret that a server repeats, and no more of a page than a line", async () => {
    const page = `<p>cookie, authorization: Bearer geheim-1</p>${"x".repeat(1_000_000)}`;
    const { read } = createBench(new Response(page, { status: 502 }));
    const error = await read().catch((caught: unknown) => caught);
    expect(String(error)).toContain("502: the answer is not from Kubernetes: cookie");
    expect(String(error)).toContain("Bearer (secret)");
    expect(String(error).length).toBeLessThan(400);
  });

  test("gives up after ten tries and says how long the server wants to be left alone", async () => {
    const { read, clock, sent } = createBench(() => refuse(429, "1"));
    const sending = read().catch((error: unknown) => error);
    await clock.advance(20_000);
    expect(await sending).toMatchObject({ kind: "throttled", retryAfterMs: 1000 });
    expect(sent).toHaveLength(10);
  });

  test("does not begin a pause that its deadline would cut short", async () => {
    const { read, sent, clock } = createBench(refuse(503, "30"));
    await expect(read()).rejects.toMatchObject({ kind: "unavailable", retryAfterMs: 30_000 });
    expect([sent.length, clock.pending]).toEqual([1, 0]);
  });

  test.each([
    ["a pause", refuse(429, "1")],
    ["fresh credentials", refuse(401)],
    ["a certificate that was refused", failWith("SELF_SIGNED_CERT_IN_CHAIN")],
  ])("asks again whether it may send after %s", async (_what, answer) => {
    const { write, clock, sent } = createRotatedBench(2, answer, OK);
    // When the call begins, and before the first try.
    let held = 2;
    const isHeld = (): boolean => (held -= 1) >= 0;
    const sending = write({ signal: never, isHeld }).catch((error: unknown) => error);
    await clock.advance(1_000);
    expect(await sending).toMatchObject({ name: "LeadershipLostError" });
    expect(sent).toHaveLength(1);
  });

  test("ends a pause with the reason of the signal", async () => {
    const { read, clock } = createBench(refuse(503, "5"));
    const stop = new AbortController();
    const sending = read(stop.signal);
    await clock.advance(0);
    stop.abort(new Error("stop"));
    await expect(sending).rejects.toThrow("stop");
    expect(clock.pending).toBe(0);
  });

  test("takes fresh credentials after a 401, once", async () => {
    const { write, sent } = createBench(refuse(401), OK);
    expect(await write()).toEqual(NODE);
    expect(sent).toEqual(["Bearer geheim-1", "Bearer geheim-2"]);
    const denied = createBench(refuse(401));
    await expect(denied.read()).rejects.toMatchObject({ kind: "unauthorized" });
    expect(denied.sent).toEqual(["Bearer geheim-1", "Bearer geheim-2"]);
  });

  test("sends anything again over a new connection after a certificate was refused, once", async () => {
    const refused = failWith("SELF_SIGNED_CERT_IN_CHAIN");
    const { write, sent } = createRotatedBench(2, refused, OK);
    expect(await write()).toEqual(NODE);
    expect(sent).toEqual(["Bearer geheim-1", "Bearer geheim-2"]);
    const distrusted = createRotatedBench(2, refused);
    await expect(distrusted.read()).rejects.toThrow(`Cannot read ${WHAT}: broke`);
    expect(distrusted.sent).toEqual(["Bearer geheim-1", "Bearer geheim-2"]);
  });

  test("sends nothing again after a certificate was refused while there is no other to show", async () => {
    const { read, sent } = createBench(failWith("SELF_SIGNED_CERT_IN_CHAIN"), OK);
    await expect(read()).rejects.toMatchObject({ kind: "unavailable" });
    await read();
    expect(sent).toEqual(["Bearer geheim-1", "Bearer geheim-2"]);
  });

  test("repeats a repeatable request once when its connection breaks", async () => {
    const once = createBench(failWith("ECONNRESET"), OK);
    expect(await once.read()).toEqual(NODE);
    const always = createBench(failWith("ECONNRESET"));
    await expect(always.read()).rejects.toThrow(`Cannot read ${WHAT}: broke`);
    expect(always.sent).toHaveLength(2);
  });

  test("repeats a repeatable request whose body breaks off", async () => {
    const body = new ReadableStream({
      start: (controller) =>
        controller.error(Object.assign(new Error("x"), { code: "ECONNRESET" })),
    });
    const { read, sent } = createBench(() => new Response(body), OK);
    expect(await read()).toEqual(NODE);
    expect(sent).toHaveLength(2);
  });

  test.each([
    ["another request whose connection breaks", "ECONNRESET", "write"],
    ["a request that could not connect", "ECONNREFUSED", "read"],
  ] as const)("never repeats %s", async (_title, code, verb) => {
    const { sent, ...bench } = createBench(failWith(code), OK);
    await expect(bench[verb]()).rejects.toMatchObject({ kind: "unavailable" });
    expect(sent).toHaveLength(1);
  });

  test("counts every try by code, method and host", async () => {
    const { read, metrics } = createBench(refuse(401), failWith("ECONNRESET"), OK);
    await read();
    const text = metrics.render();
    for (const code of ["401", "<error>", "200"]) {
      expect(text).toContain(
        `rest_client_requests_total{code="${code}",host="memory",method="GET"} 1\n`,
      );
    }
    expect(text).toContain(
      'rest_client_request_duration_seconds_count{host="memory",verb="GET"} 3\n',
    );
  });
});
