import { expect, test } from "bun:test";
import type { Vm } from "../../../../../lib/providers/xenorchestra/machines/look/view.ts";
import {
  toPartsHash,
  toShownHash,
} from "../../../../../lib/providers/xenorchestra/machines/plan/fingerprints.ts";
import { toCompleteVm } from "../scene.ts";

const VM = toCompleteVm();

test.each<[string, Partial<Vm>, boolean, boolean]>([
  ["an interface more", { vifIds: ["vif-vm-1-0", "vif-2"] }, true, true],
  ["another disk", { linkIds: ["link-vm-1-0", "link-2"] }, true, true],
  ["disks in another order", { linkIds: VM.linkIds.toReversed() }, false, false],
  ["a stop", { power: "running" }, false, true],
  ["more CPUs", { cpus: 8 }, false, true],
  ["more memory", { memoryBytes: 1 }, false, true],
  ["a tag more", { tags: [...VM.tags, "mine"] }, false, true],
  ["tags in another order", { tags: VM.tags.toReversed() }, false, false],
  ["another description", { description: "mine" }, false, true],
  ["another protection", { destroyBlock: "mine" }, false, true],
  ["another pool", { poolId: "pool-2" }, false, true],
  ["another start", { startedAtMs: 5, isStarted: true }, false, false],
  ["an operation", { isBusy: true }, false, false],
])("toPartsHash() and toShownHash() with %s", (_what, over, isOther, isShown) => {
  const vm = { ...VM, ...over };
  expect(toPartsHash(vm) !== toPartsHash(VM)).toBe(isOther);
  expect(toShownHash(vm) !== toShownHash(VM)).toBe(isShown);
});
