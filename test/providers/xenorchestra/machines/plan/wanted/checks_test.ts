import { expect, test } from "bun:test";
import { checkFit } from "../../../../../../lib/providers/xenorchestra/machines/plan/wanted/checks.ts";
import { GIB, POOL, type SceneOptions, toSpec, toTemplate, toView, toVm } from "../../scene.ts";

const DISKS = [{ name: "root", sizeBytes: 20 * GIB, storageId: "sr-1", position: "0" }];
const MAC = "02:00:00:00:00:01";
const user = (vmId: string, poolId = POOL): SceneOptions => ({
  stock: { macs: new Map([[MAC, [{ vmId, poolId }]]]) },
});

test.each<[string, object, readonly object[], SceneOptions, readonly string[]]>([
  ["nothing that fits", {}, DISKS, {}, []],
  ["a host of another pool", { hostId: "host-9" }, DISKS, {}, ["HostNotFound"]],
  ["too little memory", { memoryBytes: 1 }, DISKS, {}, ["MemoryTooSmall"]],
  ["a disk that would shrink", {}, [{ ...DISKS[0], sizeBytes: GIB }], {}, ["DiskTooSmall"]],
  ["a full storage", {}, [{ ...DISKS[0], storageId: "sr-2" }], {}, ["StorageFull"]],
  ["an address of another VM", {}, DISKS, user("other"), ["MacTaken"]],
  ["no address of another pool", {}, DISKS, user("other", "pool-2"), []],
  ["no address of itself", {}, DISKS, { ...user("vm-1"), vms: [toVm()] }, []],
  ["no address of a template", {}, DISKS, user("template-1"), []],
])("checkFit() finds %s", (_what, over, disks, options, found) => {
  const wanted = { template: toTemplate(), disks: disks as typeof DISKS };
  const problems = checkFit(toView(options), toSpec(over), wanted);
  expect(problems.map(({ reason }) => reason)).toEqual([...found]);
});
