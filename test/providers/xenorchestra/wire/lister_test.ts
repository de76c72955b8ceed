/**
 * Rounds of lists against the simulated Xen Orchestra, which names its answers by ETag as the real one does.
 * @module
 */
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { byIds, XenOrchestraApi } from "../../../../lib/providers/xenorchestra/wire/api.ts";
import { Lister } from "../../../../lib/providers/xenorchestra/wire/lister.ts";
import { Session } from "../../../../lib/providers/xenorchestra/session/session.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../../lib/simulator/xenorchestra/mod.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { FakeXenOrchestra, toDeps, toSettings } from "../fake_server.ts";

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

/** Renames one object. Returns its ID. */
function rename(collection: "hosts" | "pools" | "networks"): string {
  const [first] = cloud.state.list(collection);
  if (first) cloud.state.put(collection, { ...first, name_label: "renamed" });
  return first?.id ?? "";
}

test("relist() says unchanged until something changed", async () => {
  const { version: known } = await api.list("pools", signal);
  expect(known?.etag).toBeString();
  expect(await api.relist("pools", { known }, signal)).toBe("unchanged");
  rename("pools");
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

test("Lister asks for the VMs whole when only what surrounds them changed", async () => {
  const lister = new Lister(api, clock, undefined);
  const first = await lister.list(undefined, signal);
  const id = rename("hosts");
  const again = lister.list(undefined, signal);
  expect(await codesOf(again)).toEqual(["GET /hosts", "GET /pools", "GET /vms", "GET /vms"]);
  const second = await again;
  expect(second?.vms.objects).toEqual(first?.vms.objects ?? []);
  expect(second?.surroundings.hosts.get(id)?.name_label).toBe("renamed");
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
  const id = rename("hosts");
  const mend = cloud.faults.set({ kind: "status", status: 503 }, { route: "GET /pools" });
  await expect(lister.list(undefined, signal)).rejects.toThrow("503");
  mend();
  const after = await lister.list(undefined, signal);
  expect(after?.surroundings.hosts.get(id)?.name_label).toBe("renamed");
});

test("Lister asks for everything again after ten minutes, in case something in between keeps old answers", async () => {
  const lister = new Lister(api, clock, undefined);
  await lister.list(undefined, signal);
  await clock.advance(300_000);
  cloud.state.setVm(vmId, { name_label: "renamed" });
  expect(await lister.list(undefined, signal)).toBeDefined();
  await clock.advance(299_999);
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

test("Lister brings other VMs when it is asked for others, and for the same again", async () => {
  const lister = new Lister(api, clock, undefined);
  const [one = "", two = ""] = [...machines.values()].map(({ vmId }) => vmId);
  for (const ids of [[one], [two], [one, two], undefined, [one]]) {
    const shown = (await lister.list(ids, signal))?.vms.objects.map(({ id }) => id);
    expect(shown?.filter((id) => [one, two].includes(id))).toEqual(ids ?? [one, two]);
    expect(await lister.list(ids, signal)).toBeUndefined();
  }
});

test("Lister takes other rights of the user as changes, whoever asked before", async () => {
  const lister = new Lister(api, clock, undefined);
  const all = (await lister.list(undefined, signal))?.vms.objects.length ?? 0;
  cloud.state.forbid(vmId);
  expect((await lister.list(undefined, signal))?.vms.objects).toHaveLength(all - 1);
  cloud.state.forbid(vmId, false);
  expect((await lister.list(undefined, signal))?.vms.objects).toHaveLength(all);
  const none = cloud.faults.set({ kind: "nonAdmin" });
  expect((await lister.list(undefined, signal))?.vms.objects).toHaveLength(0);
  none();
  expect((await lister.list(undefined, signal))?.vms.objects).toHaveLength(all);
});

test("Lister brings everything each time when something on the way strips the ETags", async () => {
  const fake = new FakeXenOrchestra();
  const deps = toDeps();
  const bare = new XenOrchestraApi(new Session(toSettings(fake.url), deps), deps.metrics);
  const lister = new Lister(bare, clock, undefined);
  for (let round = 1; round <= 3; round += 1) {
    expect((await lister.list(undefined, signal))?.vms.objects).toHaveLength(17);
    expect(fake.seen).toHaveLength(3 * round);
  }
  expect(fake.seen.some(({ headers }) => headers.has("if-none-match"))).toBe(false);
  await fake.stop();
});

test("Lister keeps the condition when a connection is dropped", async () => {
  const lister = new Lister(api, clock, undefined);
  await lister.list(undefined, signal);
  cloud.faults.set({ kind: "reset" }, { route: "GET /vms", times: 1 });
  const again = lister.list(undefined, signal);
  expect(await codesOf(again)).toEqual(["GET /hosts", "GET /pools", "GET /vms", "GET /vms"]);
  expect(await again).toBeUndefined();
});

test("Lister brings what changed although asking for the whole failed at first", async () => {
  const lister = new Lister(api, clock, undefined);
  await lister.list(undefined, signal);
  const id = rename("hosts");
  // Only a question without a condition is asked with list().
  const whole = spyOn(api, "list").mockRejectedValueOnce(new Error("half a body"));
  await expect(lister.list(undefined, signal)).rejects.toThrow("half a body");
  whole.mockRestore();
  const after = await lister.list(undefined, signal);
  expect(after?.surroundings.hosts.get(id)?.name_label).toBe("renamed");
});

test.each(["hosts", "pools", "networks", "vifs"] as const)(
  "Lister takes a change of %s alone as one",
  async (collection) => {
    const [network] = cloud.state.list("networks");
    const lister = new Lister(api, clock, network?.id);
    await lister.list(undefined, signal);
    if (collection === "vifs") {
      const [vif] = cloud.state.list("vifs");
      if (vif) cloud.state.put("vifs", { ...vif, device: "7" });
    } else {
      rename(collection);
    }
    expect(await lister.list(undefined, signal)).toBeDefined();
    expect(await lister.list(undefined, signal)).toBeUndefined();
  },
);
