import { describe, expect, test } from "bun:test";
import {
  findUidTag,
  formatDiskMark,
  formatMark,
  isDiskNameOf,
  isMarkOf,
  listOwnTags,
  listReadyTags,
  parseDiskMark,
  parseMark,
  SEED_DISK,
  toDiskName,
  toReadyTag,
  toSpecHash,
  toUidTag,
} from "../../../../lib/providers/xenorchestra/machines/words.ts";
import { IDENTITY, NAME, toSpec } from "./scene.ts";

const UID = IDENTITY.owner.uid;

describe("words that must not change", () => {
  test("formatMark() writes whose a VM is, for which host it was made, and whether it was complete", () => {
    const made = { hostId: "h", hash: "abc" };
    expect(formatMark(IDENTITY, made, false)).toBe(
      `vino uid=${UID} role=worker index=0 host=h hash=abc`,
    );
    expect(formatMark(IDENTITY, made, true)).toBe(
      `vino uid=${UID} role=worker index=0 host=h hash=abc ready`,
    );
    expect(formatMark(IDENTITY, {}, false)).toBe(`vino uid=${UID} role=worker index=0`);
  });

  test("formatDiskMark() writes whose a disk is", () => {
    expect(formatDiskMark(IDENTITY, "root")).toBe(`vino uid=${UID} role=worker index=0 disk=root`);
  });

  test("toDiskName() names disks after their VM", () => {
    expect(toDiskName(NAME, "root")).toBe("vino-1b4e28ba-worker-0.root");
    expect(toDiskName(NAME, SEED_DISK)).toBe("vino-1b4e28ba-worker-0-cidata");
  });

  test("tags say that a VM is ours, whose, and complete", () => {
    expect(listOwnTags(IDENTITY)).toEqual(["vino", `vino:uid=${UID}`]);
    expect(toReadyTag("abc")).toBe("vino:ready=abc");
  });
});

test.each([
  [{ hostId: "h", hash: "abc" }, true],
  [{ hostId: "h" }, false],
  [{}, true],
] as const)("parseMark() reads what formatMark() writes of %o", (made, isReady) => {
  const text = formatMark(IDENTITY, made, isReady);
  const mark = { uid: UID, role: "worker", index: 0, ...made, isReady };
  expect(parseMark(text)).toEqual(mark);
  expect(parseMark(`rack 7, ${text} (do not touch)`)).toMatchObject({ uid: UID, role: "worker" });
});

test.each(["", "vino", `vino uid=${UID}`, `vino uid=${UID} role=worker`, "Debian template"])(
  "parseMark() finds no mark in %p",
  (text) => {
    expect(parseMark(text)).toBeUndefined();
    expect(parseDiskMark(text)).toBeUndefined();
  },
);

test("parseDiskMark() reads what formatDiskMark() writes", () => {
  const mark = { uid: UID, role: "worker", index: 0, disk: SEED_DISK };
  expect(parseDiskMark(formatDiskMark(IDENTITY, SEED_DISK))).toEqual(mark);
});

test.each([
  ["another owner", { uid: "x" }],
  ["another role", { role: "master" }],
  ["another index", { index: 1 }],
])("isMarkOf() is false for %s", (_what, other) => {
  const mark = { uid: UID, role: "worker", index: 0 };
  expect(isMarkOf(mark, IDENTITY)).toBe(true);
  expect(isMarkOf({ ...mark, ...other }, IDENTITY)).toBe(false);
});

test.each([
  [`${NAME}.root`, true],
  [`${NAME}-cidata`, true],
  [`${NAME}-root`, false],
  // Role worker-0 has such a VM.
  [`${NAME}-2.root`, false],
  [`${NAME}-2-cidata`, false],
  ["vino-1b4e28ba-worker-01.root", false],
  [NAME, false],
  ["debian-root", false],
])("isDiskNameOf() of %p is %p", (name, isOwn) => {
  expect(isDiskNameOf(NAME, name)).toBe(isOwn);
});

test("findUidTag() and listReadyTags() find tags among others", () => {
  const tags = ["prod", toUidTag("u"), toReadyTag("a"), toReadyTag("b")];
  expect(findUidTag(tags)).toBe("u");
  expect(listReadyTags(tags)).toEqual([toReadyTag("a"), toReadyTag("b")]);
  expect(findUidTag(["vino"])).toBeUndefined();
});

test("toSpecHash() changes with everything that can be compared, and with nothing else", () => {
  const spec = toSpec();
  const [disk] = spec.disks;
  const [one] = spec.interfaces;
  if (disk === undefined || one === undefined) throw new Error("Cannot test: there is none");
  const changed = [
    { cpus: 3 },
    { memoryBytes: 1 },
    { template: "other" },
    { poolId: "other" },
    { boot: "network" as const },
    { index: 1 },
    { disks: [{ ...disk, sizeBytes: 1 }] },
    { disks: [{ ...disk, storage: "fast" }] },
    { interfaces: [{ ...one, mtu: 9000 }] },
  ].map((over) => toSpecHash({ ...spec, ...over }));
  const same = [
    { seed: { label: "cidata", files: {} } },
    { isStarted: false },
    { hostId: "other" },
  ].map((over) => toSpecHash({ ...spec, ...over }));
  expect(new Set([toSpecHash(spec), ...changed]).size).toBe(changed.length + 1);
  expect(new Set([toSpecHash(spec), ...same]).size).toBe(1);
  expect(toSpecHash(spec)).toMatch(/^[0-9a-f]{12}$/);
});
