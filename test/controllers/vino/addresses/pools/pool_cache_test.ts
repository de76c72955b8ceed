import { expect, test } from "bun:test";
import { PoolCache } from "../../../../../lib/controllers/vino/addresses/pools/pool_cache.ts";
import type { IpPool } from "../../../../../lib/controllers/vino/resource/ip_pool.ts";
import type { ListPage } from "../../../../../lib/kube/api/client.ts";
import type { StoreListener } from "../../../../../lib/kube/cache/store.ts";
import { ScriptedKubeClient } from "../../../../support/kube/scripted_kube_client.ts";
import { ManualClock } from "../../../../support/manual_clock.ts";

const { signal } = new AbortController();

function pool(resourceVersion: string, namespace = "metal"): IpPool {
  return {
    metadata: { name: "a", namespace, uid: "u", resourceVersion },
    spec: { subnet: "192.0.2.0/24" },
  };
}

/** A memory, and how often it read the list. */
class Rig extends ScriptedKubeClient {
  lists = 0;
  stored: readonly IpPool[] = [pool("1")];
  listener: StoreListener<IpPool> | undefined;
  readonly memory: PoolCache;

  constructor() {
    super(new ManualClock());
    const store = {
      subscribe: (listener: StoreListener<IpPool>) => {
        this.listener = listener;
        return () => (this.listener = undefined);
      },
    };
    this.memory = new PoolCache({ client: this, namespace: "metal", store });
  }

  override list<T>(): Promise<ListPage<T>> {
    this.lists += 1;
    const items = structuredClone(this.stored) as unknown as readonly T[];
    return Promise.resolve({ items, resourceVersion: "9" });
  }

  async countLists(): Promise<number> {
    await this.memory.refresh(signal);
    const { lists } = this;
    this.lists = 0;
    return lists;
  }
}

test("PoolCache reads the list once, and again only when the watch shows something else", async () => {
  const rig = new Rig();
  expect([await rig.countLists(), await rig.countLists()]).toEqual([1, 0]);
  rig.listener?.("metal/a", undefined, pool("1"));
  expect(await rig.countLists()).toBe(0);
  rig.listener?.("metal/a", pool("1"), pool("2"));
  rig.stored = [pool("2")];
  expect([await rig.countLists(), rig.memory.findVersion("a")]).toEqual([1, "2"]);
  rig.listener?.("metal/a", pool("2"), undefined);
  rig.stored = [];
  expect([await rig.countLists(), rig.memory.findVersion("a")]).toEqual([1, undefined]);
  rig.listener?.("other/a", undefined, pool("3", "other"));
  expect(await rig.countLists()).toBe(0);
});

test("PoolCache knows its own writes, whether the watch shows them before or after the answer", async () => {
  const rig = new Rig();
  await rig.countLists();
  rig.listener?.("metal/a", pool("1"), pool("2"));
  rig.memory.note(pool("2"));
  rig.memory.note(pool("3"));
  rig.listener?.("metal/a", pool("1"), pool("2"));
  expect(await rig.countLists()).toBe(0);
  rig.listener?.("metal/a", pool("2"), pool("3"));
  expect([await rig.countLists(), rig.memory.findVersion("a")]).toEqual([0, "3"]);
});

test("PoolCache hears of another change between its own write and the answer", async () => {
  const rig = new Rig();
  await rig.countLists();
  rig.listener?.("metal/a", pool("1"), pool("2"));
  rig.listener?.("metal/a", pool("2"), pool("3"));
  rig.memory.note(pool("2"));
  expect(await rig.countLists()).toBe(1);
});

test("PoolCache reads the list again after a doubt, and after a list that failed", async () => {
  const rig = new Rig();
  await rig.countLists();
  rig.memory.doubt();
  expect(await rig.countLists()).toBe(1);
  rig.memory.doubt();
  const { list } = rig;
  rig.list = () => Promise.reject(new Error("no answer"));
  expect(await rig.memory.refresh(signal).catch((error: unknown) => error)).toEqual(
    new Error("no answer"),
  );
  rig.list = list;
  expect(await rig.countLists()).toBe(1);
});

test("PoolCache gives the same spec as long as a pool has the same version", async () => {
  const rig = new Rig();
  await rig.countLists();
  const spec = rig.memory.pools.get("a");
  rig.memory.doubt();
  await rig.countLists();
  expect(rig.memory.pools.get("a")).toBe(spec);
});

test("PoolCache says which pools cannot be read, and why", async () => {
  const rig = new Rig();
  rig.stored = [{ ...pool("1"), spec: { subnet: "x" } }];
  await rig.countLists();
  expect(rig.memory.pools.size).toBe(0);
  expect([...rig.memory.damaged]).toEqual([
    ["a", expect.stringMatching(/^spec\.subnet: must be a subnet in CIDR form/)],
  ]);
});

test("close() ends the subscription", () => {
  const rig = new Rig();
  rig.memory.close();
  expect(rig.listener).toBeUndefined();
});
