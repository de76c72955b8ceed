import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { NodeIdentity, Provider } from "../../../lib/cloud/provider.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import { until } from "../../support/nodes/rig.ts";
import {
  FakeXenOrchestra,
  POOL_LYON,
  POOL_PARIS,
  toDeps,
  toSettings,
  WORKER_1,
} from "./fake_server.ts";

const signal = new AbortController().signal;
const PARIS: NodeIdentity = { name: "w1", providerId: `xenorchestra://${POOL_PARIS}/${WORKER_1}` };

let fake: FakeXenOrchestra;
beforeEach(() => {
  fake = new FakeXenOrchestra();
});
afterEach(() => fake.stop());

function create(pools?: readonly string[]): Provider {
  return xenOrchestra.create(toSettings(fake.url, pools && { pools }), toDeps());
}

/** What an inventory, and then the cloud itself, say of a Node. */
async function ask(provider: Provider, node: NodeIdentity): Promise<string[]> {
  const inventory = await provider.listInventory([node], signal);
  const found = provider.findInstance(inventory, node);
  const read = await provider.readInstance(inventory, node, signal);
  return [found.kind, read.kind];
}

describe("XenOrchestraProvider with the setting pools", () => {
  test("has every Node without the setting, and those of its pools with it", async () => {
    expect(await ask(create(), PARIS)).toEqual(["present", "present"]);
    expect(await ask(create([POOL_PARIS]), PARIS)).toEqual(["present", "present"]);
    expect(await ask(create([POOL_LYON]), PARIS)).toEqual(["foreign", "foreign"]);
    expect(await ask(create(["no such pool"]), PARIS)).toEqual(["foreign", "foreign"]);
  });

  test("never calls a VM gone whose Node is not ours", async () => {
    for (const pools of [[POOL_LYON], ["no such pool"]]) {
      const provider = create(pools);
      await provider.listInventory([PARIS], signal);
      fake.remove("vms", WORKER_1);
      expect(await ask(provider, PARIS)).toEqual(["foreign", "foreign"]);
      // Without a pool nothing tells whose it is.
      const node = { name: "w1", providerId: `xenorchestra:///${WORKER_1}` };
      expect(await ask(provider, node)).toEqual(["foreign", "foreign"]);
    }
  });

  test("leaves a Node without a provider ID alone whose VM is in a pool of somebody else", async () => {
    const node = { name: "w1", systemUuid: WORKER_1 };
    expect(await ask(create([POOL_PARIS]), node)).toEqual(["present", "present"]);
    expect(await ask(create([POOL_LYON]), node)).toEqual(["foreign", "foreign"]);
  });

  test("looks at every pool for the VM of a Node of ours, and keeps one that is elsewhere", async () => {
    const provider = create([POOL_PARIS]);
    await provider.listInventory([PARIS], signal);
    const moved = { ...fake.list("vms").find(({ id }) => id === WORKER_1), id: WORKER_1 };
    fake.remove("vms", WORKER_1);
    fake.list("vms").push({ ...moved, $pool: POOL_LYON });
    const inventory = await provider.listInventory([PARIS], signal);
    expect(provider.findInstance(inventory, PARIS)).toMatchObject({
      kind: "present",
      instance: { region: POOL_LYON },
      caution: expect.stringContaining("pools"),
    });
    // It vanishes there while that pool is lost.
    fake.dropPool(POOL_LYON);
    expect(await ask(provider, PARIS)).toEqual(["unknown", "unknown"]);
  });

  test("is sure that a VM is gone only when the pools of others answer, too", async () => {
    const provider = create([POOL_PARIS]);
    await provider.listInventory([PARIS], signal);
    fake.remove("vms", WORKER_1);
    expect(await ask(provider, PARIS)).toEqual(["unknown", "absent"]);
    fake.dropPool(POOL_LYON);
    expect(await ask(provider, PARIS)).toEqual(["unknown", "unknown"]);
  });

  test("shows what it cannot find as a part that is not covered, and others as they are", async () => {
    const provider = create(["no such pool", POOL_PARIS]);
    const { coverage } = await provider.listInventory([PARIS], signal);
    expect(coverage.get("no such pool")).toMatchObject({ complete: false });
    expect(coverage.get(POOL_PARIS)?.complete).toBe(true);
    expect(coverage.get(POOL_LYON)?.complete).toBe(true);
    const inspection = await provider.inspect?.(signal);
    expect(inspection?.findings).toContainEqual(
      expect.objectContaining({
        level: "warning",
        message: expect.stringContaining("no such pool"),
      }),
    );
  });

  test("does not name a pool that is not ours because a Node of others does", async () => {
    const provider = create([POOL_LYON]);
    fake.dropPool(POOL_PARIS);
    const { coverage } = await provider.listInventory([PARIS], signal);
    expect(coverage.has(POOL_PARIS)).toBe(false);
  });

  test("takes other pools while it works, without a new connection", async () => {
    const deps = toDeps();
    const provider = xenOrchestra.create(toSettings(fake.url, { pools: [POOL_LYON] }), deps);
    expect(await ask(provider, PARIS)).toEqual(["foreign", "foreign"]);
    const changed = toSettings(fake.url, { pools: [POOL_PARIS] });
    expect(xenOrchestra.reconfigure?.(provider, changed)).toBe("sameCloud");
    expect(await ask(provider, PARIS)).toEqual(["present", "present"]);
  });

  test("keeps Nodes of a pool that is named by its name and was removed, through a change of settings", async () => {
    const deps = toDeps();
    const provider = xenOrchestra.create(toSettings(fake.url, { pools: ["pool-lyon"] }), deps);
    const vm = fake.list("vms").find((one) => one["$pool"] === POOL_LYON);
    const node = { name: "n", providerId: `xenorchestra://${POOL_LYON}/${vm?.id}` };
    expect(await ask(provider, node)).toEqual(["present", "present"]);
    await until("connections were read", () =>
      fake.paths.some((one) => one.startsWith("/servers")),
    );
    fake.dropPool(POOL_LYON);
    fake.collections["servers"] = fake.list("servers").filter((one) => one["poolId"] !== null);
    await until("the pool is removed", async () => {
      await deps.clock.advance(60_000);
      return !(await provider.listInventory([node], signal)).coverage.has(POOL_LYON);
    });
    const isForeign = async (): Promise<boolean> => (await ask(provider, node)).includes("foreign");
    expect(await isForeign()).toBe(false);
    const change = (more: object): unknown =>
      xenOrchestra.reconfigure?.(provider, toSettings(fake.url, more));
    change({ pools: ["pool-lyon"], zoneLabelFrom: "pool" });
    expect(await isForeign()).toBe(false);
    change({ pools: ["another name"] });
    expect(await isForeign()).toBe(true);
    change({ pools: ["pool-lyon"] });
    expect(await isForeign()).toBe(false);
  });
});
