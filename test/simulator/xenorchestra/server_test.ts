import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type Fault,
  type FaultScope,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { until } from "../../support/nodes/rig.ts";

const demo = createDemoWorld();
const vmId = demo.machines.get("worker-1")?.vmId ?? "";

describe("startXenOrchestraSimulator()", () => {
  let clock: ManualClock;
  let simulator: XenOrchestraSimulator;
  beforeEach(async () => {
    clock = new ManualClock();
    simulator = await startXenOrchestraSimulator({ clock, world: demo.world });
  });
  afterEach(() => simulator.stop());

  const get = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${simulator.url}/rest/v0${path}`, {
      redirect: "manual",
      headers: { cookie: `authenticationToken=${simulator.token}` },
      ...init,
    });

  test("counts requests by route", async () => {
    await get("/vms");
    await get(`/vms/${vmId}`);
    await get(`/vms/${vmId.toUpperCase()}`);
    await get("/ping");
    const { requests } = simulator;
    expect([requests.count("GET /vms"), requests.count("GET /vms/{id}"), requests.total]).toEqual([
      1, 2, 4,
    ]);
    requests.reset();
    expect(requests.total).toBe(0);
  });

  const replies: [Fault, number, string, string][] = [
    [{ kind: "status", status: 401 }, 401, "application/json", "invalid credentials"],
    [{ kind: "status", status: 403 }, 403, "application/json", "not enough privileges"],
    [{ kind: "status", status: 500 }, 500, "application/json", "internal error"],
    [{ kind: "status", status: 503 }, 503, "application/json", "service unavailable"],
    [{ kind: "html", status: 200 }, 200, "text/html", "Sign in"],
    [{ kind: "html", status: 404 }, 404, "text/html", `Cannot GET /rest/v0/vms/${vmId}`],
    [{ kind: "json", body: {} }, 200, "application/json", "{}"],
    [{ kind: "json", body: [] }, 200, "application/json", "[]"],
    [
      { kind: "json", status: 404, body: { message: "no Route" } },
      404,
      "application/json",
      "no Route",
    ],
    [{ kind: "nonAdmin" }, 403, "application/json", "missingPrivileges"],
  ];
  test.each(replies)("fault %j: %p", async (fault, status, type, words) => {
    const off = simulator.faults.set(fault, { route: "/vms/{id}" });
    const response = await get(`/vms/${vmId}`);
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toStartWith(type);
    expect(await response.text()).toContain(words);
    expect((await get("/vms")).status).toBe(200);
    off();
    expect((await get(`/vms/${vmId}`)).status).toBe(200);
  });

  test("fault nonAdmin empties lists, and 404 stays 404", async () => {
    simulator.faults.set({ kind: "nonAdmin" });
    for (const path of ["/vms", "/pools", "/servers"]) {
      expect(await (await get(path)).json()).toEqual([]);
    }
    expect((await get("/vms/nope")).status).toBe(404);
  });

  test("fault status carries Retry-After, fault redirect a place", async () => {
    simulator.faults.set({ kind: "status", status: 429, retryAfterSeconds: 7 }, { times: 1 });
    const braked = await get("/ping");
    expect([braked.status, braked.headers.get("retry-after")]).toEqual([429, "7"]);
    simulator.faults.set({ kind: "redirect", location: "https://elsewhere.example/" });
    const sent = await get("/ping");
    expect([sent.status, sent.headers.get("location")]).toEqual([
      302,
      "https://elsewhere.example/",
    ]);
  });

  test.each<Fault>([{ kind: "reset" }, { kind: "halfBody" }])(
    "fault %j breaks off",
    async (fault) => {
      simulator.faults.set(fault, { id: vmId });
      const body = get(`/vms/${vmId}`).then((response) => response.text());
      await expect(body).rejects.toThrow();
      expect((await get("/vms")).status).toBe(200);
    },
  );

  test("fault hang never answers; who hangs is counted until they leave", async () => {
    simulator.faults.set({ kind: "hang" });
    const leave = new AbortController();
    const asked = get("/ping", { signal: leave.signal }).catch((error: unknown) => error);
    while (simulator.hanging.size === 0) await Bun.sleep(1);
    leave.abort(new Error("left"));
    expect(await asked).toMatchObject({ message: "left" });
    while (simulator.hanging.size > 0) await Bun.sleep(1);
  });

  test("fault delay answers rightly, late", async () => {
    simulator.faults.set({ kind: "delay", ms: 1_000 });
    let status = 0;
    const asked = get("/ping").then((response) => (status = response.status));
    while (clock.pending === 0) await Bun.sleep(1);
    expect(status).toBe(0);
    await clock.advance(1_000);
    expect(await asked).toBe(200);
  });

  test("refuse() refuses, accept() takes the same port again", async () => {
    await get("/ping");
    await simulator.refuse();
    await expect(get("/ping")).rejects.toThrow("Unable to connect");
    await simulator.accept();
    expect((await get("/ping")).status).toBe(200);
  });

  test("restart() cuts, hangs once, denies once, and then has no pools until they are loaded", async () => {
    await get("/ping");
    await simulator.restart({ loadedAfterMs: 15_000 });
    const { total } = simulator.requests;
    const leaving = new AbortController();
    const hanging = get("/ping", { signal: leaving.signal });
    await until("the request is there", () => simulator.requests.total > total);
    leaving.abort();
    await expect(hanging).rejects.toMatchObject({ name: "AbortError" });
    expect((await get("/ping")).status).toBe(401);
    expect(await (await get("/pools")).json()).toEqual([]);
    expect((await get(`/vms/${vmId}`)).status).toBe(404);
    await clock.advance(15_000);
    expect((await get(`/vms/${vmId}`)).status).toBe(200);
  });

  test("a forbidden VM is not listed, and 403", async () => {
    simulator.state.forbid(vmId);
    expect(await (await get("/vms")).text()).not.toContain(vmId);
    const response = await get(`/vms/${vmId}`);
    expect([response.status, await response.text()]).toEqual([
      403,
      expect.stringContaining("missingPrivileges"),
    ]);
  });

  const scopes: [FaultScope, string, number][] = [
    [{}, "/pools", 503],
    [{ route: "GET /pools" }, "/pools", 503],
    [{ route: "POST /pools" }, "/pools", 200],
    [{ route: "/vms" }, "/pools", 200],
    [{ id: vmId }, "/pools", 200],
  ];
  test.each(scopes)("a fault for %j meets %p: %p", async (scope, path, status) => {
    simulator.faults.set({ kind: "status", status: 503 }, scope);
    expect((await get(path)).status).toBe(status);
  });
});
