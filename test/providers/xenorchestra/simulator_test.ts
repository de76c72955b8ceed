/**
 * Whatever goes wrong on the way or in Xen Orchestra, a VM that is there is never called absent.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../../lib/core/clock.ts";
import type { Inventory } from "../../../lib/cloud/inventory.ts";
import type { NodeIdentity, Provider } from "../../../lib/cloud/provider.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type Fault,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { toDeps, toSettings } from "./fake_server.ts";

const signal = new AbortController().signal;

let simulator: XenOrchestraSimulator;
let provider: Provider;
let inventory: Inventory;
let node: NodeIdentity & { providerId: string };
let vmId: string;
let poolId: string;

async function read(): Promise<string> {
  const presence = await provider.readInstance(inventory, node, signal);
  return presence.kind === "unknown" ? `unknown ${presence.reason}` : presence.kind;
}

beforeEach(async () => {
  const { world, machines } = createDemoWorld();
  simulator = await startXenOrchestraSimulator({ clock: systemClock, world });
  vmId = machines.get("worker-1")?.systemUuid ?? "";
  poolId = String(simulator.state.read("vms", vmId)?.["$pool"]);
  node = { name: "worker-1", providerId: `xenorchestra://${poolId}/${vmId}` };
  const settings = toSettings(simulator.url, { token: simulator.token, clientTimeout: "300ms" });
  provider = xenOrchestra.create(settings, toDeps());
  inventory = await provider.listInventory([node], signal);
});
afterEach(() => simulator.stop());

describe("readInstance() against the simulator", () => {
  test("finds the VM, and proves its absence once it is removed", async () => {
    expect(await read()).toBe("present");
    simulator.state.removeVm(vmId);
    inventory = await provider.listInventory([node], signal);
    expect(await read()).toBe("absent");
  });

  test.each<[string, Fault, string]>([
    ["dropped connections", { kind: "reset" }, "unknown unreachable"],
    ["no answer", { kind: "hang" }, "unknown unreachable"],
    ["half an answer", { kind: "halfBody" }, "unknown"],
    ["401", { kind: "status", status: 401 }, "unknown denied"],
    ["403", { kind: "status", status: 403 }, "unknown denied"],
    ["429", { kind: "status", status: 429, retryAfterSeconds: 3 }, "unknown throttled"],
    ["500", { kind: "status", status: 500 }, "unknown unreachable"],
    ["HTML 404", { kind: "html", status: 404 }, "unknown protocol"],
    ["HTML 200", { kind: "html", status: 200 }, "unknown protocol"],
    ["{}", { kind: "json", body: {} }, "unknown undecodable"],
    [
      "a gateway's 404",
      { kind: "json", status: 404, body: { error: "not found" } },
      "unknown protocol",
    ],
    [
      "a redirect elsewhere",
      { kind: "redirect", location: "http://127.0.0.1:1/signin" },
      "unknown protocol",
    ],
    ["lost rights", { kind: "nonAdmin" }, "unknown denied"],
  ])("takes %s as unknown", async (_title, fault, expected) => {
    simulator.faults.set(fault);
    expect(await read()).toStartWith(expected);
  });

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
