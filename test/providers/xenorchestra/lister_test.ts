/**
 * Rounds of lists against the simulated Xen Orchestra, which names its answers by ETag as the real one does.
 * @module
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { byIds, XenOrchestraApi } from "../../../lib/providers/xenorchestra/api.ts";
import { Lister } from "../../../lib/providers/xenorchestra/lister.ts";
import { Session } from "../../../lib/providers/xenorchestra/session.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { toDeps, toSettings } from "./fake_server.ts";

const signal = new AbortController().signal;
const { world, machines } = createDemoWorld();
const [machine] = machines.values();
const vmId = machine?.vmId ?? "";
let clock: ManualClock;
let cloud: XenOrchestraSimulator;
let api: XenOrchestraApi;

beforeEach(async () => {
  clock = new ManualClock();
  cloud = await startXenOrchestraSimulator({ clock, world: structuredClone(world) });
  const deps = toDeps();
  api = new XenOrchestraApi(
    new Session(toSettings(cloud.url, { token: cloud.token }), deps),
    deps.metrics,
  );
});
afterEach(() => cloud.stop());

/** Codes of the requests of one round, in no certain order. */
async function codesOf(round: Promise<unknown>): Promise<string[]> {
  const before = new Map(cloud.requests.byRoute);
  await round;
  return [...cloud.requests.byRoute]
    .flatMap(([route, count]) =>
      Array.from({ length: count - (before.get(route) ?? 0) }, () => route),
    )
    .toSorted();
}

test("relist() says unchanged until something changed", async () => {
  const { version: known } = await api.list("pools", signal);
  expect(known?.etag).toBeString();
  expect(await api.relist("pools", { known }, signal)).toBe("unchanged");
  const [pool] = cloud.state.list("pools");
  if (pool) cloud.state.put("pools", { ...pool, name_label: "renamed" });
  expect(await api.relist("pools", { known }, signal)).toMatchObject({
    objects: expect.arrayContaining([expect.objectContaining({ name_label: "renamed" })]),
  });
});

test("relist() shows a version only for the very question it answered", async () => {
  const filter = byIds([vmId]);
  const { version: known } = await api.list("vms", signal, filter);
  expect(await api.relist("vms", { known }, signal)).not.toBe("unchanged");
  expect(await api.relist("vms", { known, filter }, signal)).toBe("unchanged");
});

test("Lister brings nothing when nothing changed, in three requests", async () => {
  const lister = new Lister(api, clock, undefined);
  expect((await lister.list(undefined, signal))?.vms.objects.length).toBeGreaterThan(0);
  const again = lister.list(undefined, signal);
  expect(await codesOf(again)).toEqual(["GET /hosts", "GET /pools", "GET /vms"]);
  expect(await again).toBeUndefined();
});

test("Lister asks for VMs alone when they changed, and keeps what surrounds them", async () => {
  const lister = new Lister(api, clock, undefined);
  const first = await lister.list(undefined, signal);
  cloud.state.setVm(vmId, { name_label: "renamed" });
  const again = lister.list(undefined, signal);
  expect(await codesOf(again)).toEqual(["GET /hosts", "GET /pools", "GET /vms"]);
  const second = await again;
  expect(second?.vms.objects.find(({ id }) => id === vmId)?.name_label).toBe("renamed");
  expect(second?.surroundings.hosts).toEqual(first?.surroundings.hosts ?? new Map());
});

test("Lister asks for the VMs whole when only what surrounds them changed", async () => {
  const lister = new Lister(api, clock, undefined);
  const first = await lister.list(undefined, signal);
  const [host] = cloud.state.list("hosts");
  if (host) cloud.state.put("hosts", { ...host, name_label: "renamed" });
  const again = lister.list(undefined, signal);
  expect(await codesOf(again)).toEqual(["GET /hosts", "GET /pools", "GET /vms", "GET /vms"]);
  const second = await again;
  expect(second?.vms.objects).toEqual(first?.vms.objects ?? []);
  expect(second?.surroundings.hosts.get(host?.id ?? "")?.name_label).toBe("renamed");
});

test("Lister takes a lost pool and its return as changes", async () => {
  const lister = new Lister(api, clock, undefined);
  const first = await lister.list(undefined, signal);
  const [pool] = cloud.state.list("pools");
  cloud.state.dropPool(pool?.id ?? "");
  const lost = await lister.list(undefined, signal);
  expect(lost?.surroundings.pools.has(pool?.id ?? "")).toBe(false);
  expect(await lister.list(undefined, signal)).toBeUndefined();
  cloud.state.restorePool(pool?.id ?? "");
  expect((await lister.list(undefined, signal))?.vms.objects).toEqual(first?.vms.objects ?? []);
});

test("Lister forgets nothing by a round that failed half-way", async () => {
  const lister = new Lister(api, clock, undefined);
  await lister.list(undefined, signal);
  const [host] = cloud.state.list("hosts");
  if (host) cloud.state.put("hosts", { ...host, name_label: "renamed" });
  const mend = cloud.faults.set({ kind: "status", status: 503 }, { route: "GET /pools" });
  await expect(lister.list(undefined, signal)).rejects.toThrow("503");
  mend();
  const after = await lister.list(undefined, signal);
  expect(after?.surroundings.hosts.get(host?.id ?? "")?.name_label).toBe("renamed");
});

test("Lister asks for everything anew after ten minutes, in case something in between keeps old answers", async () => {
  const lister = new Lister(api, clock, undefined);
  await lister.list(undefined, signal);
  await clock.advance(599_999);
  expect(await lister.list(undefined, signal)).toBeUndefined();
  await clock.advance(1);
  expect(await lister.list(undefined, signal)).toBeDefined();
  expect(await lister.list(undefined, signal)).toBeUndefined();
});

test("Lister asks for networks and interfaces only when addresses are chosen by network", async () => {
  const [network] = cloud.state.list("networks");
  const lister = new Lister(api, clock, network?.id);
  const routes = await codesOf(lister.list(undefined, signal));
  expect(routes).toEqual(["GET /hosts", "GET /networks", "GET /pools", "GET /vifs", "GET /vms"]);
  expect(await lister.list(undefined, signal)).toBeUndefined();
});
