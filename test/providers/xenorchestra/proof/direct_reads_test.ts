/**
 * Direct reads: a VM's copy in another pool is not a Node's machine, and only proven off is off.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Inventory } from "../../../../lib/cloud/inventory/inventory.ts";
import type { Instance, NodeIdentity } from "../../../../lib/cloud/instance.ts";
import type { Provider } from "../../../../lib/cloud/provider.ts";
import { swapUuid } from "../../../../lib/core/text/uuid.ts";
import {
  createProvider,
  FakeXenOrchestra,
  HOST_PARIS_1,
  HOST_PARIS_2,
  NODE,
  POOL_LYON,
  POOL_PARIS,
  type Shown,
  toDeps,
  toSettings,
  WORKER_1,
  WORKER_1_SWAPPED,
} from "../fake_server.ts";
import type { PowerReading, ProvenOff } from "../../../../lib/cloud/capabilities/proven_off.ts";
import { xenOrchestra } from "../../../../lib/providers/xenorchestra/mod.ts";
import { type ChangingProvider, createChanging } from "../../../support/cloud/changing_provider.ts";
import type { ManualClock } from "../../../support/manual_clock.ts";

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

const HALTED = { power_state: "Halted", $container: POOL_PARIS, current_operations: {} };
const RUNNING = { power_state: "Running", $container: HOST_PARIS_2 };
const HOST_LABEL = "topology.k8s.xenorchestra/host_id";
const POOL_LABEL = "topology.k8s.xenorchestra/pool_id";
let clock: ManualClock;
let change: ChangingProvider<ReturnType<typeof toSettings>>["change"];
let inventory: Inventory;

async function look(node: NodeIdentity = NODE): Promise<void> {
  inventory = await provider.listInventory([node], signal);
}

function provenOff(): ProvenOff {
  if (provider.provenOff === undefined) throw new TypeError("it has the capability");
  return provider.provenOff;
}

function isShownOff(node: NodeIdentity = NODE, labels: Record<string, string> = {}): boolean {
  return provenOff().isShownOff({ inventory, node, labels });
}

function read(
  node: NodeIdentity = NODE,
  labels: Record<string, string> = {},
): Promise<PowerReading> {
  return provenOff().readPower({ inventory, node, labels }, signal);
}

/** A process that starts now. @param asked Whether a controller asks for the power of VMs */
function restart(asked: "prepared" | "unprepared" = "prepared"): void {
  const deps = toDeps();
  ({ clock } = deps);
  ({ provider, change } = createChanging(xenOrchestra, toSettings(fake.url), deps));
  if (asked === "prepared") provenOff().prepare?.();
}

describe("power", () => {
  beforeEach(async () => {
    fake = new FakeXenOrchestra();
    restart();
    // Seen running, then halted.
    fake.change("vms", WORKER_1, RUNNING);
    await look();
    fake.change("vms", WORKER_1, HALTED);
    await look();
    fake.seen.length = 0;
  });
  afterEach(() => fake.stop());

  describe("prepare()", () => {
    /** Seen running, then halted. Only the memory of the process says where it ran. */
    async function halt(server: FakeXenOrchestra): Promise<void> {
      server.change("vms", WORKER_1, RUNNING);
      await look();
      server.change("vms", WORKER_1, HALTED);
      await look();
    }

    test("lets the provider remember where VMs run, which it does not before", async () => {
      restart("unprepared");
      await halt(fake);
      expect(isShownOff()).toBe(false);
      provenOff().prepare?.();
      await halt(fake);
      expect(isShownOff()).toBe(true);
    });

    test("holds for another Xen Orchestra, too", async () => {
      const other = new FakeXenOrchestra();
      try {
        expect(change(toSettings(other.url))).toBe("otherCloud");
        await halt(other);
        expect(isShownOff()).toBe(true);
      } finally {
        await other.stop();
      }
    });
  });

  test("is proven by no read between a change of the settings and the next inventory", async () => {
    expect(await read()).toMatchObject({ kind: "off" });
    fake.seen.length = 0;
    change(toSettings(fake.url, { token: "other" }));
    expect(await read()).toMatchObject({ kind: "unproven" });
    expect(fake.seen).toEqual([]);
    await look();
    expect(await read()).toMatchObject({ kind: "off" });
  });

  describe("isShownOff()", () => {
    test("holds for a VM that this process saw run in the same pool", () => {
      expect(isShownOff()).toBe(true);
    });

    test.each(["Running", "Suspended", "Paused", "halted", ""])(
      "does not hold for a VM that is shown as %p",
      async (power_state) => {
        fake.change("vms", WORKER_1, { power_state });
        await look();
        expect(isShownOff()).toBe(false);
      },
    );

    test.each<[string, NodeIdentity]>([
      ["has no provider ID", { name: "w1", systemUuid: WORKER_1 }],
      ["is named like the VM", { name: "k8s-worker-1" }],
      ["reports another machine", { ...NODE, systemUuid: "0f7a2c34-0000-4000-8000-000000000001" }],
      ["is of another cloud", { name: "w1", providerId: `aws:///${WORKER_1}` }],
    ])("does not hold for a Node that %s", (_what, node) => {
      expect(isShownOff(node)).toBe(false);
    });

    test("holds whichever way the firmware reports the UUID of the VM", () => {
      expect(isShownOff({ ...NODE, systemUuid: WORKER_1 })).toBe(true);
      expect(isShownOff({ ...NODE, systemUuid: WORKER_1_SWAPPED })).toBe(true);
    });

    test("does not hold for a copy in another pool, whether the first pool is shown or lost", async () => {
      fake.change("vms", WORKER_1, { ...HALTED, $pool: POOL_LYON, $container: POOL_LYON });
      await look();
      await look();
      expect(isShownOff()).toBe(false);
      fake.dropPool(POOL_PARIS);
      await look();
      expect(isShownOff()).toBe(false);
    });

    test("does not hold while any pool is lost", async () => {
      fake.dropPool(POOL_LYON);
      await look();
      expect(isShownOff()).toBe(false);
    });

    test("does not hold for ten minutes after a migration, whatever is shown since", async () => {
      fake.change("vms", WORKER_1, { ...RUNNING, current_operations: { t: "migrate_send" } });
      await look();
      fake.change("vms", WORKER_1, HALTED);
      await look();
      await clock.advance(599_000);
      expect(isShownOff()).toBe(false);
      await clock.advance(1_000);
      expect(isShownOff()).toBe(true);
    });

    describe("after a start that found the VM halted", () => {
      beforeEach(async () => {
        restart();
        await look();
      });

      test.each<[string, NodeIdentity, Record<string, string>, boolean]>([
        ["nothing", NODE, {}, false],
        ["the host", NODE, { [HOST_LABEL]: HOST_PARIS_2 }, true],
        ["host and pool", { ...NODE, region: POOL_PARIS }, { [HOST_LABEL]: HOST_PARIS_2 }, true],
        [
          "another pool than the provider ID",
          { ...NODE, region: POOL_LYON },
          { [HOST_LABEL]: HOST_PARIS_2 },
          false,
        ],
        [
          "another pool than the provider ID, under a region with a name of its own",
          { ...NODE, region: "eu", labels: { [POOL_LABEL]: POOL_LYON } },
          { [HOST_LABEL]: HOST_PARIS_2 },
          false,
        ],
        [
          "two pools",
          { ...NODE, region: POOL_LYON, labels: { [POOL_LABEL]: POOL_PARIS } },
          { [HOST_LABEL]: HOST_PARIS_2 },
          false,
        ],
      ])("where the labels tell %s", (_what, node, labels, expected) => {
        expect(isShownOff(node, labels)).toBe(expected);
      });
    });
  });

  describe("readPower()", () => {
    test("says off when everything around the VM answers, and asks for the VM last", async () => {
      expect(await read()).toMatchObject({
        kind: "off",
        evidence: expect.stringContaining("Halted"),
      });
      expect(fake.paths.map((path) => path.split("?")[0])).toEqual([
        "/servers",
        `/pools/${POOL_PARIS}`,
        `/hosts/${HOST_PARIS_2}`,
        `/vms/${WORKER_1}`,
      ]);
    });

    test("says off without the right to read the connections", async () => {
      fake.collections["servers"] = [];
      expect(await read()).toMatchObject({ kind: "off" });
    });

    test("proves nothing of a VM that it never saw run, without the right to read the connections", async () => {
      restart();
      await look();
      const labels = { [HOST_LABEL]: HOST_PARIS_2 };
      expect(await read(NODE, labels)).toMatchObject({ kind: "off" });
      fake.collections["servers"] = [];
      expect(await read(NODE, labels)).toMatchObject({
        kind: "unproven",
        message: expect.stringContaining("connections"),
      });
    });

    test.each(["Running", "Suspended", "Paused"])(
      "says on for a VM that is %s by now",
      async (power_state) => {
        fake.change("vms", WORKER_1, { power_state });
        expect(await read()).toEqual({ kind: "on" });
      },
    );

    test.each<[string, () => void]>([
      [
        "is about to start",
        () => fake.change("vms", WORKER_1, { current_operations: { t: "start" } }),
      ],
      [
        "is being migrated",
        () => fake.change("vms", WORKER_1, { current_operations: { t: "pool_migrate" } }),
      ],
      [
        "is shown without what is being done to it",
        () => fake.change("vms", WORKER_1, { current_operations: undefined }),
      ],
      [
        "is shown with operations that cannot be read",
        () => fake.change("vms", WORKER_1, { current_operations: "start" }),
      ],
      ["is gone", () => fake.remove("vms", WORKER_1)],
      ["is in another pool", () => fake.change("vms", WORKER_1, { $pool: POOL_LYON })],
      ["ran on a host that is gone", () => fake.remove("hosts", HOST_PARIS_2)],
      [
        "ran on a host that is down",
        () => fake.change("hosts", HOST_PARIS_2, { power_state: "Halted" }),
      ],
      [
        "ran on a host without a known state",
        () => fake.change("hosts", HOST_PARIS_2, { power_state: undefined }),
      ],
      [
        "ran on a host of another pool by now",
        () => fake.change("hosts", HOST_PARIS_2, { $pool: POOL_LYON }),
      ],
      ["is in a pool that is lost by now", () => fake.dropPool(POOL_PARIS)],
      ["may be in another pool that is lost by now", () => fake.dropPool(POOL_LYON)],
      [
        "is said of by a cloud that fails",
        () => (fake.answer = () => new Response("", { status: 500 })),
      ],
    ])("proves nothing of a VM that %s", async (_what, prepare) => {
      prepare();
      expect(await read()).toMatchObject({ kind: "unproven", message: expect.any(String) });
    });

    test("follows a VM to the host that it was last read on by itself", async () => {
      fake.change("vms", WORKER_1, { ...RUNNING, $container: HOST_PARIS_2 });
      await look();
      fake.change("vms", WORKER_1, { $container: HOST_PARIS_1 });
      await provider.changes?.readInstances?.(new Set([WORKER_1]), signal);
      fake.change("vms", WORKER_1, HALTED);
      await look();
      fake.seen.length = 0;
      expect(await read()).toMatchObject({ kind: "off" });
      expect(fake.paths).toContain(`/hosts/${HOST_PARIS_1}`);
    });

    test("asks nothing when the inventory does not show the VM as off", async () => {
      fake.change("vms", WORKER_1, RUNNING);
      await look();
      fake.seen.length = 0;
      expect(await read()).toMatchObject({ kind: "unproven" });
      expect(fake.seen).toEqual([]);
    });

    test("rejects when the signal aborts", async () => {
      const aborted = AbortSignal.abort(new Error("stop"));
      const question = { inventory, node: NODE, labels: {} };
      expect(provenOff().readPower(question, aborted)).rejects.toThrow("stop");
    });
  });
});
