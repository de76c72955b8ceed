import { expect, test } from "bun:test";
import {
  findOrphanDisks,
  toOrphanDeletion,
} from "../../../../../../lib/providers/xenorchestra/machines/plan/find/orphan_disks.ts";
import { SEED_DISK } from "../../../../../../lib/providers/xenorchestra/machines/words.ts";
import { GIB, IDENTITY, NAME, toDisk, toOwnDisk, toView } from "../../scene.ts";

test("findOrphanDisks() finds only disks that no other machine can have", () => {
  const loose = [
    toOwnDisk("root", GIB),
    toOwnDisk(SEED_DISK, GIB, { id: "seed" }),
    toDisk({ id: "unmarked", name: `${NAME}.data` }),
    toDisk({
      id: "foreign",
      name: `${NAME}.data`,
      description: "vino uid=x role=worker index=0 disk=a",
    }),
    toDisk({ id: "other", name: "vino-1b4e28ba-worker-0-1.root" }),
    toDisk({ id: "debian" }),
  ];
  const found = findOrphanDisks(toView({ loose }), IDENTITY);
  expect(found.map(({ disk, isSeed }) => [disk.id, isSeed])).toEqual([
    ["disk-root", false],
    ["seed", true],
    ["unmarked", false],
  ]);
});

test("toOrphanDeletion() names the disk", () => {
  const orphan = { disk: toOwnDisk("root", GIB), isSeed: false };
  expect(toOrphanDeletion(IDENTITY, orphan, {})).toEqual({
    identity: IDENTITY,
    summary: `delete disk ${NAME}.root (disk-root), which nothing uses`,
    change: { kind: "deleteDisk", diskId: "disk-root", diskName: `${NAME}.root` },
  });
});

test.each([
  ["a seed", true, { vm: "vm-1" }, true],
  ["a disk of an attempt", false, { at: 1 }, true],
  ["a disk of one that was complete", false, { at: 1, vm: "vm-1" }, undefined],
  ["a disk of which nothing is known", false, {}, undefined],
])("toOrphanDeletion() knows whether %s holds data", (_what, isSeed, record, isCleanup) => {
  const step = toOrphanDeletion(IDENTITY, { disk: toOwnDisk("root", GIB), isSeed }, record);
  expect(step.isCleanup).toBe(isCleanup);
});
