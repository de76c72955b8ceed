/**
 * What proves that the VM of a Node is powered off.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import {
  FakeXenOrchestra,
  HOST_PARIS_1,
  HOST_PARIS_2,
  NODE,
  POOL_LYON,
  POOL_PARIS,
  toDeps,
  toSettings,
  WORKER_1,
  WORKER_1_SWAPPED,
} from "./fake_server.ts";
import type { PowerReading, ProvenOff } from "../../../lib/cloud/capabilities/proven_off.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import { type ChangingProvider, createChanging } from "../../support/cloud/changing_provider.ts";
import type { ManualClock } from "../../support/manual_clock.ts";

const signal = new AbortController().signal;

let fake: FakeXenOrchestra;
let provider: Provider;

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
