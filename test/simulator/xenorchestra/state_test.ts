import { beforeEach, describe, expect, test } from "bun:test";
import { createDemoWorld } from "../../../lib/simulator/xenorchestra/mod.ts";
import { toVm } from "../../../lib/simulator/xenorchestra/records.ts";
import { XenOrchestraState } from "../../../lib/simulator/xenorchestra/state.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const demo = createDemoWorld();
const { paris, lyon } = demo.poolIds;
const vmId = demo.machines.get("worker-1")?.vmId ?? "";

describe("XenOrchestraState", () => {
  let clock: ManualClock;
  let state: XenOrchestraState;
  beforeEach(() => {
    clock = new ManualClock();
    state = new XenOrchestraState(clock, demo.world);
  });
  const counts = (): number[] =>
    (["pools", "hosts", "vms", "vm-controllers"] as const).map((one) => state.list(one).length);
  const statuses = (): unknown[] => state.list("servers").map((server) => server["status"]);

  test("shares no record with the world it was made of", () => {
    state.setVm(vmId, { name_label: "other" });
    expect(new XenOrchestraState(clock, demo.world).read("vms", vmId)).toMatchObject({
      name_label: "worker-1",
    });
  });

  test("removeVm() takes the interfaces along", () => {
    state.removeVm(vmId);
    expect(state.read("vms", vmId)).toBeUndefined();
    expect(state.list("vifs").some((vif) => vif["$VM"] === vmId)).toBe(false);
    expect(() => state.removeVm(vmId)).toThrow(`Cannot find VM "${vmId}"`);
  });

  test("migrateLive() changes the host only", () => {
    const before = { ...state.read("vms", vmId) };
    state.migrateLive(vmId, demo.hostIds["xcp-par-3"]);
    const host = demo.hostIds["xcp-par-3"];
    expect(state.read("vms", vmId)).toEqual({ ...before, id: vmId, $container: host });
  });

  test("beginMigration() shows an operation as captured, until the machine is there", () => {
    const shown = (): unknown => state.read("vms", vmId)?.["current_operations"];
    state.beginMigration(vmId);
    expect(shown()).toEqual({ [expectUuid(shown())]: "migrate_send" });
    state.migratePool(vmId, lyon);
    expect(shown()).toEqual({});
    state.beginMigration(vmId, "pool_migrate");
    expect(shown()).toEqual({ [expectUuid(shown())]: "pool_migrate" });
    state.migrateLive(vmId, demo.hostIds["xcp-lyo-1"]);
    expect(shown()).toEqual({});
  });

  function expectUuid(operations: unknown): string {
    const [task = ""] = Object.keys(Object(operations));
    expect(task).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    return task;
  }

  test("migratePool() keeps the UUID, and hides it for the gap", async () => {
    state.migratePool(vmId, lyon, { gapMs: 5_000 });
    expect(state.read("vms", vmId)).toBeUndefined();
    await clock.advance(5_000);
    expect(state.read("vms", vmId)).toMatchObject({
      id: vmId,
      $pool: lyon,
      $poolId: lyon,
      $container: demo.hostIds["xcp-lyo-1"],
    });
    state.migratePool(vmId, paris, { hostId: demo.hostIds["xcp-par-2"] });
    expect(state.read("vms", vmId)?.["$container"]).toBe(demo.hostIds["xcp-par-2"]);
  });

  test("dropPool() hides everything of the pool until restorePool(), and as long as it lingers", async () => {
    const all = counts();
    state.dropPool(paris);
    await clock.advance(3_600_000);
    const without = counts();
    expect(without.every((count, index) => count < (all[index] ?? 0))).toBe(true);
    expect(statuses()).toEqual(["connecting", "connected"]);
    expect(state.list("servers")[0]).not.toHaveProperty("poolId");
    state.restorePool(paris, 60_000);
    await clock.advance(59_999);
    expect(counts()).toEqual(without);
    expect(statuses()).toEqual(["connecting", "connected"]);
    await clock.advance(1);
    expect(counts()).toEqual(all);
    expect(statuses()).toEqual(["connected", "connected"]);
  });

  test.each([1_500, 120_000, 600_000])(
    "dropPool() for %d ms ends by itself, and lingers",
    async (forMs) => {
      const all = counts();
      state.dropPool(paris, forMs, 60_000);
      await clock.advance(forMs + 59_999);
      expect(counts()).not.toEqual(all);
      expect(statuses()).toEqual(["connecting", "connected"]);
      await clock.advance(1);
      expect(counts()).toEqual(all);
    },
  );

  test("forgetPool() leaves nothing of the pool, not even its connection", () => {
    state.forgetPool(paris);
    expect(statuses()).toEqual(["connected"]);
    expect(state.list("vms").every((vm) => vm["$pool"] === lyon)).toBe(true);
    state.restorePool(paris);
    expect(statuses()).toEqual(["connected"]);
  });

  test("forbid() takes one VM from the list, and knows it all the same", () => {
    const before = state.list("vms").length;
    state.forbid(vmId);
    expect([state.list("vms").length, state.isForbidden(vmId)]).toEqual([before - 1, true]);
    expect(state.read("vms", vmId)).toBeDefined();
    state.forbid(vmId, false);
    expect([state.list("vms").length, state.isForbidden(vmId)]).toEqual([before, false]);
  });

  test("restart() shows nothing while the connections already say that they are up", async () => {
    const all = counts();
    state.restart({ connectedAfterMs: 6_000, loadedAfterMs: 15_000 });
    expect(counts()).toEqual([0, 0, 0, 0]);
    expect(statuses()).toEqual(["connecting", "connecting"]);
    await clock.advance(6_000);
    expect(counts()).toEqual([0, 0, 0, 0]);
    expect(statuses()).toEqual(["connected", "connected"]);
    await clock.advance(9_000);
    expect(counts()).toEqual(all);
  });

  test("hideVms() hides VMs and control domains while pool and hosts show", () => {
    const [pools, hosts, vms = 0] = counts();
    state.hideVms(paris);
    expect(counts().slice(0, 2)).toEqual([pools ?? 0, hosts ?? 0]);
    expect(state.list("vms").some((vm) => vm["$pool"] === paris)).toBe(false);
    expect(state.list("vm-controllers").every((one) => one["$pool"] === lyon)).toBe(true);
    state.hideVms(paris, false);
    expect(state.list("vms")).toHaveLength(vms);
  });

  test("put() replaces, all() shows what is hidden", () => {
    state.put("vms", toVm({ name: "again", id: vmId, poolId: paris }));
    state.dropPool(paris);
    expect(state.all("vms").get(vmId)).toMatchObject({ name_label: "again" });
  });
});
