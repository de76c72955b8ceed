import { expect, test } from "bun:test";
import { createDemoWorld, createFleet } from "../../../lib/simulator/cloudstack/mod.ts";

test("createDemoWorld() has eight Nodes in two zones, and is the same in every run", () => {
  const { world, machines, zoneIds } = createDemoWorld();
  expect(createDemoWorld().world).toEqual(world);
  const vms = new Map(world.vms?.map((vm) => [vm.id, vm]));
  const zones = [...machines.values()].map(({ vmId }) => vms.get(vmId)?.zoneId ?? "");
  expect(zones.filter((id) => id === zoneIds.paris)).toHaveLength(4);
  expect(zones.filter((id) => id === zoneIds.lyon)).toHaveLength(4);
  expect(vms.size).toBeGreaterThan(machines.size);
});

test("createDemoWorld() gives each machine the address of its default interface", () => {
  const { world, machines, late } = createDemoWorld();
  for (const { vmId, address } of machines.values()) {
    const nics = world.vms?.find(({ id }) => id === vmId)?.nics ?? [];
    expect(nics.find(({ isDefault }) => isDefault)?.ipAddress).toBe(address ?? "");
  }
  expect(late.options.nics?.[0]?.ipAddress).toBe(late.machine.address ?? "");
  expect([...machines.keys()]).toContain("worker-fqdn.k8s.example");
});

test.each([0, 1, 500, 1_234])(
  "createFleet(%p) has as many machines, at different addresses",
  (count) => {
    const { world, machines } = createFleet(count);
    const addresses = [...machines.values()].map(({ address }) => address);
    expect([machines.size, new Set(addresses).size, world.vms?.length]).toEqual([
      count,
      count,
      count,
    ]);
    expect(world.zones).toHaveLength(Math.max(1, Math.ceil(count / 500)));
  },
);
