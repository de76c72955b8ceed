import { expect, test } from "bun:test";
import type { Vm } from "../../../../../lib/providers/xenorchestra/machines/look/view.ts";
import { planFromInventory } from "../../../../../lib/providers/xenorchestra/machines/plan/from_inventory.ts";
import { POOL, toCompleteVm, toNextRecord, toSpec, toView, toVm } from "../scene.ts";

const LOST = { pools: [{ id: POOL, name: "paris", isComplete: false }] };

test.each<[string, readonly Vm[], object, string, boolean]>([
  ["a complete one alone", [toCompleteVm()], {}, "Ready", false],
  ["a missing one", [], {}, "Absent", true],
  ["one in a lost pool", [toCompleteVm()], LOST, "Unknown", false],
  ["a missing one in a lost pool", [], LOST, "Unknown", false],
  ["one that is not complete", [toVm()], {}, "Creating", true],
  ["two", [toCompleteVm(), toCompleteVm({ id: "vm-2" })], {}, "Unfinished", true],
  [
    "one of another owner",
    [toVm({ description: "vino uid=x role=worker index=0" })],
    {},
    "Absent",
    true,
  ],
  ["fewer CPUs", [toCompleteVm({ cpus: 1 })], {}, "Ready", true],
  ["a lost tag", [toCompleteVm({ tags: ["vino", "vino:ready=x"] })], {}, "Ready", true],
  ["a lost interface", [toCompleteVm({ vifIds: [] })], {}, "Ready", true],
  ["an interface that was made again", [toCompleteVm({ vifIds: ["vif-2"] })], {}, "Ready", true],
  ["a detached disk", [toCompleteVm({ linkIds: ["link-vm-1-0"] })], {}, "Ready", true],
  [
    "parts in another order",
    [toCompleteVm({ linkIds: ["link-vm-1-1", "link-vm-1-0"] })],
    {},
    "Ready",
    false,
  ],
  [
    "another specification",
    [toCompleteVm({ tags: [...toCompleteVm().tags.slice(0, 2), "vino:ready=x"] })],
    {},
    "Ready",
    true,
  ],
  [
    "an old note beside the right one",
    [toCompleteVm({ tags: [...toCompleteVm().tags, "vino:ready=x"] })],
    {},
    "Ready",
    true,
  ],
  [
    "one to start",
    [toCompleteVm({ tags: [...toCompleteVm().tags, "vino:start"], power: "stopped" })],
    {},
    "Unfinished",
    true,
  ],
])("planFromInventory() of %s plans nothing: %#", (_what, vms, view, state, needsLook) => {
  const plan = planFromInventory(toView({ vms, view }), toSpec(), { ...toNextRecord(), at: 1 });

  expect(plan).toMatchObject({ state, steps: [] });
  expect(plan.needsLook === true).toBe(needsLook);
});

test.each<[string, Vm, boolean]>([
  ["as it was looked at last", toCompleteVm(), true],
  ["with other CPUs", toCompleteVm({ cpus: 1 }), true],
  ["with an interface more", toCompleteVm({ vifIds: ["vif-vm-1-0", "vif-2"] }), false],
  ["with an older note", toCompleteVm({ tags: ["vino", "vino:ready=x"] }), false],
])(
  "planFromInventory() knows whether one %s has all disks and interfaces",
  (_what, vm, isBuilt) => {
    const plan = planFromInventory(toView({ vms: [vm] }), toSpec(), toNextRecord());
    expect(plan.isBuilt === true).toBe(isBuilt);
  },
);

test("planFromInventory() needs a look long after an attempt that may have left something", () => {
  const view = toView({ vms: [toCompleteVm()] });
  const look = (doubtAt: number) =>
    planFromInventory(view, toSpec(), { ...toNextRecord(), doubtAt }).needsLook === true;
  expect([look(view.atMs), look(view.atMs - 1_800_000)]).toEqual([false, true]);
});

test("planFromInventory() looks closer if the record does not know a complete VM", () => {
  const view = toView({ vms: [toCompleteVm()] });
  expect(planFromInventory(view, toSpec(), {}).needsLook).toBe(true);
});
