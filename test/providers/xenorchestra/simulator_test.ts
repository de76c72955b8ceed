/**
 * Whatever goes wrong on the way or in Xen Orchestra, a VM that is there is never called absent.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import { swapUuid } from "../../../lib/core/text/values.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type Fault,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { until } from "../../support/nodes/rig.ts";
import { toDeps, toSettings } from "./fake_server.ts";

const signal = new AbortController().signal;

let simulator: XenOrchestraSimulator;
let provider: Provider;
let inventory: Inventory;
let node: NodeIdentity & { providerId: string };
let vmId: string;
let poolId: string;
let otherPoolId: string;
/** The simulator's, and the client's own. */
let clock: ManualClock;
let clientClock: ManualClock;

async function read(): Promise<string> {
  const presence = await provider.readInstance(inventory, node, signal);
  return presence.kind === "unknown" ? `unknown ${presence.reason}` : presence.kind;
}

/** Landfall as after a start. */
function start(): Provider {
  const deps = toDeps();
  clientClock = deps.clock;
  const more = { token: simulator.token, clientTimeout: "300ms" };
  return xenOrchestra.create(toSettings(simulator.url, more), deps);
}

/** Lets the client's time pass with the real one, for what nobody answers. */
async function patiently<T>(work: Promise<T>): Promise<T> {
  const progress = { isDone: false };
  const done = work.finally(() => (progress.isDone = true));
  while (!progress.isDone) {
    await Bun.sleep(5);
    await clientClock.advance(5);
  }
  return await done;
}

beforeEach(async () => {
  const { world, machines } = createDemoWorld();
  clock = new ManualClock();
  simulator = await startXenOrchestraSimulator({ clock, world });
  vmId = machines.get("worker-1")?.systemUuid ?? "";
  poolId = String(simulator.state.read("vms", vmId)?.["$pool"]);
  otherPoolId = [...simulator.state.all("pools").keys()].find((id) => id !== poolId) ?? "";
  node = { name: "worker-1", providerId: `xenorchestra://${poolId}/${vmId}` };
  provider = start();
  inventory = await provider.listInventory([node], signal);
  // They are looked at behind the first inventory, and would take a fault that is meant for another question.
  await until("connections are read", () => simulator.requests.count("GET /servers") > 0);
});
afterEach(() => simulator.stop());

describe("readInstance() against the simulator", () => {
  test("finds the VM, and proves its absence once it is removed", async () => {
    expect(await read()).toBe("present");
    simulator.state.removeVm(vmId);
    inventory = await provider.listInventory([node], signal);
    expect(await read()).toBe("absent");
  });

  test.each([
    ["as it is", (id: string) => id],
    ["byte-swapped", swapUuid],
  ])(
    "doubts a provider ID while the kubelet reports another VM that is there, %s",
    async (_form, toReported) => {
      const other = simulator.state.list("vms").find(({ id }) => id !== vmId)?.id ?? "";
      simulator.state.removeVm(vmId);
      const restored = { ...node, systemUuid: toReported(other).toUpperCase() };
      // A list that was asked before the Node was known does not show it.
      const early = await provider.listInventory([node], signal);
      expect(await provider.readInstance(early, restored, signal)).toMatchObject({
        reason: "ambiguous",
        message: expect.stringContaining(other),
      });
      simulator.state.removeVm(other);
      const presence = await provider.readInstance(early, restored, signal);
      expect(presence.kind).toBe("absent");
    },
  );

  test("is unsure while the pool is lost, and while Xen Orchestra restarts with slow pools", async () => {
    simulator.state.dropPool(poolId);
    expect(await read()).toBe("unknown notCovered");
    inventory = await provider.listInventory([node], signal);
    expect(await read()).toBe("unknown notCovered");
    simulator.state.restart({ loadedAfterMs: 60_000 });
    inventory = await provider.listInventory([node], signal);
    expect(await read()).toBe("unknown notCovered");
  });

  test("is unsure while the pool is shown without its VMs", async () => {
    simulator.state.hideVms(poolId);
    inventory = await provider.listInventory([node], signal);
    expect(await read()).toBe("unknown notCovered");
  });
});

describe("every way a cloud can mislead", () => {
  const MINUTE_MS = 60_000;
  const SIGN_IN = "http://127.0.0.1:1/signin";

  /** What the newest list says of the VM, and what asking for it says. A list that fails says nothing new. */
  async function observe(): Promise<[string, string]> {
    const next = await provider.listInventory([node], signal).catch(() => undefined);
    const presence = next && provider.findInstance(next, node);
    inventory = next ?? inventory;
    const said = presence?.kind === "unknown" ? presence.reason : (presence?.kind ?? "no list");
    return [said, await read()];
  }

  const set = (fault: Fault, route?: string): (() => void) =>
    simulator.faults.set(fault, route === undefined ? {} : { route });
  const gateway = (body: object): Fault => ({ kind: "json", status: 404, body });

  /** What happens, what is seen meanwhile, and for how long it lasts; it may give back what ends it. */
  const rows: [string, () => unknown, string, string, number?][] = [
    ["a pool is lost for 1.5 s", () => drop(1_500), "notCovered", "notCovered", 1_500],
    ["it stays away for a minute", () => drop(1_500), "notCovered", "notCovered", MINUTE_MS],
    ["a pool is lost for 10 min", () => drop(10 * MINUTE_MS), "notCovered", "notCovered"],
    ["a restart with slow pools", () => load(0), "notCovered", "notCovered", 14_999],
    ["pools that connect slowly", () => load(6_000), "notCovered", "notCovered", 5_000],
    ["401", () => set({ kind: "status", status: 401 }), "no list", "unknown denied"],
    ["403", () => set({ kind: "status", status: 403 }), "no list", "unknown denied"],
    ["429", () => set({ kind: "status", status: 429 }), "no list", "unknown throttled"],
    ["500", () => set({ kind: "status", status: 500 }), "no list", "unknown unreachable"],
    ["503", () => set({ kind: "status", status: 503 }), "no list", "unknown unreachable"],
    ["refused", refuse, "no list", "unknown unreachable"],
    ["reset", () => set({ kind: "reset" }), "no list", "unknown unreachable"],
    ["half a body", () => set({ kind: "halfBody" }), "no list", "unknown"],
    ["200 with HTML", () => set({ kind: "html", status: 200 }), "no list", "unknown protocol"],
    ["200 with {}", () => set({ kind: "json", body: {} }), "no list", "unknown undecodable"],
    ["200 with []", () => set({ kind: "json", body: [] }), "notCovered", "unknown undecodable"],
    ["[] for /vms", () => set({ kind: "json", body: [] }, "/vms"), "notListed", "present"],
    ["HTML 404", () => set({ kind: "html", status: 404 }), "no list", "unknown protocol"],
    ["HTML 404 for VMs", () => html("/vms/{id}"), "present", "unknown protocol"],
    ["HTML 404 for /vms", () => html("/vms"), "no list", "present"],
    ["a gateway's 404", () => set(gateway({ error: "not found" })), "no list", "unknown protocol"],
    [
      "a gateway's 404 for VMs",
      () => set(gateway({ message: "no Route matched" }), "/vms/{id}"),
      "present",
      "unknown protocol",
    ],
    [
      "a redirect",
      () => set({ kind: "redirect", location: SIGN_IN }),
      "no list",
      "unknown protocol",
    ],
    ["lists that are filtered", () => set({ kind: "nonAdmin" }), "notCovered", "unknown denied"],
    ["a filtered list of VMs", () => set({ kind: "nonAdmin" }, "/vms"), "notListed", "present"],
    ["a VM that may not be seen", forbid, "notListed", "unknown denied"],
    ["a VM that cannot be read", spoil, "undecodable", "unknown undecodable"],
    ["VMs missing from their pool", hideVms, "notListed", "unknown notCovered"],
  ];

  function drop(forMs: number): void {
    simulator.state.dropPool(poolId, forMs, MINUTE_MS);
  }
  function load(connectedAfterMs: number): void {
    simulator.state.restart({ connectedAfterMs, loadedAfterMs: 15_000 });
  }
  async function refuse(): Promise<() => Promise<void>> {
    await simulator.refuse();
    return () => simulator.accept();
  }
  function html(route: string): () => void {
    return set({ kind: "html", status: 404 }, route);
  }
  function forbid(): () => void {
    simulator.state.forbid(vmId);
    return () => simulator.state.forbid(vmId, false);
  }
  function spoil(): () => void {
    const before = { ...simulator.state.all("vms").get(vmId), id: vmId };
    simulator.state.setVm(vmId, { name_label: 42, memory: "much" });
    return () => simulator.state.put("vms", before);
  }
  function hideVms(): () => void {
    simulator.state.hideVms(poolId);
    return () => simulator.state.hideVms(poolId, false);
  }

  test.each(rows)(
    "%s: the VM is never called absent, is seen again at once, and is absent when it is gone",
    async (_title, begin, listed, answered, forMs = 0) => {
      const end: unknown = await begin();
      await clock.advance(forMs);
      const [said, direct] = await observe();
      expect([said, direct]).toEqual([listed, expect.stringContaining(answered)]);
      if (typeof end === "function") await end();
      else await clock.advance(11 * MINUTE_MS);
      // A refused token is not shown again at once.
      await clientClock.advance(11 * MINUTE_MS);
      expect(await observe()).toEqual(["present", "present"]);
      simulator.state.removeVm(vmId);
      expect(await observe()).toEqual(["notListed", "absent"]);
    },
  );

  test("Xen Orchestra restarts: a request hangs, a right token is refused, all is well again", async () => {
    await simulator.restart({ loadedAfterMs: 0 });
    expect(await patiently(read())).toBe("unknown unreachable");
    expect(await read()).toBe("unknown denied");
    await clientClock.advance(MINUTE_MS);
    expect(await observe()).toEqual(["present", "present"]);
  });

  test("two pools, one gone: the other goes on, and proves nothing while a VM may be in the lost one", async () => {
    simulator.state.dropPool(otherPoolId);
    expect(await observe()).toEqual(["present", "present"]);
    simulator.state.removeVm(vmId);
    expect(await observe()).toEqual(["notListed", "unknown partLost"]);
    simulator.state.forgetPool(otherPoolId);
    // A pool that was removed for good is known until the next start.
    expect(await observe()).toEqual(["notListed", "unknown partLost"]);
    provider = start();
    expect(await observe()).toEqual(["notListed", "absent"]);
  });

  test("after a restart of Landfall too, a VM that moved to a pool that is lost or removed is not absent", async () => {
    simulator.state.migratePool(vmId, otherPoolId);
    const moved = { ...node, region: otherPoolId };
    for (const lose of ["dropPool", "forgetPool"] as const) {
      simulator.state[lose](otherPoolId);
      provider = start();
      node = moved;
      expect(await observe()).toEqual(["notCovered", "unknown notCovered"]);
    }
  });

  test("a VM that became a template is not absent", async () => {
    simulator.state.makeTemplate(vmId);
    expect(await observe()).toEqual(["notListed", "unknown notListed"]);
  });

  test.each([
    ["is not absent, for it was shown being migrated", true, ["notCovered", "notCovered"]],
    [
      "looks as if it were gone when no list showed that: only time tells",
      false,
      ["notListed", "absent"],
    ],
  ])("a VM between two pools %s", async (_title, isSeen, expected) => {
    simulator.state.beginMigration(vmId);
    if (isSeen) expect(await observe()).toEqual(["present", "present"]);
    simulator.state.migratePool(vmId, otherPoolId, { gapMs: 20_000 });
    expect(await observe()).toEqual([
      expected[0] ?? "",
      expect.stringContaining(expected[1] ?? ""),
    ]);
    await clock.advance(20_000);
    expect(await observe()).toEqual(["present", "present"]);
    simulator.state.dropPool(otherPoolId);
    expect(await observe()).toEqual(["notCovered", "unknown notCovered"]);
  });
});
