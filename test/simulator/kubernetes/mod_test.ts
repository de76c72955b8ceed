import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../../lib/core/clock.ts";
import { TESTED_WITH } from "../../../lib/kube/api/version.ts";
import { startKubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";
import type { KubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";
import { ContractClient, type WireEvent } from "../../support/kube/contract/client.ts";

const NODES = "/api/v1/nodes";

describe("startKubernetesSimulator()", () => {
  let simulator: KubernetesSimulator;
  let client: ContractClient;

  beforeEach(() => {
    simulator = startKubernetesSimulator({ clock: systemClock });
    client = new ContractClient({
      baseUrl: simulator.url,
      fetch: (path, init) => fetch(`${simulator.url}${path}`, init),
      compact: async () => simulator.compact(),
      stop: () => simulator.stop(),
    });
  });
  afterEach(() => simulator.stop());

  const version = async (): Promise<string> =>
    (await client.get(NODES)).body.metadata.resourceVersion;
  const watchAll = async (more: string = ""): Promise<readonly WireEvent[]> =>
    client.watch(`${NODES}?watch=1&resourceVersion=${await version()}${more}`, () => false);
  const whenOpen = async (): Promise<void> => {
    while (simulator.openWatches === 0) await Bun.sleep(1);
  };

  test("is of the newest version that the tests run on", async () => {
    const response = await fetch(`${simulator.url}/version`);
    expect(await response.json()).toMatchObject({ gitVersion: `v${TESTED_WITH.newest}-simulated` });
  });

  test.each([
    [{ status: 429, retryAfterSeconds: 7 }, "TooManyRequests", "7"],
    [{ status: 503 }, "ServiceUnavailable", null],
    [{ status: 403, verb: "list", resource: "nodes" }, "Forbidden", null],
  ])("refuses with %p", async (rule, reason, retryAfter) => {
    const end = simulator.faults.refuse(rule);
    const answer = await client.get(NODES);
    expect([answer.status, answer.body.reason]).toEqual([rule.status, reason]);
    expect(answer.headers.get("retry-after")).toBe(retryAfter);
    end();
    expect((await client.get(NODES)).status).toBe(200);
  });

  test("refuses only what a rule names, and only as often as it says", async () => {
    simulator.faults.refuse({ verb: "patch", resource: "nodes/status", status: 409, times: 1 });
    simulator.objects.createNode({ metadata: { name: "a" } });
    const patch = { metadata: { labels: { a: "b" } } };
    expect((await client.patch(`${NODES}/a`, "merge", patch)).status).toBe(200);
    expect((await client.patch(`${NODES}/a/status`, "merge", patch)).status).toBe(409);
    expect((await client.patch(`${NODES}/a/status`, "merge", patch)).status).toBe(200);
  });

  test("dropWatches() ends watches cleanly", async () => {
    const events = watchAll();
    await whenOpen();
    simulator.dropWatches();
    expect(await events).toEqual([]);
  });

  test("expireWatches() ends watches with an ERROR event", async () => {
    const events = watchAll();
    await whenOpen();
    simulator.expireWatches();
    expect((await events).map((event) => event.object.code)).toEqual([410]);
  });

  test("silent watches stay open and send nothing", async () => {
    simulator.faults.silentWatches = true;
    const events = watchAll("&allowWatchBookmarks=true");
    await whenOpen();
    simulator.objects.createNode({ metadata: { name: "a" } });
    simulator.sendBookmarks();
    expect(simulator.openWatches).toBe(1);
    simulator.dropWatches();
    expect(await events).toEqual([]);
  });

  test("sendBookmarks() reaches only watches that asked", async () => {
    const [asked, other] = [watchAll("&allowWatchBookmarks=true"), watchAll()];
    while (simulator.openWatches < 2) await Bun.sleep(1);
    simulator.sendBookmarks();
    simulator.dropWatches();
    expect((await asked).map((event) => event.type)).toEqual(["BOOKMARK"]);
    expect(await other).toEqual([]);
  });

  test.each(["http", "stream"] as const)("answers a gone version in the form %s", async (form) => {
    const old = await version();
    simulator.objects.createNode({ metadata: { name: "a" } });
    simulator.compact();
    simulator.faults.goneForm = form;
    const response = await fetch(`${simulator.url}${NODES}?watch=1&resourceVersion=${old}`);
    expect(response.status).toBe(form === "http" ? 410 : 200);
    expect(await response.text()).toContain('"code":410');
  });

  test("a closed connection closes its watch", async () => {
    const stream = client.stream(`${NODES}?watch=1&resourceVersion=${await version()}`);
    const next = stream.next();
    await whenOpen();
    simulator.objects.createNode({ metadata: { name: "a" } });
    await next;
    await stream.return();
    while (simulator.openWatches > 0) await Bun.sleep(1);
    expect(simulator.openWatches).toBe(0);
  });

  test("counts requests by verb and resource", async () => {
    await client.get(NODES);
    await client.get(`${NODES}/absent`);
    await client.patch(`${NODES}/absent/status`, "merge", {});
    expect(Object.fromEntries(simulator.requests.counts)).toEqual({
      "list nodes": 1,
      "get nodes": 1,
      "patch nodes/status": 1,
    });
    expect(simulator.requests.count({ method: "PATCH", name: "absent" })).toBe(1);
    simulator.requests.clear();
    expect(simulator.requests.entries).toEqual([]);
  });
});
