/**
 * What a look costs, and what it does when an answer is missing.
 * @module
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { CloudError } from "../../../../../lib/cloud/errors.ts";
import { takeLook } from "../../../../../lib/providers/xenorchestra/machines/look/look.ts";
import { OwnChanges } from "../../../../../lib/providers/xenorchestra/machines/wire/own_changes.ts";
import { MachinesApi } from "../../../../../lib/providers/xenorchestra/machines/wire/machines_api.ts";
import { XenOrchestraApi } from "../../../../../lib/providers/xenorchestra/wire/api.ts";
import { Session } from "../../../../../lib/providers/xenorchestra/session/session.ts";
import { toDeps, toSettings } from "../../fake_server.ts";
import { OWNER, Rig } from "../rig.ts";

const signal = new AbortController().signal;
let rig: Rig;

beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.stop());

async function look(count: number): ReturnType<typeof takeLook> {
  const deps = toDeps();
  const { url, token } = rig.simulator;
  const session = new Session(toSettings(url, { token }), deps);
  const own = new OwnChanges(deps.clock);
  const api = new MachinesApi(new XenOrchestraApi(session, deps.metrics), session, own);
  const inventory = await rig.provider.listInventory([], signal);
  const machines = Array.from({ length: count }, (_, index) => ({
    owner: OWNER,
    role: "worker",
    index,
  }));
  return await takeLook(
    { api, clock: deps.clock, inventory, readUserId: async () => "me" },
    machines,
    signal,
  );
}

async function count(machines: number): Promise<number> {
  await look(machines);
  rig.simulator.requests.reset();
  await look(machines);
  // Without the inventory of this test.
  return rig.simulator.requests.total - 4;
}

test("takeLook() needs as many requests for a hundred machines as for one", async () => {
  const one = await count(1);
  expect(await count(100)).toBe(one);
  expect(one).toBeLessThanOrEqual(14);
});

test("takeLook() shows templates, storages and networks, and that all pools answer", async () => {
  const view = await look(1);
  expect(view.gap).toBeUndefined();
  expect(view.pools.map(({ isComplete }) => isComplete)).toEqual([true, true]);
  expect(view.stock?.templates.length).toBeGreaterThan(2);
  expect(view.stock?.storages.length).toBeGreaterThan(2);
  expect(view.stock?.userId).toBe("me");
});

test("takeLook() says which pool was lost", async () => {
  rig.simulator.state.dropPool(rig.site.poolIds.lyon);
  const view = await look(1);
  expect(view.gap).toBeDefined();
});

test("takeLook() fails if one list fails", async () => {
  rig.simulator.faults.set({ kind: "status", status: 500 }, { route: "GET /srs" });
  await expect(look(1)).rejects.toBeInstanceOf(CloudError);
});

test("takeLook() sees no tasks without a right to them", async () => {
  rig.simulator.faults.set({ kind: "status", status: 403 }, { route: "GET /tasks" });
  const view = await look(1);
  expect(view.stock).toBeDefined();
  expect(view.stock?.tasks).toBeUndefined();
});
