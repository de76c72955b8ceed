import { describe, expect, test } from "bun:test";
import type { Attached } from "../../../../../../lib/providers/xenorchestra/machines/look/view.ts";
import { compareDisks } from "../../../../../../lib/providers/xenorchestra/machines/plan/compare/disks.ts";
import { SEED_DISK } from "../../../../../../lib/providers/xenorchestra/machines/words.ts";
import { GIB, NAME, toDisk, toLink, toOwnDisk, toSpec, toVm } from "../../scene.ts";

const WANTED = [
  { name: "root", sizeBytes: 20 * GIB, storageId: "sr-1", position: "0" },
  { name: "data", sizeBytes: 5 * GIB, storageId: "sr-1" },
];

function compare(links: readonly Attached[], isDone = true): string[] {
  const question = { spec: toSpec(), vm: toVm(), wanted: { disks: WANTED }, links, isDone };
  return compareDisks(question).differences.map(({ fix, needsStop, problem }) =>
    fix ? `${fix.summary}${needsStop === true ? " when off" : ""}` : (problem?.reason ?? ""),
  );
}

const root = (over: object = {}): Attached => toLink("vm-1", 0, toOwnDisk("root", 20 * GIB, over));
const data = (over: object = {}): Attached => toLink("vm-1", 1, toOwnDisk("data", 5 * GIB, over));
const inherited = toLink("vm-1", 0, toDisk({ sizeBytes: 20 * GIB }));

describe("compareDisks()", () => {
  test.each<[string, readonly Attached[], boolean, readonly string[]]>([
    ["nothing if all is there", [root(), data()], true, []],
    ["nothing if a person moved a disk", [root({ storageId: "sr-2" }), data()], true, []],
    [
      "a wrong storage before it is complete",
      [root({ storageId: "sr-2" }), data()],
      false,
      ["StorageDiffers"],
    ],
    [
      "a disk that must grow",
      [root({ sizeBytes: GIB }), data()],
      true,
      [`grow disk root of ${NAME} to ${20 * GIB} bytes when off`],
    ],
    [
      "a disk that must shrink",
      [root({ sizeBytes: 99 * GIB }), data()],
      true,
      ["DiskCannotShrink"],
    ],
    ["a missing disk", [root()], true, ["DiskMissing"]],
    ["a renamed disk", [root(), data({ name: "x" })], true, [`name disk data of ${NAME}`]],
    [
      "the template's disk before it is complete",
      [inherited, data()],
      false,
      [`name disk root of ${NAME}`],
    ],
    [
      "a disk without a mark before it is complete",
      [root({ description: "" }), data()],
      false,
      [`name disk root of ${NAME}`],
    ],
    ["nothing for one without a mark after that", [root({ description: "" }), data()], true, []],
    [
      "a missing disk although a foreign one has its place",
      [inherited, data()],
      true,
      ["DiskMissing"],
    ],
    [
      "nothing for a drive and the seed",
      [
        root(),
        data(),
        { ...toLink("vm-1", 3, undefined), isCd: true },
        toLink("vm-1", 2, toOwnDisk(SEED_DISK, GIB)),
      ],
      true,
      [],
    ],
    [
      "nothing for a disk that a person attached",
      [root(), data(), toLink("vm-1", 2, toDisk())],
      true,
      [],
    ],
  ])("finds %s", (_what, links, isDone, found) => {
    expect(compare(links, isDone)).toEqual([...found]);
  });

  test("shows every disk with what it is and should be", () => {
    const links = [root(), toLink("vm-1", 2, toDisk({ sizeBytes: 7 }))];
    const question = { spec: toSpec(), vm: toVm(), wanted: { disks: WANTED }, links, isDone: true };
    expect(compareDisks(question).parts).toEqual([
      { name: "disk root", wanted: `${20 * GIB} bytes`, actual: `${20 * GIB} bytes` },
      { name: "disk data", wanted: `${5 * GIB} bytes` },
      { name: "disk debian-root", actual: "7 bytes" },
    ]);
  });
});
