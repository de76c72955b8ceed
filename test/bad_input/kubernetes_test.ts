/**
 * Whatever the API server, or something in between, answers: what was asked for, or a reason; and never a yes, nor a
 * Lease, that nobody gave.
 * @module
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import type { KubeClient } from "../../lib/kube/api/client.ts";
import {
  createDelegatedReviewer,
  createReviewMetrics,
} from "../../lib/kube/access/delegated_review.ts";
import { createEventMetrics, createEventSender } from "../../lib/kube/events/events.ts";
import { type Lease, LEASES } from "../../lib/kube/kinds/lease.ts";
import { LeaseLock } from "../../lib/kube/election/lease_lock.ts";
import { NODES } from "../../lib/kube/kinds/node.ts";
import { reviewAccess } from "../../lib/kube/access/review.ts";
import { tries } from "../support/net/hostile.ts";
import { applyDamage, damage } from "./damage.ts";
import { checkReason, createStage, TOKEN, toStream } from "./kube_stage.ts";

const never = new AbortController().signal;
const LEASE = { namespace: "kube-system", name: "ccm" };
const NODE = { apiVersion: "v1", kind: "Node", metadata: { name: "a", resourceVersion: "1" } };

/** Each way to ask for one Node. */
const VERBS: Readonly<Record<string, (client: KubeClient) => Promise<unknown>>> = {
  read: (client) => client.read(NODES, { name: "a" }, never),
  list: (client) => client.list(NODES, {}, never),
  create: (client) => client.create(NODES, {}, NODE, never),
  replace: (client) => client.replace(NODES, { name: "a" }, NODE, never),
  patch: (client) => client.patch(NODES, { name: "a" }, { type: "merge", body: {} }, never),
  delete: (client) => client.delete(NODES, { name: "a" }, { uid: "u" }, never),
};

const text = fc.oneof(
  fc.json(),
  fc.string(),
  fc.constantFrom(
    "",
    "<html><body>Sign in</body></html>",
    `no: Bearer ${TOKEN}`,
    JSON.stringify({ kind: "Status", message: `no: ${TOKEN}` }),
    JSON.stringify({ kind: "Status", details: { retryAfterSeconds: 1e308 } }),
    JSON.stringify(NODE).slice(0, -3),
    "x".repeat(200_000),
  ),
);
const reply = fc.record({
  status: fc.constantFrom(
    200,
    201,
    202,
    206,
    300,
    302,
    400,
    401,
    403,
    404,
    409,
    410,
    422,
    429,
    500,
    503,
    599,
  ),
  type: fc.constantFrom("application/json", "text/html", "text/plain; charset=utf-16", ""),
  retryAfter: fc.constantFrom(
    undefined,
    "0",
    "-1",
    "1e9",
    "9".repeat(400),
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "soon",
  ),
  body: fc.oneof(
    { weight: 5, arbitrary: text.map((one) => new TextEncoder().encode(one)) },
    {
      weight: 1,
      arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => new Uint8Array(bytes)),
    },
  ),
});

describe("createKubeClient()", () => {
  test.each(Object.keys(VERBS))(
    "fails to %s for a named reason, whatever the answer is",
    async (verb) => {
      await fc.assert(
        fc.asyncProperty(reply, async ({ status, type, retryAfter, body }) => {
          const { client, clock } = createStage(() => {
            const headers = new Headers({ "content-type": type });
            if (retryAfter !== undefined) headers.set("retry-after", retryAfter);
            return new Response(body, { status, headers });
          });
          const errors: unknown[] = [];
          const asked = VERBS[verb]?.(client).catch((caught: unknown) => errors.push(caught));
          // Some answers ask for a pause; all of it ends by the deadline.
          for (let step = 0; step < 3 && errors.length === 0; step += 1)
            await clock.advance(30_000);
          await asked;
          checkReason(errors[0]);
        }),
        tries(60),
      );
    },
  );

  test("takes no damaged object for what was asked for, but one that is whole where it is looked at", async () => {
    await fc.assert(
      fc.asyncProperty(damage, async (one) => {
        const { value } = applyDamage(NODE, one);
        const { client } = createStage(() => Response.json(value));
        const got = await client.read(NODES, { name: "a" }, never).catch(checkReason);
        if (got instanceof Error) return;
        expect<object>(got).toMatchObject({
          apiVersion: "v1",
          kind: "Node",
          metadata: { name: "a" },
        });
      }),
      tries(100),
    );
  });

  test("reads of an endless answer a bounded part", async () => {
    const piece = new Uint8Array(1024 * 1024).fill(32);
    const pieces = Array.from({ length: 40 }, () => piece);
    const headers = { "content-type": "application/json" };
    const { client } = createStage(() => new Response(toStream(pieces), { headers }));
    const error = checkReason(await VERBS["read"]?.(client).catch((caught: unknown) => caught));
    expect(error.message).toEndWith("the answer is longer than 16Mi");
  });
});

describe("reviews", () => {
  const status = fc.oneof(
    fc.anything({ withNullPrototype: false }),
    fc.record(
      {
        allowed: fc.constantFrom<unknown>(true, false, "true", 1, null, [true], {}),
        denied: fc.constantFrom<unknown>(true, false, "false", 0, null),
        authenticated: fc.constantFrom<unknown>(true, false, "true", 1, null, {}),
        user: fc.oneof(
          fc.json(),
          fc.record(
            {
              username: fc.constantFrom<unknown>("ann", "", 5, null, ["ann"]),
              groups: fc.constantFrom<unknown>(["system:masters"], "system:masters", [1], null),
              extra: fc.constantFrom<unknown>({ a: ["b"] }, { a: "b" }, [], null),
            },
            { requiredKeys: [] },
          ),
        ),
      },
      { requiredKeys: [] },
    ),
  );

  test("let nobody in, and nothing pass, without a clear word", async () => {
    await fc.assert(
      fc.asyncProperty(status, fc.constantFrom(200, 201), async (given, code) => {
        const { client } = createStage(({ body = "{}" }) => {
          const { apiVersion, kind } = JSON.parse(body);
          const answer = JSON.stringify({ apiVersion, kind, status: given }, (_key, value) =>
            typeof value === "bigint" ? value.toString() : value,
          );
          return new Response(answer, {
            status: code,
            headers: { "content-type": "application/json" },
          });
        });
        const metrics = createReviewMetrics(new MetricsRegistry());
        const reviewer = createDelegatedReviewer(client, metrics);
        const { allowed, denied, authenticated, user } = Object(given);
        const may = await reviewer
          .authorize({ username: "ann" }, { path: "/metrics", verb: "get" }, never)
          .catch(checkReason);
        if (may === true) expect([allowed, denied ?? false]).toEqual([true, false]);
        const who = await reviewer.authenticate("token", never).catch(checkReason);
        if (who !== undefined && !(who instanceof Error)) {
          expect(authenticated).toBe(true);
          expect(who.username).toBe(user.username);
          expect(who.username).toBe("ann");
          for (const group of who.groups ?? []) expect(group).toBeString();
        }
        const [own] = await reviewAccess(
          client,
          [{ verb: "get", group: "", resource: "nodes" }],
          never,
        );
        if (own?.allowed === "yes") expect(allowed).toBe(true);
      }),
      tries(200),
    );
  });
});

describe("LeaseLock", () => {
  const odd = fc.constantFrom<unknown>(
    undefined,
    null,
    "",
    "15",
    "soon",
    -1,
    0,
    0.5,
    15,
    2_147_483_647,
    1e308,
    [],
    {},
    "x".repeat(50_000),
  );
  const record = fc.oneof(
    odd,
    fc.record({
      holderIdentity: fc.oneof(fc.constant("other"), odd),
      leaseDurationSeconds: odd,
      leaseTransitions: odd,
      acquireTime: fc.oneof(fc.constant("1999-13-99"), odd),
      renewTime: fc.oneof(fc.constant("soon"), fc.constant("9999-12-31T23:59:59.999999Z"), odd),
    }),
  );

  test("takes no Lease from a holder that may count on it, whatever is written into it", async () => {
    await fc.assert(
      fc.asyncProperty(record, async (spec) => {
        let lease: object = {
          apiVersion: LEASES.apiVersion,
          kind: "Lease",
          metadata: { name: "ccm" },
          spec,
        };
        const { client, clock } = createStage(({ method, body = "" }) => {
          if (method === "PUT") lease = JSON.parse(body);
          return Response.json(lease);
        });
        const lock = new LeaseLock({
          client,
          clock,
          lease: LEASE,
          identity: "me",
          durationMs: 15_000,
          onSlowPath: () => {},
        });
        const holder: unknown = Object(spec).holderIdentity ?? "";
        const seconds: unknown = Object(spec).leaseDurationSeconds;
        const isCounted = typeof seconds === "number" && seconds > 0 && seconds < 2 ** 31;
        const waitMs = holder === "" ? 0 : isCounted ? seconds * 1_000 : 15_000;
        if (waitMs > 0) expect(await lock.acquire(never)).toEqual({ kind: "taken" });
        if (waitMs > 1_000) {
          await clock.advance(waitMs - 1_000);
          expect(await lock.acquire(never)).toEqual({ kind: "taken" });
        }
        await clock.advance(1_000);
        expect(await lock.acquire(never)).toEqual({ kind: "held" });
        const written: unknown = (lease as Lease).spec;
        expect(written).toMatchObject({
          holderIdentity: "me",
          leaseDurationSeconds: 15,
          leaseTransitions: expect.any(Number),
        });
      }),
      tries(100),
    );
  });

  test("never holds what a proxy says yes to", async () => {
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.constantFrom("application/json", "text/html", ""),
        async (body, type) => {
          const { client, clock } = createStage(
            () => new Response(body, { headers: { "content-type": type } }),
          );
          const options = { client, clock, lease: LEASE, identity: "me", durationMs: 15_000 };
          const lock = new LeaseLock({ ...options, onSlowPath: () => {} });
          for (let times = 0; times < 3; times += 1) {
            const attempt = await lock.acquire(never);
            expect(attempt.kind).toBe("failed");
            if (attempt.kind === "failed") checkReason(attempt.error);
            await clock.advance(20_000);
          }
        },
      ),
      tries(60),
    );
  });
});

test("createEventSender() gives up Events that are answered with rubbish, and goes on", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(reply, { maxLength: 4 }), async (replies) => {
      const left = [...replies];
      let arrived = 0;
      const { client, clock } = createStage(({ body = "" }) => {
        const next = left.shift();
        if (next !== undefined) {
          return new Response(next.body, {
            status: next.status,
            headers: { "content-type": next.type },
          });
        }
        arrived += 1;
        return Response.json(JSON.parse(body), { status: 201 });
      });
      const lines: string[] = [];
      const log = createLogger({ format: "json", write: (line) => lines.push(line), now: () => 0 });
      const metrics = createEventMetrics(new MetricsRegistry());
      const sender = createEventSender({ client, clock, log, metrics, random: () => 0 });
      const stop = new AbortController();
      const running = sender.run(stop.signal);
      const recorder = sender.speakAs("test");
      for (let at = 0; at <= replies.length; at += 1) {
        recorder.record(NODE, { type: "Normal", reason: `Reason${at}`, message: "m" });
      }
      for (let minute = 0; minute < 10; minute += 1) await clock.advance(60_000);
      expect(arrived).toBeGreaterThan(0);
      expect(lines.join("")).not.toContain(TOKEN);
      for (const line of lines) expect(line.length).toBeLessThan(4_000);
      stop.abort(new Error("over"));
      await clock.advance(5_000);
      await running;
    }),
    tries(30),
  );
});

test("a watch that is answered with one line without end is left", async () => {
  const piece = new Uint8Array(1024 * 1024).fill(120);
  const { client } = createStage(
    () => new Response(toStream(Array.from({ length: 40 }, () => piece))),
  );
  const watching = (async () => {
    for await (const { type } of client.watch(
      NODES,
      { resourceVersion: "1", timeoutSeconds: 300 },
      never,
    )) {
      throw new Error(`an event ${type} of nothing`);
    }
  })();
  const error = checkReason(await watching.catch((caught: unknown) => caught));
  expect(error.message).toContain("a line has more than 16 Mi characters");
});
