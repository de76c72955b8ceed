import { describe, expect, test } from "bun:test";
import type {
  Attached,
  Template,
} from "../../../../../../lib/providers/xenorchestra/machines/look/view.ts";
import {
  compareDisks,
  type DisksQuestion,
} from "../../../../../../lib/providers/xenorchestra/machines/plan/compare/disks.ts";
import { SEED_DISK } from "../../../../../../lib/providers/xenorchestra/machines/words.ts";
import {
  GIB,
  NAME,
  toDisk,
  toLink,
  toOwnDisk,
  toSpec,
  toTemplate,
  toView,
  toVm,
} from "../../scene.ts";

type Disks = DisksQuestion["wanted"]["disks"];

const WANTED = [
  { name: "root", sizeBytes: 20 * GIB, storageId: "sr-1", position: "0" },
  { name: "data", sizeBytes: 5 * GIB, storageId: "sr-1" },
];

function toQuestion(links: readonly Attached[], isDone: boolean): DisksQuestion {
  const { stock } = toView({ links: { "vm-1": links } });
  return { spec: toSpec(), vm: toVm(), wanted: { disks: WANTED }, stock, isDone };
}

function compare(links: readonly Attached[], isDone = true): string[] {
  return compareDisks(toQuestion(links, isDone)).differences.map(({ fix, needsStop, problem }) =>
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
      [`grow disk root of ${NAME} to 20Gi when off`],
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

  test("says in the units of the spec that a disk cannot shrink, and lets a person decide", () => {
    const links = [root({ sizeBytes: 99 * GIB }), data()];
    const [difference] = compareDisks(toQuestion(links, true)).differences;
    expect(difference?.problem).toEqual({
      kind: "decision",
      reason: "DiskCannotShrink",
      message: "disk root has 99Gi, and a disk cannot shrink to 20Gi. Ask for 99Gi in the spec",
    });
  });

  describe("of a complete machine without disks in the spec", () => {
    const template = toTemplate();
    const other = toTemplate({ id: "template-2", uuid: "template-2" });
    const own = toLink("vm-1", 0, toOwnDisk("disk0", 10 * GIB));
    const find = (links: readonly Attached[], from: Template, disks: Disks): string[] => {
      const wanted = { template: from, disks };
      const question = { ...toQuestion(links, true), spec: toSpec({ disks: [] }), wanted };
      return compareDisks(question).differences.map(({ problem }) => problem?.message ?? "a fix");
    };
    const disk = (at: number, size: number): Disks[number] => ({
      name: `disk${at}`,
      sizeBytes: size * GIB,
      position: `${at}`,
    });

    test.each<[string, Template, Disks]>([
      ["with a smaller disk", other, [disk(0, 8)]],
      ["with a larger disk", other, [disk(0, 12)]],
      ["with one more disk", other, [disk(0, 10), disk(1, 5)]],
      ["whose disk was made smaller since then", template, [disk(0, 8)]],
    ])("finds nothing for a template %s", (_what, from, disks) => {
      expect(find([own], from, disks)).toEqual([]);
    });

    test("misses a disk of the template that it was made from", () => {
      const [message, ...more] = find([], template, [disk(0, 10)]);
      expect(message).toEndWith(`complete machine: attach a disk under the name ${NAME}.disk0`);
      expect(more).toEqual([]);
    });

    test("misses none in whose place it has another one, which the spec asked for once", () => {
      const root = toLink("vm-1", 0, toOwnDisk("root", 20 * GIB));
      expect(find([root], template, [disk(0, 10)])).toEqual([]);
    });
  });

  describe("of a disk that a complete machine lacks", () => {
    const find = (links: readonly Attached[], spec = toSpec()): string | undefined => {
      const question = { ...toQuestion([...links, data()], true), spec };
      const [difference] = compareDisks(question).differences;
      return difference?.problem?.message;
    };
    const ask = `attach a disk under the name ${NAME}.root, or remove disk root from the spec`;
    const old = (name: string, over: object = {}): Attached =>
      toLink("vm-1", 3, toOwnDisk(name, 20 * GIB, over));

    test("says that Landfall adds none", () => {
      const message = `disk root of ${NAME} does not exist, and Landfall adds no disk to a complete machine: ${ask}`;
      expect(find([])).toBe(message);
      // Neither the disk of another program nor the seed is what the spec lost.
      const others = [toLink("vm-1", 4, toDisk()), toLink("vm-1", 2, toOwnDisk(SEED_DISK, GIB))];
      expect(find(others)).toBe(message);
    });

    test.each<[string, object]>([
      ["by its name", { description: "" }],
      ["by its mark", { name: "renamed" }],
    ])("names the disk of the machine that the spec does not name, known %s", (_how, over) => {
      expect(find([old("os", over)])).toBe(
        `disk root of ${NAME} does not exist, but the machine has disk os, which the spec does not name. ` +
          "If root is a new name for such a disk, give it the old name in the spec again: os. " +
          `Otherwise ${ask}`,
      );
    });

    test("names all of them", () => {
      const message = find([old("os"), old("swap")]);
      expect(message).toContain("the machine has disks os and swap, which the spec does not name");
      expect(message).toContain("in the spec again: os or swap. Otherwise");
    });
  });

  test("names both storages of a disk that is on a wrong one", () => {
    const links = [root({ storageId: "sr-2" }), data()];
    const [difference] = compareDisks(toQuestion(links, false)).differences;
    expect(difference?.problem?.message).toContain(
      'is on storage repository "fast" (sr-2) instead of storage repository "local" (sr-1)',
    );
  });

  test("shows every disk with what it is and should be", () => {
    const links = [root(), toLink("vm-1", 2, toDisk({ sizeBytes: 7 }))];
    expect(compareDisks(toQuestion(links, true)).parts).toEqual([
      { name: "disk root", wanted: "20Gi", actual: "20Gi" },
      { name: "disk data", wanted: "5Gi" },
      { name: "disk debian-root", actual: "7 bytes" },
    ]);
  });
});
