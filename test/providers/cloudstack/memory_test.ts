import { describe, expect, test } from "bun:test";
import { Memory } from "../../../lib/providers/cloudstack/memory.ts";

const LIST = {
  objects: [{ id: "vm", state: "Running", zoneid: "zone", zonename: "paris" }],
  undecodable: new Map(),
};

describe("Memory", () => {
  test("keeps no VMs for load balancers until they are followed", () => {
    const memory = new Memory();
    memory.noteList(LIST);
    expect([memory.backends, memory.lacksBackends]).toEqual([undefined, false]);
    expect(memory.zones).toEqual(new Map([["zone", "paris"]]));
  });

  test("keeps the VMs of each list once they are followed", () => {
    const memory = new Memory();
    memory.followBackends();
    expect(memory.lacksBackends).toBe(true);
    memory.noteList(LIST);
    expect(memory.lacksBackends).toBe(false);
    expect([...(memory.backends?.vms.keys() ?? [])]).toEqual(["vm"]);
    memory.noteList({ ...LIST, objects: [] });
    expect(memory.backends?.vms.size).toBe(0);
  });
});
