import { describe, expect, test } from "bun:test";
import { createDemoWorld } from "../../../../lib/simulator/cloudstack/mod.ts";
import { CloudStackState } from "../../../../lib/simulator/cloudstack/world/state.ts";

const story = createDemoWorld();
const id = story.machines.get("worker-dual")?.vmId ?? "";

describe("CloudStackState", () => {
  test("addVm() shows a machine that is created later", () => {
    const state = new CloudStackState(story.world);
    expect(state.vms.has(story.late.machine.vmId)).toBe(false);
    expect(state.addVm(story.late.options)).toBe(story.late.machine.vmId);
    expect(state.vm(story.late.machine.vmId).name).toBe("worker-late");
  });

  test("assign() keeps only interfaces in networks that every account may use", () => {
    const state = new CloudStackState(story.world);
    state.assign(id, story.accountIds.ops);
    const [nic, ...others] = state.vm(id).nics;
    expect(state.networks.get(nic?.networkId ?? "")?.type).toBe("Shared");
    expect(others).toEqual([]);
  });

  test("expunge() keeps the ID, purge() forgets it", () => {
    const state = new CloudStackState(story.world);
    state.expunge(id);
    expect(state.vm(id)).toMatchObject({ isRemoved: true, state: "Expunging", nics: [] });
    state.purge(id);
    expect(() => state.vm(id)).toThrow(RangeError);
  });

  test("setState(), hide() and override() change one machine in one simulator", () => {
    const state = new CloudStackState(story.world);
    state.setState(id, "Unknown");
    state.hide(id);
    state.override(id, { name: 1 });
    expect(state.vm(id)).toMatchObject({
      state: "Unknown",
      isDisplayed: false,
      overrides: { name: 1 },
    });
    expect(new CloudStackState(story.world).vm(id)).toMatchObject({
      state: "Running",
      isDisplayed: true,
      overrides: {},
    });
  });
});
