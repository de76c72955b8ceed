/**
 * Whatever the API server, or something in between, answers: what was asked for, or a reason; and never a Lease that
 * nobody gave.
 * @module
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { KubeClient } from "../../lib/kube/api/client.ts";
import { type Lease, LEASES } from "../../lib/kube/kinds/lease.ts";
import { LeaseLock } from "../../lib/kube/election/lease.ts";
import { NODES } from "../../lib/kube/kinds/node.ts";
import { tries } from "../support/extent.ts";
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
  expect(error.message).toContain("a line is longer than 16 MiB");
});
