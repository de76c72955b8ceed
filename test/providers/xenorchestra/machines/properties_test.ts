/**
 * Any machine comes to rest and leaves nothing behind; the words and records of VMs.
 * @module
 */
import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import type { MachineSpec } from "../../../../lib/cloud/capabilities/machines.ts";
import { Rig, SEED } from "./rig.ts";
import {
  formatRecord,
  parseRecord,
} from "../../../../lib/providers/xenorchestra/machines/vm_record.ts";
import {
  findUidTag,
  formatDiskMark,
  formatMark,
  isDiskNameOf,
  isMarkOf,
  LEFT_DISK,
  listOwnTags,
  listReadyTags,
  parseDiskMark,
  parseMark,
  SEED_DISK,
  toDiskName,
  toNameOfOwner,
  toReadyTag,
  toSpecHash,
  toUidTag,
} from "../../../../lib/providers/xenorchestra/machines/words.ts";
import { IDENTITY, NAME, toSpec } from "./scene.ts";
import { tries } from "../../../support/extent.ts";

const GIB = 1024 ** 3;
const COLLECTIONS = ["vms", "vm-templates", "vdis", "vbds", "vifs"] as const;

const disk = fc.record({
  sizeBytes: fc.integer({ min: 10, max: 20 }).map((size) => size * GIB),
  storage: fc.constantFrom("fast", "Local storage", undefined),
});
const wish = fc.record({
  template: fc.constantFrom("vino-debian", "vino-blank", "vino-diskless"),
  cpus: fc.integer({ min: 1, max: 8 }),
  memoryBytes: fc.integer({ min: 4, max: 8 }).map((size) => size * GIB),
  disks: fc.array(disk, { maxLength: 3 }),
  networks: fc.array(fc.constantFrom("oam", "provisioning"), { maxLength: 3 }),
  boot: fc.constantFrom("disk", "network" as const),
  isStarted: fc.boolean(),
  hasSeed: fc.boolean(),
  more: fc.record({
    cpus: fc.integer({ min: 1, max: 8 }),
    growth: fc.integer({ min: 0, max: 5 }),
    networks: fc.array(fc.constantFrom("oam", "provisioning"), { maxLength: 2 }),
  }),
});

function toInterfaces(networks: readonly string[]): MachineSpec["interfaces"] {
  return networks.map((network, at) => ({
    name: `if${at}`,
    network,
    mac: `02:00:00:00:00:0${at}`,
  }));
}

test("a machine comes to rest, also after a change, and leaves nothing behind", async () => {
  const check = async (wanted: typeof wish extends fc.Arbitrary<infer W> ? W : never) => {
    const rig = await Rig.start();
    try {
      const count = (): number[] => COLLECTIONS.map((one) => rig.list(one).length);
      const before = count();
      const { disks, networks, more, hasSeed, ...rest } = wanted;
      const base = rig.spec();
      const toDisks = (growth: number): MachineSpec["disks"] =>
        disks.map(({ sizeBytes, storage }, at) => ({
          name: `d${at}`,
          sizeBytes: sizeBytes + growth * GIB,
          ...(storage !== undefined && { storage }),
        }));
      const spec: MachineSpec = {
        ...base,
        ...rest,
        disks: toDisks(0),
        interfaces: toInterfaces(networks),
        ...(hasSeed && { seed: SEED }),
      };
      expect(await rig.make(spec)).toMatchObject({ state: "Ready", steps: [], problems: [] });
      expect(rig.vm(spec)["power_state"]).toBe(spec.isStarted ? "Running" : "Halted");
      rig.simulator.state.setPower(rig.vm(spec).id, "Halted");
      const changed = {
        ...spec,
        cpus: more.cpus,
        disks: toDisks(more.growth),
        interfaces: toInterfaces([...networks, ...more.networks]),
      };
      expect(await rig.make(changed)).toMatchObject({ state: "Ready", steps: [], problems: [] });
      expect(rig.vm(spec)).toMatchObject({ CPUs: { number: more.cpus }, power_state: "Halted" });
      expect(await rig.remove(spec)).toMatchObject({ state: "Absent", problems: [] });
      expect(count()).toEqual(before);
      expect(rig.errors).toEqual([]);
    } finally {
      await rig.stop();
    }
  };
  await fc.assert(fc.asyncProperty(wish, check), tries(15));
}, 60_000);

const ID = "6fd7b5c7-a6ea-4790-a81d-6aa2d90fde1e";

test("parseRecord() reads what formatRecord() writes", () => {
  const record = { at: 5, task: "0mwr", prior: "0mwq", tries: 2, templates: [ID], pool: ID };
  expect(parseRecord(formatRecord(record))).toEqual(record);
  expect(parseRecord(formatRecord({ vm: ID, disks: [ID], offAt: 9 }))).toEqual({
    vm: ID,
    disks: [ID],
    offAt: 9,
  });
});

test.each([undefined, "", "{", "[]", '{"v":2,"at":1}', '{"v":1,"at":"now"}'])(
  "parseRecord() takes %p for an empty record",
  (text) => {
    expect(parseRecord(text)).toEqual({});
  },
);

test("formatRecord() stays below 1 KiB", () => {
  const many = Array.from({ length: 40 }, () => ID);
  const text = formatRecord({
    at: 1_800_000_000_000,
    task: ID,
    prior: ID,
    tries: 1000,
    refused: true,
    templates: many,
    pool: ID,
    vm: ID,
    disks: many,
    offAt: 1_800_000_000_000,
  });
  expect(text.length).toBeLessThan(1024);
  expect(parseRecord(text).disks).toHaveLength(16);
});

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

test.each(["root", "a.b", LEFT_DISK, SEED_DISK])(
  "toNameOfOwner() finds the VM of disk %s",
  (disk) => {
    expect(toNameOfOwner(toDiskName(NAME, disk))).toBe(NAME);
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
