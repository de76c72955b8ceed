/**
 * The VM of a Node: a copy of it in another pool is not the Node's machine.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Instance, NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import { swapUuid } from "../../../lib/core/text/values.ts";
import {
  createProvider,
  FakeXenOrchestra,
  HOST_PARIS_2,
  NODE,
  POOL_LYON,
  POOL_PARIS,
  type Shown,
  WORKER_1,
} from "./fake_server.ts";

const signal = new AbortController().signal;
/** Its machine moved to Lyon long ago. */
const MOVED: NodeIdentity = { ...NODE, region: POOL_LYON };
const UNMATCHED: NodeIdentity = { name: "w1", systemUuid: WORKER_1 };

let fake: FakeXenOrchestra;
let provider: Provider;
let machine: Shown;

/** Paris is lost, and the copy of the machine shows in Lyon. */
function showCopy(power = "Halted", poolId = POOL_LYON): void {
  fake.dropPool(POOL_PARIS);
  fake.list("vms").push({ ...machine, $pool: poolId, $container: poolId, power_state: power });
}

/** What every reader says of a Node. */
async function readAll(node: NodeIdentity, ...others: NodeIdentity[]): Promise<string[]> {
  const inventory = await provider.listInventory([node, ...others], signal);
  const found = provider.findInstance(inventory, node);
  const read = await provider.readInstance(inventory, node, signal);
  return [found, read].map((presence) => {
    if (presence.kind === "present") return `present in ${toName(presence.instance.region)}`;
    return presence.kind === "unknown" ? `unknown ${presence.reason}` : presence.kind;
  });
}

function toName(poolId: string | undefined): string {
  return poolId === POOL_LYON ? "Lyon" : poolId === POOL_PARIS ? "Paris" : String(poolId);
}

async function readHinted(): Promise<ReadonlyMap<string, Instance>> {
  return (await provider.changes?.readInstances?.(new Set([WORKER_1]), signal)) ?? new Map();
}

const UNKNOWN = ["unknown notCovered", "unknown notCovered"];
const IN_PARIS = ["present in Paris", "present in Paris"];
const IN_LYON = ["present in Lyon", "present in Lyon"];

describe("direct reads", () => {
  beforeEach(() => {
    fake = new FakeXenOrchestra();
    provider = createProvider(fake);
    machine = { ...fake.list("vms").find(({ id }) => id === WORKER_1), id: WORKER_1 };
  });
  afterEach(() => fake.stop());

  describe("a VM whose pool is lost, and that shows up in another", () => {
    test.each([
      ["halted: it is not known, as often as one looks", "Halted", UNKNOWN],
      ["suspended: it is not known", "Suspended", UNKNOWN],
      ["paused: it is not known", "Paused", UNKNOWN],
      ["in no state that is known: it is not known", "Dreaming", UNKNOWN],
      ["running: it moved", "Running", IN_LYON],
    ])("%s", async (_title, power, expected) => {
      expect(await readAll(NODE)).toEqual(IN_PARIS);
      showCopy(power);
      for (let times = 0; times < 3; times += 1) expect(await readAll(NODE)).toEqual(expected);
    });

    test.each([
      ["by the provider ID", NODE, UNKNOWN],
      ["by the region label, which says that it is at home there", MOVED, IN_LYON],
      [
        "by the label of the pool, where the region has a label of its own",
        { ...NODE, region: "lyon-dc", labels: { "topology.k8s.xenorchestra/pool_id": POOL_LYON } },
        IN_LYON,
      ],
      [
        "not at all, for a Node that was never matched, and what is halted is not taken",
        UNMATCHED,
        UNKNOWN,
      ],
    ])("after a start its pool is known %s", async (_title, node, expected) => {
      showCopy();
      for (let times = 0; times < 2; times += 1) expect(await readAll(node)).toEqual(expected);
    });

    test("what this process saw counts more than the label", async () => {
      expect(await readAll(MOVED)).toEqual(IN_PARIS);
      showCopy();
      expect(await readAll(MOVED)).toEqual(UNKNOWN);
    });

    test("halted, it is there once the lost pool is back, and does not have it", async () => {
      await readAll(NODE);
      const before = structuredClone(fake.collections);
      showCopy();
      const copies = fake.list("vms");
      await readAll(NODE);
      Object.assign(fake.collections, before, { vms: copies });
      expect(await readAll(NODE)).toEqual(IN_LYON);
      // Lyon is where it is known now.
      fake.dropPool(POOL_PARIS);
      expect(await readAll(NODE)).toEqual(IN_LYON);
    });

    test("and is gone from there, too: it may be in the lost pool", async () => {
      await readAll(NODE);
      showCopy();
      await readAll(NODE);
      fake.remove("vms", WORKER_1);
      expect(await readAll(NODE)).toEqual(UNKNOWN);
    });

    test("halted, it is not known when the list of pools is older than the loss", async () => {
      await readAll(NODE);
      const pools = structuredClone(fake.list("pools"));
      const hosts = structuredClone(fake.list("hosts"));
      showCopy();
      fake.answer = ({ path }) => {
        if (path.startsWith("/pools?")) return Response.json(pools);
        return path.startsWith("/hosts?") ? Response.json(hosts) : undefined;
      };
      expect(await readAll(NODE)).toEqual(UNKNOWN);
      fake.answer = () => undefined;
      expect(await readAll(NODE)).toEqual(UNKNOWN);
    });

    test("halted, a hint does not bring it into an inventory from before the loss", async () => {
      const inventory = await provider.listInventory([NODE], signal);
      showCopy();
      expect((await readHinted()).size).toBe(0);
      expect((await provider.readInstance(inventory, NODE, signal)).kind).toBe("unknown");
      expect(await readAll(NODE)).toEqual(UNKNOWN);
      expect((await readHinted()).size).toBe(0);
    });

    test("running, a hint brings it there", async () => {
      await provider.listInventory([NODE], signal);
      showCopy("Running");
      fake.change("vms", WORKER_1, { $container: fake.list("hosts")[0]?.id });
      expect((await readHinted()).get(WORKER_1)?.region).toBe(POOL_LYON);
    });

    test("costs no request as long as nothing shows up elsewhere", async () => {
      await provider.listInventory([NODE], signal);
      fake.seen.length = 0;
      fake.change("vms", WORKER_1, { power_state: "Halted", $container: POOL_PARIS });
      await provider.listInventory([NODE], signal);
      expect(fake.paths.filter((path) => path.startsWith("/pools/"))).toEqual([]);
    });
  });

  describe("a Node that was never matched", () => {
    const SWAPPED: NodeIdentity = { name: "w1", systemUuid: swapUuid(WORKER_1) };

    test.each([
      ["Halted", UNMATCHED, UNKNOWN],
      ["Suspended", UNMATCHED, UNKNOWN],
      ["Paused", UNMATCHED, UNKNOWN],
      ["Running", UNMATCHED, IN_PARIS],
      [undefined, UNMATCHED, IN_PARIS],
      ["Halted", SWAPPED, ["unknown notListed", "unknown notCovered"]],
      ["Running", SWAPPED, ["unknown notListed", "present in Paris"]],
    ])("whose VM is shown as %p", async (power_state, node, expected) => {
      fake.change("vms", WORKER_1, { power_state });
      expect(await readAll(node)).toEqual(expected);
    });

    test("waits by its byte-swapped UUID, too, and goes on when its VM runs", async () => {
      fake.change("vms", WORKER_1, { power_state: "Halted" });
      await readAll(SWAPPED);
      expect(await readAll(SWAPPED)).toEqual(UNKNOWN);
      fake.change("vms", WORKER_1, { power_state: "Running" });
      expect(await readAll(SWAPPED)).toEqual(IN_PARIS);
    });

    test.each([true, false])(
      "does not make a halted copy count as seen, whether this process saw its VM (%p)",
      async (isSeen) => {
        if (isSeen) await readAll(NODE);
        showCopy();
        expect(await readAll(UNMATCHED)).toEqual(UNKNOWN);
        // As if it was initialised in between: known is Paris, not where the copy is.
        expect(await readAll(NODE)).toEqual(UNKNOWN);
      },
    );

    test('by "pools" it is not taken from another Landfall by a halted copy', async () => {
      provider = createProvider(fake, { pools: [POOL_LYON] });
      await provider.listInventory([], signal);
      showCopy();
      expect(await readAll(UNMATCHED)).toEqual(UNKNOWN);
    });

    test("gets no byte-swapped twin while the pool of its own VM is lost", async () => {
      const twin = swapUuid(WORKER_1);
      fake
        .list("vms")
        .push({ ...fake.list("vms").find(({ $pool }) => $pool === POOL_LYON), id: twin });
      await provider.listInventory([], signal);
      const before = structuredClone(fake.collections);
      fake.dropPool(POOL_PARIS);
      for (let times = 0; times < 2; times += 1) {
        expect(await readAll(UNMATCHED)).toEqual(["unknown notListed", "unknown notCovered"]);
      }
      Object.assign(fake.collections, before);
      expect(await readAll(UNMATCHED)).toEqual(IN_PARIS);
    });

    test("gets its byte-swapped VM although another Node names a pool that was never shown", async () => {
      const other = { name: "w2", providerId: `xenorchestra://${HOST_PARIS_2}/${HOST_PARIS_2}` };
      for (const expected of [["unknown notListed", "present in Paris"], IN_PARIS]) {
        expect(await readAll(SWAPPED, other)).toEqual(expected);
      }
    });

    test("gets no byte-swapped VM by an older 404 while a pool is lost", async () => {
      expect(await readAll(SWAPPED)).toEqual(["unknown notListed", "present in Paris"]);
      expect(await readAll(SWAPPED)).toEqual(IN_PARIS);
      fake.dropPool(POOL_LYON);
      expect(await readAll(SWAPPED)).toEqual(UNKNOWN);
    });
  });
});
