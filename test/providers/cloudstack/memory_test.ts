import { describe, expect, test } from "bun:test";
import { Memory } from "../../../lib/providers/cloudstack/memory.ts";

const LIST = {
  objects: [{ id: "vm", state: "Running", zoneid: "zone", zonename: "paris" }],
  undecodable: new Map(),
};

describe("Memory", () => {
  test("keeps no VMs for load balancers until they are followed", () => {
    const memory = new Memory();
    memory.noteList(LIST, 5);
    expect([memory.backends, memory.lacksBackends]).toEqual([undefined, false]);
    expect(memory.zones).toEqual(new Map([["zone", "paris"]]));
  });

  test("keeps the VMs of each list once they are followed", () => {
    const memory = new Memory();
    memory.followBackends();
    expect(memory.lacksBackends).toBe(true);
    memory.noteList(LIST, 5);
    expect(memory.lacksBackends).toBe(false);
    expect([...(memory.backends?.vms.keys() ?? [])]).toEqual(["vm"]);
    memory.noteList({ ...LIST, objects: [] }, 6);
    expect(memory.backends).toMatchObject({ observedAtMs: 6, vms: new Map() });
    memory.renewList(7);
    expect(memory.backends).toMatchObject({ observedAtMs: 7, vms: new Map() });
  });

  test("knows the VMs of Nodes from the first inventory on", () => {
    const memory = new Memory();
    expect(memory.hasInventory).toBe(false);
    memory.renewList(1);
    memory.noteInventory(
      { instances: new Map(), observedAtMs: 0, coverage: new Map(), undecodable: new Map() },
      new Set(["vm"]),
    );
    expect([memory.hasInventory, memory.nodeVmIds]).toEqual([true, new Set(["vm"])]);
    expect(memory.backends).toBeUndefined();
  });
});
