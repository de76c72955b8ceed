/**
 * A VM that vanishes while it is migrated is not missed for a while, whatever else is well.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Inventory } from "../../../../lib/cloud/inventory/inventory.ts";
import type { NodeIdentity, Presence, Provider } from "../../../../lib/cloud/provider.ts";
import { Migrations } from "../../../../lib/providers/xenorchestra/proof/migrations.ts";
import { xenOrchestra } from "../../../../lib/providers/xenorchestra/mod.ts";
import type { Vm } from "../../../../lib/providers/xenorchestra/wire/schema.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../../lib/simulator/xenorchestra/mod.ts";
import type { ManualClock } from "../../../support/manual_clock.ts";
import { toDeps, toSettings } from "../fake_server.ts";

const DOUBT_MS = 600_000;
const REFRESH_MS = 10_000;

function toVm(id: string, ...operations: readonly unknown[]): Vm {
  return { id, $pool: "p", current_operations: { ...operations } };
}

describe("Migrations", () => {
  test.each<[string, boolean, Vm]>([
    ["goes to another pool", true, toVm("a", "migrate_send")],
    ["goes to another host", true, toVm("a", "pool_migrate")],
    ["does so and more", true, toVm("a", "snapshot", "migrate_send")],
    ["is started", false, toVm("a", "start")],
    ["has an operation that is no text", false, toVm("a", ["migrate_send"], null, 1)],
    ["has none", false, toVm("a")],
    ["does not tell", false, { id: "a", $pool: "p" }],
    ["says null", false, { id: "a", $pool: "p", current_operations: null }],
  ])("a VM that %s may be on its way: %p", (_title, expected, vm) => {
    const migrations = new Migrations(9);
    migrations.note([vm, toVm("b")], 0);
    migrations.note([], 1);
    expect(migrations.isMoving("a", 1)).toBe(expected);
    expect(migrations.isMoving("b", 1)).toBe(false);
  });

  test("counts from when the VM was last shown so, by a list that changed or did not", () => {
    const migrations = new Migrations(9);
    migrations.note([toVm("a", "migrate_send")], 0);
    migrations.note([toVm("a", "migrate_send"), toVm("b")], 5);
    expect(migrations.isMoving("a", 5 + DOUBT_MS - 1)).toBe(true);
    expect(migrations.isMoving("a", 5 + DOUBT_MS)).toBe(false);
    migrations.noteUnchanged(9, new Set(["a", "b"]));
    expect(migrations.isMoving("a", 9 + DOUBT_MS - 1)).toBe(true);
    migrations.note([toVm("b")], 10);
    // What the last list lacks is not shown again by one that is the same.
    migrations.noteUnchanged(20, new Set(["b"]));
    expect(migrations.isMoving("a", 9 + DOUBT_MS)).toBe(false);
  });

  test("forgets a VM that shows up without being migrated", () => {
    const migrations = new Migrations(9);
    migrations.note([toVm("a", "migrate_send")], 0);
    migrations.note([], 1);
    migrations.note([toVm("a")], 2);
    migrations.note([], 3);
    expect(migrations.isMoving("a", 3)).toBe(false);
  });

  test("takes in VMs that are shown between two lists, one by one", () => {
    const migrations = new Migrations(9);
    migrations.note([toVm("a"), toVm("b", "migrate_send")], 0);
    migrations.noteSome([toVm("a", "migrate_send")], 5);
    migrations.noteSome([toVm("b")], 6);
    migrations.note([], 10);
    expect(migrations.isMoving("a", 5 + DOUBT_MS - 1)).toBe(true);
    expect(migrations.isMoving("a", 5 + DOUBT_MS)).toBe(false);
    expect(migrations.isMoving("b", 10)).toBe(false);
  });

  test("a list that is the same again counts for more than what was shown in between", () => {
    const migrations = new Migrations(9);
    const listed = new Set(["a", "b"]);
    migrations.note([toVm("a"), toVm("b", "migrate_send")], 0);
    // "c" is in no list: only here it was shown.
    migrations.noteSome([toVm("a", "migrate_send"), toVm("b"), toVm("c", "migrate_send")], 5);
    migrations.noteUnchanged(10, listed);
    expect(["a", "b", "c"].map((id) => migrations.isMoving(id, 11))).toEqual([false, true, true]);
    migrations.note([], 20);
    expect(["a", "b", "c"].map((id) => migrations.isMoving(id, 20))).toEqual([false, true, true]);
  });

  test("remembers no more than it may, the newest", () => {
    const migrations = new Migrations(2);
    const ids = ["a", "b", "c"];
    migrations.note(
      ids.map((id) => toVm(id, "migrate_send")),
      0,
    );
    migrations.note([], 1);
    expect(ids.map((id) => migrations.isMoving(id, 1))).toEqual([false, true, true]);
  });
});

describe("a VM in neither of two pools that are well", () => {
  const signal = new AbortController().signal;
  const { world, machines } = createDemoWorld();
  const vmId = machines.get("worker-1")?.vmId ?? "";
  let clock: ManualClock;
  let cloud: XenOrchestraSimulator;
  let provider: Provider;
  let inventory: Inventory;
  let node: NodeIdentity;
  let otherPoolId: string;

  beforeEach(async () => {
    const deps = toDeps();
    clock = deps.clock;
    cloud = await startXenOrchestraSimulator({ clock, world });
    const poolId = String(cloud.state.read("vms", vmId)?.["$pool"]);
    otherPoolId = [...cloud.state.all("pools").keys()].find((id) => id !== poolId) ?? "";
    node = { name: "worker-1", providerId: `xenorchestra://${poolId}/${vmId}` };
    provider = xenOrchestra.create(toSettings(cloud.url, { token: cloud.token }), deps);
    await observe();
  });
  afterEach(() => cloud.stop());

  function summarise(presence: Presence): string {
    return presence.kind === "unknown" ? presence.reason : presence.kind;
  }

  /** What the newest list says of the VM, and what asking for it says. */
  async function observe(interest = [node]): Promise<[string, string]> {
    inventory = await provider.listInventory(interest, signal);
    return [summarise(provider.findInstance(inventory, node)), await read()];
  }

  async function read(): Promise<string> {
    return summarise(await provider.readInstance(inventory, node, signal));
  }

  const listsSoFar = (): number => cloud.requests.count("GET /vms");

  test.each(["migrate_send", "pool_migrate"] as const)(
    "is not missed for ten minutes after %s was last shown, then like any other",
    async (operation) => {
      cloud.state.beginMigration(vmId, operation);
      await observe();
      cloud.state.removeVm(vmId);
      await clock.advance(DOUBT_MS - 1);
      expect(await observe()).toEqual(["notCovered", "notCovered"]);
      await clock.advance(1);
      expect(await observe()).toEqual(["notListed", "absent"]);
    },
  );

  test("says why, and asks the cloud no more than whether the VM is there", async () => {
    cloud.state.beginMigration(vmId);
    await observe();
    cloud.state.removeVm(vmId);
    await observe();
    const message = expect.stringContaining("migrating when it was last listed");
    expect(provider.findInstance(inventory, node)).toMatchObject({ message });
    const before = cloud.requests.total;
    expect(await provider.readInstance(inventory, node, signal)).toMatchObject({ message });
    expect(cloud.requests.total).toBe(before + 1);
  });

  test("is not missed while the lists that lack it go on unchanged", async () => {
    cloud.state.beginMigration(vmId);
    await observe();
    cloud.state.migratePool(vmId, otherPoolId, { gapMs: 3 * REFRESH_MS });
    for (let passed = 0; passed < 3; passed += 1) {
      expect(await observe()).toEqual(["notCovered", "notCovered"]);
      await clock.advance(REFRESH_MS);
    }
    expect(await observe()).toEqual(["present", "present"]);
    expect(inventory.instances.get(vmId)?.region).toBe(otherPoolId);
  });

  test("is not missed after a migration that lasted long, with lists that did not change", async () => {
    cloud.state.beginMigration(vmId);
    await observe();
    // Short of the time when everything is asked for anew.
    await clock.advance(DOUBT_MS - REFRESH_MS);
    const { instances } = inventory;
    await observe();
    expect(inventory.instances).toBe(instances);
    cloud.state.removeVm(vmId);
    await clock.advance(REFRESH_MS);
    expect(await observe()).toEqual(["notCovered", "notCovered"]);
    await clock.advance(DOUBT_MS - REFRESH_MS - 1);
    expect(await observe()).toEqual(["notCovered", "notCovered"]);
    await clock.advance(1);
    expect(await observe()).toEqual(["notListed", "absent"]);
  });

  test("is missed at once when its migration was over, or nothing but something else was going on", async () => {
    cloud.state.beginMigration(vmId);
    await observe();
    cloud.state.migratePool(vmId, otherPoolId);
    expect(await observe()).toEqual(["present", "present"]);
    cloud.state.setVm(vmId, { current_operations: { task: "clean_shutdown" } });
    await observe();
    cloud.state.removeVm(vmId);
    expect(await observe()).toEqual(["notListed", "absent"]);
  });

  test("is not missed after lists that failed meanwhile", async () => {
    cloud.state.beginMigration(vmId);
    await observe();
    const mend = cloud.faults.set({ kind: "status", status: 503 });
    await clock.advance(DOUBT_MS / 2);
    await expect(provider.listInventory([node], signal)).rejects.toThrow("503");
    mend();
    cloud.state.removeVm(vmId);
    expect(await observe()).toEqual(["notCovered", "notCovered"]);
  });

  test("is not missed after lists that were not asked for it", async () => {
    cloud.state.beginMigration(vmId);
    await observe();
    const lists = listsSoFar();
    const other = { name: "other", systemUuid: "00000000-0000-4000-8000-000000000000" };
    expect(await observe([other])).toEqual(["noInventory", "present"]);
    cloud.state.removeVm(vmId);
    expect(await observe()).toEqual(["notCovered", "notCovered"]);
    expect(listsSoFar()).toBe(lists + 2);
  });

  test("keeps every other reason to be unsure", async () => {
    cloud.state.beginMigration(vmId);
    await observe();
    cloud.state.setVm(vmId, { name_label: 42, memory: "much" });
    expect(await observe()).toEqual(["undecodable", "undecodable"]);
    cloud.state.removeVm(vmId);
    expect(await observe()).toEqual(["notCovered", "notCovered"]);
  });
});
