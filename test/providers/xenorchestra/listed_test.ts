/**
 * When a VM that is not listed counts as observed to be absent or to be moving, and when not.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { InstanceResolver } from "../../../lib/cloud/inventory/resolver.ts";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import { InventorySource } from "../../../lib/cloud/inventory/source.ts";
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Presence, Provider } from "../../../lib/cloud/provider.ts";
import {
  createProvider,
  FakeXenOrchestra,
  HOST_PARIS_1,
  NODE,
  POOL_LYON,
  POOL_PARIS,
  toDeps,
  toSettings,
  WORKER_1,
} from "./fake_server.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import type { ManualClock } from "../../support/manual_clock.ts";

const signal = new AbortController().signal;
const POOLLESS: NodeIdentity = { name: "w1", providerId: `xenorchestra:///${WORKER_1}` };

describe("findInstance() of a Node with a provider ID", () => {
  let fake: FakeXenOrchestra;
  let provider: Provider;
  /** The message of the last presence that is not known. */
  let said: string;

  beforeEach(() => {
    fake = new FakeXenOrchestra();
    provider = createProvider(fake);
  });
  afterEach(() => fake.stop());

  async function look(node: NodeIdentity = NODE, interest = [node]): Promise<string> {
    const inventory = await provider.listInventory(interest, signal);
    const presence = provider.findInstance(inventory, node);
    if (presence.kind !== "unknown") return presence.kind;
    said = presence.message;
    return presence.reason;
  }

  test("C-03 is an observation of absence while its pool answers in full", async () => {
    fake.remove("vms", WORKER_1);
    expect(await look()).toBe("notListed");
    expect(said).toContain("does not prove that it is gone");
    expect(await look({ ...NODE, region: POOL_LYON })).toBe("notListed");
    expect(await look({ ...NODE, region: "eu-west-1" })).toBe("notListed");
  });

  test("is none while its pool is lost, or shown without its master host", async () => {
    expect(await look()).toBe("present");
    const hosts = fake.list("hosts");
    fake.remove("vms", WORKER_1);
    fake.remove("hosts", HOST_PARIS_1);
    expect(await look()).toBe("notCovered");
    fake.collections["hosts"] = hosts;
    expect(await look()).toBe("notListed");
    fake.dropPool(POOL_PARIS);
    expect(await look()).toBe("notCovered");
    expect(said).toMatch(
      /in pool pool-paris: the pool is disconnected.*; if the pool was removed for good/,
    );
  });

  test("is none while its pool was never seen, as when Landfall starts in an outage", async () => {
    fake.dropPool(POOL_PARIS);
    expect(await look()).toBe("notCovered");
    expect(said).toContain(`in pool ${POOL_PARIS}: Xen Orchestra has not shown the pool since`);
  });

  test("is none while every list is empty, as without any right", async () => {
    for (const name of Object.keys(fake.collections)) fake.collections[name] = [];
    expect(await look()).toBe("notCovered");
    expect(said).toContain("make the user an administrator");
  });

  test("is none while the list holds a VM that cannot be read, not even its ID", async () => {
    fake.remove("vms", WORKER_1);
    fake.list("vms").push({ id: HOST_PARIS_1, tags: "none" });
    expect(await look(NODE, [])).toBe("notListed");
    fake.list("vms").push({ id: "half" });
    expect(await look(NODE, [])).toBe("undecodable");
    expect(said).toContain("holds a VM that Landfall cannot read: id: must be");
  });

  test("is none while the pool that the VM moved to is lost", async () => {
    fake.change("vms", WORKER_1, { $pool: POOL_LYON });
    expect(await look()).toBe("present");
    fake.dropPool(POOL_LYON);
    expect(await look()).toBe("notCovered");
  });

  test("is none while the pool that the labels name is lost, also after a restart of Landfall", async () => {
    fake.dropPool(POOL_LYON);
    fake.remove("vms", WORKER_1);
    expect(await look({ ...NODE, region: POOL_LYON })).toBe("notCovered");
    expect(await look()).toBe("notListed");
  });

  test("is none for a provider ID without a pool, whatever its labels say", async () => {
    expect(await look(POOLLESS)).toBe("present");
    fake.remove("vms", WORKER_1);
    expect(await look(POOLLESS)).toBe("notCovered");
    expect(await look({ ...POOLLESS, region: POOL_PARIS })).toBe("notCovered");
  });

  test("is none while the list was not asked for the VM", async () => {
    const other = { name: "x", systemUuid: POOL_LYON };
    expect(await look(NODE, [other])).toBe("noInventory");
    fake.remove("vms", WORKER_1);
    expect(await look(NODE, [other])).toBe("noInventory");
    expect(await look(NODE, [other, NODE])).toBe("notListed");
    // Nobody in particular means everything.
    expect(await look(NODE, [])).toBe("notListed");
  });

  test.each([NODE, POOLLESS, { ...NODE, providerId: `xenorchestra://${POOL_LYON}/${WORKER_1}` }])(
    "a VM that appears late is found, with %j",
    async (node) => {
      const vms = fake.list("vms");
      fake.remove("vms", WORKER_1);
      expect(await look(node)).not.toBe("present");
      fake.collections["vms"] = vms;
      expect(await look(node)).toBe("present");
    },
  );
});

describe("a new Node that has a provider ID already", () => {
  let fake: FakeXenOrchestra;
  beforeEach(() => {
    fake = new FakeXenOrchestra();
  });
  afterEach(() => fake.stop());

  /** What the first look at a new Node ends with, the refresh that it asks for included. */
  async function register(node: NodeIdentity): Promise<string> {
    const { clock, ...deps } = toDeps();
    const provider = createProvider(fake, {}, { ...deps, clock });
    const interest: NodeIdentity[] = [{ name: "older", systemUuid: POOL_LYON }];
    const { log, metrics } = deps;
    const source = new InventorySource({ provider, interest: () => interest, clock, log, metrics });
    const resolver = new InstanceResolver(provider, source, clock);
    const stop = new AbortController();
    const refreshed = (): Promise<void> =>
      new Promise((resolve) => {
        const end = source.subscribe(() => {
          end();
          resolve();
        });
      });
    const first = refreshed();
    const running = source.run(stop.signal);
    await first;
    interest.push(node);
    const next = refreshed();
    expect(await resolver.resolve(node, signal)).toEqual({ kind: "waiting" });
    await clock.advance(1_000);
    await next;
    const answer = await resolver.resolve(node, signal);
    stop.abort();
    await running;
    return answer.kind === "unknown" ? answer.reason : answer.kind;
  }

  const elsewhere = { ...NODE, providerId: `xenorchestra://${HOST_PARIS_1}/${WORKER_1}` };

  test.each([
    ["names its pool", NODE],
    ["names another pool", { ...NODE, providerId: `xenorchestra://${POOL_LYON}/${WORKER_1}` }],
    ["names a pool that nobody knows", elsewhere],
    ["names no pool", POOLLESS],
  ])("is asked for again and found, when the ID %s", async (_title, node) => {
    expect(await register(node)).toBe("present");
  });

  test.each([
    ["its VM is nowhere", NODE, "absent"],
    ["its VM is nowhere, nor its pool", elsewhere, "notCovered"],
    ["its VM is nowhere, and the ID names no pool", POOLLESS, "notCovered"],
  ])("waits when %s", async (_title, node, expected) => {
    fake.remove("vms", WORKER_1);
    expect(await register(node)).toBe(expected);
  });
});

const DOUBT_MS = 600_000;
const REFRESH_MS = 10_000;

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
