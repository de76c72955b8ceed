import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Inventory } from "../../../../lib/cloud/inventory/inventory.ts";
import type { NodeIdentity, Provider } from "../../../../lib/cloud/provider.ts";
import { createLogger } from "../../../../lib/core/log.ts";
import { parseIdentity } from "../../../../lib/providers/xenorchestra/model/identity.ts";
import {
  NamedPools,
  withNamedPools,
} from "../../../../lib/providers/xenorchestra/scope/named_pools.ts";
import { PoolScope } from "../../../../lib/providers/xenorchestra/scope/pool_scope.ts";
import { toUuid } from "../../../../lib/simulator/uuid.ts";
import {
  createProvider,
  FakeXenOrchestra,
  POOL_LYON,
  POOL_PARIS,
  toDeps,
  WORKER_1,
  NODE as PARIS,
} from "../fake_server.ts";

const signal = new AbortController().signal;
const ALL = new PoolScope(undefined, new Map());
const NO_LISTS: Inventory = {
  observedAtMs: 0,
  instances: new Map(),
  coverage: new Map(),
  undecodable: new Map(),
};

let fake: FakeXenOrchestra;
let provider: Provider;
let lines: string[];
beforeEach(() => {
  fake = new FakeXenOrchestra();
  lines = [];
  const log = createLogger({ format: "json", write: (line) => lines.push(line), now: () => 0 });
  provider = createProvider(fake, {}, toDeps({ log }));
});
afterEach(() => fake.stop());

function listWarnings(): object[] {
  return lines.map((line) => JSON.parse(line)).filter(({ level }) => level === "warn");
}

/** A VM of the other pool, and its Node. */
function findLyon(): { id: string; node: NodeIdentity } {
  const id = fake.list("vms").find((one) => one["$pool"] === POOL_LYON)?.id ?? "";
  return { id, node: { name: "l1", providerId: `xenorchestra://${POOL_LYON}/${id}` } };
}

describe("a start while a pool is cut", () => {
  test("shows the pool that a Node names as not covered, and says so once", async () => {
    fake.dropPool(POOL_PARIS);
    const first = await provider.listInventory([PARIS], signal);
    expect(first.coverage.get(POOL_PARIS)).toMatchObject({ complete: false });
    expect(first.coverage.get(POOL_LYON)?.complete).toBe(true);
    // The very same lists, and then without the Node.
    const second = await provider.listInventory([PARIS], signal);
    expect(second.coverage.get(POOL_PARIS)).toMatchObject({ complete: false });
    const third = await provider.listInventory([], signal);
    expect(third.coverage.has(POOL_PARIS)).toBe(false);
    expect(listWarnings()).toMatchObject([{ pool: POOL_PARIS }]);
    expect(listWarnings()).toHaveLength(1);
  });

  test("keeps the Nodes of that pool and of no other", async () => {
    fake.dropPool(POOL_PARIS);
    // It is not coming back, and nobody knows.
    fake.collections["servers"] = fake.list("servers").filter((one) => one["poolId"] === POOL_LYON);
    const { id, node } = findLyon();
    await provider.listInventory([PARIS, node], signal);
    fake.remove("vms", id);
    const inventory = await provider.listInventory([PARIS, node], signal);
    expect(provider.findInstance(inventory, PARIS)).toMatchObject({ reason: "notCovered" });
    expect(provider.findInstance(inventory, node)).toMatchObject({ reason: "notListed" });
    expect((await provider.readInstance(inventory, node, signal)).kind).toBe("absent");
    expect((await provider.readInstance(inventory, PARIS, signal)).kind).toBe("unknown");
  });

  test("says once that no pool is shown at all", async () => {
    for (const name of Object.keys(fake.collections)) fake.collections[name] = [];
    const { coverage } = await provider.listInventory([PARIS], signal);
    expect([...coverage.keys()]).toEqual([POOL_PARIS]);
    await provider.listInventory([PARIS], signal);
    const messages = lines.filter((line) => line.includes("Xen Orchestra shows no pool"));
    expect(messages).toHaveLength(1);
  });
});

describe("withNamedPools()", () => {
  test("leaves the inventory as it is when every pool is known, or no Node needs one", async () => {
    const inventory = await provider.listInventory([PARIS], signal);
    expect(withNamedPools(inventory, [parseIdentity(PARIS)], ALL)).toBe(inventory);
    // Its VM moved: the pool of its provider ID may be gone for good.
    const moved = { name: "w1", providerId: `xenorchestra://${toUuid("gone")}/${WORKER_1}` };
    expect(withNamedPools(inventory, [parseIdentity(moved)], ALL)).toBe(inventory);
    expect([...inventory.coverage.keys()].sort()).toEqual([POOL_LYON, POOL_PARIS].sort());
  });

  test("does not take a label's word for a pool, nor what names none", () => {
    const nodes: NodeIdentity[] = [
      { name: "a", systemUuid: WORKER_1, region: POOL_PARIS },
      { name: "b", providerId: `xenorchestra:///${WORKER_1}`, region: POOL_PARIS },
      { name: "c", providerId: "aws:///zone/i-1", region: POOL_PARIS },
    ];
    expect(withNamedPools(NO_LISTS, nodes.map(parseIdentity), ALL)).toBe(NO_LISTS);
  });

  test("names a bounded number of pools, however many are made up", () => {
    const nodes = Array.from({ length: 1_000 }, (_, at) => ({
      name: `n${at}`,
      providerId: `xenorchestra://${toUuid(`pool/${at}`)}/${toUuid(`vm/${at}`)}`,
    }));
    expect(withNamedPools(NO_LISTS, nodes.map(parseIdentity), ALL).coverage.size).toBe(64);
  });
});

describe("NamedPools", () => {
  test("reports a pool again when it was shown, or no Node named it, meanwhile", () => {
    const told: string[] = [];
    const log = createLogger({ format: "json", write: (line) => told.push(line), now: () => 0 });
    const pools = new NamedPools(ALL, log);
    const paris = parseIdentity(PARIS);
    for (const named of [[paris], [paris], [], [paris]]) pools.addTo(NO_LISTS, named);
    expect(told.filter((line) => line.includes(POOL_PARIS))).toHaveLength(2);
  });
});
