import { describe, expect, test } from "bun:test";
import { swapUuid } from "../../../lib/core/text/values.ts";
import {
  createDemoWorld,
  createFleet,
  type DemoWorld,
} from "../../../lib/simulator/xenorchestra/demo_world.ts";
import type { Collection } from "../../../lib/simulator/xenorchestra/records.ts";

function ids({ world }: DemoWorld, collection: Collection): Set<string> {
  return new Set((world[collection] ?? []).map(({ id }) => id));
}

describe("createDemoWorld()", () => {
  const demo = createDemoWorld();

  test("has two pools, five hosts and a dozen VMs, the same each time", () => {
    const sizes = (["pools", "hosts", "vms"] as const).map((one) => ids(demo, one).size);
    expect(sizes).toEqual([2, 5, 12]);
    expect(createDemoWorld()).toEqual(demo);
  });

  test("has names that are no labels, and a UEFI machine that reports swapped bytes", () => {
    const names = (demo.world.vms ?? []).map((vm) => vm["name_label"]);
    expect(names).toContain("nœud-1");
    const uefi = demo.machines.get("worker-uefi");
    expect(uefi?.systemUuid).not.toBe(uefi?.vmId);
    expect(swapUuid(uefi?.systemUuid ?? "")).toBe(uefi?.vmId ?? "-");
  });

  test("keeps the late machine out", () => {
    expect(ids(demo, "vms").has(demo.late.machine.vmId)).toBe(false);
    expect(demo.late.machine.address).toBe("10.20.0.99");
  });

  test("knows every pool, host and VM that it refers to", () => {
    for (const pool of demo.world.pools ?? []) {
      expect(ids(demo, "hosts").has(String(pool["master"]))).toBe(true);
    }
    for (const host of demo.world.hosts ?? []) {
      expect(ids(demo, "pools").has(String(host["$pool"]))).toBe(true);
      expect(ids(demo, "vm-controllers").has(String(host["controlDomain"]))).toBe(true);
    }
    for (const { vmId } of demo.machines.values()) expect(ids(demo, "vms").has(vmId)).toBe(true);
  });
});

test.each([1, 501, 1_000])(
  "createFleet(%p) has as many machines, each with an address of its own",
  (count) => {
    const fleet = createFleet(count);
    expect(ids(fleet, "vms").size).toBe(count);
    expect(new Set([...fleet.machines.values()].map(({ address }) => address)).size).toBe(count);
    expect(ids(fleet, "pools").size).toBe(Math.ceil(count / 500));
    const hosts = ids(fleet, "hosts");
    const placed = (fleet.world.vms ?? []).every((vm) => hosts.has(String(vm["$container"])));
    expect(placed).toBe(true);
  },
);

test.each([1, 25, 26, 501, 1_001])(
  "createFleet(%p) has a second host in each pool, to which a machine can move",
  (count) => {
    const { pools = [], hosts = [] } = createFleet(count).world;
    for (const { id } of pools) {
      expect(hosts.filter((host) => host["$pool"] === id).length).toBeGreaterThan(1);
    }
  },
);
