import { describe, expect, test } from "bun:test";
import { Faults } from "../../../lib/simulator/kubernetes/faults.ts";
import { handle, type HandlerContext } from "../../../lib/simulator/kubernetes/handler.ts";
import type { JsonObject } from "../../../lib/simulator/kubernetes/patches/json.ts";
import { Registry } from "../../../lib/simulator/kubernetes/registry.ts";
import { RequestLog } from "../../../lib/simulator/kubernetes/requests/log.ts";
import { Watches } from "../../../lib/simulator/kubernetes/watches.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { kindOf } from "../../support/kube/kinds/simulator_kinds.ts";

const NODES = { kind: kindOf("nodes"), namespace: "", name: "", subresource: "" };
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC_PATCH = "application/strategic-merge-patch+json";

/** A server with a node `n`. */
function makeContext(clock: ManualClock = new ManualClock()): HandlerContext {
  const registry = new Registry(clock, 100);
  const faults = new Faults();
  const watches = new Watches({ clock, registry, faults });
  registry.create(NODES, { metadata: { name: "n", labels: { a: "b" } } });
  return { clock, registry, watches, faults, requests: new RequestLog() };
}

interface Asked {
  readonly body?: JsonObject | readonly JsonObject[];
  readonly type?: string;
  readonly signal?: AbortSignal;
}

function ask(context: HandlerContext, line: string, asked: Asked = {}): Promise<Response> {
  const [method = "", path = ""] = line.split(" ");
  const { body, type = "application/json", signal } = asked;
  const headers = body === undefined ? {} : { "content-type": type };
  const request = new Request(`http://127.0.0.1${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  return handle(context, request);
}

describe("handle()", () => {
  test.each<[string, Asked, number, JsonObject]>([
    ["GET /version", {}, 200, { major: "1" }],
    ["GET /api/v1/nodes/n", {}, 200, { kind: "Node", metadata: { name: "n" } }],
    ["GET /api/v1/nodes", {}, 200, { kind: "NodeList", items: [{ metadata: { name: "n" } }] }],
    ["POST /api/v1/nodes", { body: { metadata: { name: "m" } } }, 201, { kind: "Node" }],
    ["PUT /api/v1/nodes/n", { body: { metadata: { name: "n" } } }, 200, { kind: "Node" }],
    [`PUT ${LEASES}/l`, { body: { metadata: { name: "l" } } }, 201, { kind: "Lease" }],
    [
      "DELETE /api/v1/nodes/n",
      {},
      200,
      { kind: "Status", status: "Success", details: { name: "n", kind: "nodes" } },
    ],
  ])("answers %s with %j by %p", async (line, asked, status, expected) => {
    const response = await ask(makeContext(), line, asked);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject(expected);
  });

  test.each<[string, Asked, number, string]>([
    ["GET /metrics", {}, 404, "NotFound"],
    ["GET /api/v1/nodes/%zz", {}, 404, "NotFound"],
    ["GET /api/v1/nodes/m", {}, 404, "NotFound"],
    ["GET /api/v1/nodes/n/scale", {}, 404, "NotFound"],
    ["POST /api/v1/nodes/n", { body: {} }, 404, "NotFound"],
    ["POST /api/v1/events", { body: {} }, 404, "NotFound"],
    ["POST /api/v1/nodes", { body: { metadata: { name: "n" } } }, 409, "AlreadyExists"],
    ["POST /api/v1/nodes", { body: [] }, 400, "BadRequest"],
    ["POST /api/v1/nodes", { body: {}, type: "text/plain" }, 415, "UnsupportedMediaType"],
    ["PUT /api/v1/nodes/n", { body: { metadata: { name: "m" } } }, 400, "BadRequest"],
    ["PUT /api/v1/nodes/m", { body: { metadata: { name: "m" } } }, 404, "NotFound"],
    ["PUT /api/v1/nodes/n", { body: { metadata: { name: "n", uid: "x" } } }, 409, "Conflict"],
    ["PATCH /api/v1/nodes/n", { body: {} }, 415, "UnsupportedMediaType"],
    [
      "PATCH /api/v1/nodes/n",
      { body: { metadata: { uid: "x" } }, type: MERGE_PATCH },
      422,
      "Invalid",
    ],
    ["DELETE /api/v1/nodes/n", { body: { preconditions: { uid: "x" } } }, 409, "Conflict"],
    [
      "DELETE /api/v1/nodes/n",
      { body: { preconditions: { resourceVersion: "1" } } },
      409,
      "Conflict",
    ],
    ["DELETE /api/v1/nodes", {}, 405, "MethodNotAllowed"],
  ])("refuses %s with %j by %p %s", async (line, asked, code, reason) => {
    const response = await ask(makeContext(), line, asked);
    expect(response.status).toBe(code);
    expect(await response.json()).toMatchObject({ kind: "Status", code, reason });
  });

  test.each([
    [JSON_PATCH, [{ op: "replace", path: "/metadata/labels/a", value: "c" }], { a: "c" }],
    [JSON_PATCH, [{ op: "test", path: "/kind", value: "Node" }], { a: "b" }],
    [MERGE_PATCH, { metadata: { labels: { a: null, d: "e" } } }, { d: "e" }],
    [STRATEGIC_PATCH, { metadata: { labels: { $patch: "replace", d: "e" } } }, { d: "e" }],
  ])("applies a body of %s as such: %j", async (type, body, labels) => {
    const context = makeContext();
    const response = await ask(context, "PATCH /api/v1/nodes/n", { body, type });
    expect(response.status).toBe(200);
    const { object } = context.registry.read({ ...NODES, name: "n" });
    expect(object.metadata["labels"]).toEqual(labels);
  });

  test.each([
    [MERGE_PATCH, ["c/d"]],
    [STRATEGIC_PATCH, ["a/b", "c/d"]],
  ])("leaves of a list, after a patch of %s, %j", async (type, expected) => {
    const context = makeContext();
    context.registry.create(NODES, { metadata: { name: "held", finalizers: ["a/b"] } });
    const body = { metadata: { finalizers: ["c/d"] } };
    await ask(context, "PATCH /api/v1/nodes/held", { body, type });
    const { metadata } = context.registry.read({ ...NODES, name: "held" }).object;
    expect(new Set([metadata["finalizers"]].flat())).toEqual(new Set(expected));
  });

  test("has no status for a kind without one", async () => {
    const context = makeContext();
    await ask(context, `PUT ${LEASES}/l`, { body: { metadata: { name: "l" } } });
    expect((await ask(context, `GET ${LEASES}/l`)).status).toBe(200);
    expect((await ask(context, `GET ${LEASES}/l/status`)).status).toBe(404);
  });

  test("wants a version in a PUT of a lease that is there", async () => {
    const context = makeContext();
    const body = { metadata: { name: "l" } };
    await ask(context, `PUT ${LEASES}/l`, { body });
    const response = await ask(context, `PUT ${LEASES}/l`, { body });
    expect(response.status).toBe(422);
    expect(await response.text()).toContain("metadata.resourceVersion");
  });

  test("shows the object when its finalizers hold a delete up", async () => {
    const context = makeContext();
    context.registry.create(NODES, { metadata: { name: "held", finalizers: ["a/b"] } });
    const response = await ask(context, "DELETE /api/v1/nodes/held");
    expect(await response.json()).toMatchObject({ kind: "Node", metadata: { name: "held" } });
    expect(context.registry.has({ ...NODES, name: "held" })).toBe(true);
  });

  test.each(["Warn", "Strict"])("has nothing to say with %s of known fields", async (value) => {
    const body = { metadata: { name: "m" } };
    const line = `POST /api/v1/nodes?fieldValidation=${value}`;
    const response = await ask(makeContext(), line, { body });
    expect([response.status, response.headers.get("warning")]).toEqual([201, null]);
  });

  test("warns of each unknown field when asked to", async () => {
    const body = { metadata: { name: "m" }, foo: 1, bar: 2 };
    const response = await ask(makeContext(), "POST /api/v1/nodes?fieldValidation=Warn", { body });
    expect(response.headers.get("warning")).toBe(
      String.raw`299 - "unknown field \"foo\"", 299 - "unknown field \"bar\""`,
    );
  });

  test.each([
    [{ status: 503 }, { code: 503, reason: "ServiceUnavailable" }, null],
    [{ status: 418 }, { code: 418 }, null],
    [
      { status: 429, reason: "Own", message: "own text", retryAfterSeconds: 2 },
      { code: 429, reason: "Own", message: "own text", details: { retryAfterSeconds: 2 } },
      "2",
    ],
  ])("refuses by a rule %j with %j", async (rule, expected, retryAfter) => {
    const context = makeContext();
    context.faults.refuse({ ...rule, resource: "nodes", verb: "get" });
    const response = await ask(context, "GET /api/v1/nodes/n");
    expect(response.status).toBe(rule.status);
    expect(response.headers.get("retry-after")).toBe(retryAfter);
    expect(await response.json()).toMatchObject(expected);
    expect((await ask(context, "GET /api/v1/nodes")).status).toBe(200);
  });

  test("answers only after the delay", async () => {
    const clock = new ManualClock();
    const context = makeContext(clock);
    context.faults.delayMs = 50;
    let isAnswered = false;
    const answering = ask(context, "GET /api/v1/nodes/n").finally(() => {
      isAnswered = true;
    });
    await clock.advance(49);
    expect(isAnswered).toBe(false);
    await clock.advance(1);
    expect((await answering).status).toBe(200);
  });

  test("watches Tables whose ages are those of the moment that a row is sent", async () => {
    const clock = new ManualClock();
    const context = makeContext(clock);
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const url = "http://127.0.0.1/api/v1/nodes?watch=1&resourceVersion=0";
    const { body } = await handle(context, new Request(url, { headers: { accept } }));
    await clock.advance(20_000);
    const patch = { metadata: { labels: { a: "c" } } };
    await ask(context, "PATCH /api/v1/nodes/n", { body: patch, type: MERGE_PATCH });
    context.watches.drop();
    const lines = (await new Response(body).text()).trim().split("\n");
    const ages = lines.map((line) => JSON.parse(line).object.rows[0].cells[3]);
    expect(ages).toEqual(["0s", "20s"]);
  });

  test("ends a delayed request whose client has gone", async () => {
    const context = makeContext();
    context.faults.delayMs = 50;
    const client = new AbortController();
    const answering = ask(context, "GET /api/v1/nodes/n", { signal: client.signal });
    client.abort();
    expect((await answering).status).toBe(499);
  });

  test("notes what was asked, refused or not", async () => {
    const context = makeContext();
    await ask(context, "PATCH /api/v1/nodes/m/status?dryRun=All", { body: {}, type: MERGE_PATCH });
    await ask(context, "GET /version");
    expect(context.requests.entries).toMatchObject([
      {
        method: "PATCH",
        path: "/api/v1/nodes/m/status",
        query: "?dryRun=All",
        verb: "patch",
        resource: "nodes/status",
        name: "m",
        contentType: MERGE_PATCH,
      },
      { path: "/version", verb: "get", resource: "", name: "", contentType: "" },
    ]);
  });
});
