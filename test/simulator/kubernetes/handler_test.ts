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
const MERGE_PATCH = "application/merge-patch+json";

/** A server with a node `n`. */
function makeContext(clock: ManualClock = new ManualClock()): HandlerContext {
  const registry = new Registry(clock, 100);
  const faults = new Faults();
  const watches = new Watches({ clock, registry, faults });
  registry.create(NODES, { metadata: { name: "n", labels: { a: "b" } } });
  return { clock, registry, watches, faults, requests: new RequestLog() };
}

interface Asked {
  readonly body?: JsonObject;
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
