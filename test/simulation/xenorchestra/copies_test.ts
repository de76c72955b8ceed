import { describe, expect, test } from "bun:test";
import { createDemoWorld } from "../../../lib/simulator/xenorchestra/mod.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { StateWithCopies } from "./copies.ts";

const demo = createDemoWorld();
const { paris, lyon } = demo.poolIds;
const vmId = demo.machines.get("worker-1")?.vmId ?? "";

/** What a list and a read show of the VM: the same. */
function show(state: StateWithCopies): unknown {
  const listed = state.listShown("vms").filter(({ id }) => id === vmId);
  expect(listed).toHaveLength(1);
  expect(state.readShown("vms", vmId)).toBe(listed[0]);
  return { pool: listed[0]?.["$pool"], power: listed[0]?.["power_state"] };
}

describe("StateWithCopies", () => {
  const original = { pool: paris, power: "Running" };
  const copy = { pool: lyon, power: "Halted" };
  const cases: [string, (state: StateWithCopies) => void, unknown][] = [
    ["shows the copy in place of the original", () => undefined, copy],
    ["shows the original once the copy is deleted", (state) => state.removeCopy(vmId), original],
    ["shows the original once all copies are deleted", (state) => state.removeCopies(), original],
    [
      "shows the original while the pool of the copy is lost",
      (state) => state.dropPool(lyon),
      original,
    ],
    ["shows the original while no VM of that pool shows", (state) => state.hideVms(lyon), original],
    [
      "shows the copy while the pool of the original is lost",
      (state) => state.dropPool(paris),
      copy,
    ],
    [
      "has no copy in the pool that the original moves to",
      (state) => state.migratePool(vmId, lyon),
      { pool: lyon, power: "Running" },
    ],
  ];
  test.each(cases)("%s", (_title, happen, shown) => {
    const state = new StateWithCopies(new ManualClock(), demo.world);
    const count = state.listShown("vms").length;
    state.addCopy(vmId, lyon);
    expect(state.listShown("vms")).toHaveLength(count);
    expect(state.all("vms").get(vmId)).toMatchObject({ $pool: paris, power_state: "Running" });
    happen(state);
    expect(show(state)).toEqual(shown);
  });
});
