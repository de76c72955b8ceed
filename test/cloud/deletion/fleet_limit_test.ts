import { describe, expect, test } from "bun:test";
import {
  describeFleet,
  type FleetRecord,
  readFleet,
  type SizeSample,
} from "../../../lib/cloud/deletion/fleet_limit.ts";

const WINDOW_MS = 600_000;
const SETTINGS = { fleetShare: 0.34, fleetWindowMs: WINDOW_MS };
const NOW_MS = 5_000_000;
const START_MS = NOW_MS - WINDOW_MS;

interface Shape {
  readonly size?: number;
  readonly sizes?: readonly SizeSample[];
  readonly missing?: readonly string[];
  readonly deleted?: readonly (readonly [uid: string, agoMs: number])[];
}

function toRecord({ size = 12, sizes, missing = [], deleted = [] }: Shape): FleetRecord {
  return {
    missing: new Map(missing.map((uid) => [uid, {}])),
    sizes: sizes ?? [{ atMs: 0, size }],
    deletions: new Map(deleted.map(([uid, agoMs]) => [uid, NOW_MS - agoMs])),
  };
}

function toUids(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `n${at}`);
}

describe("readFleet() sets the limit", () => {
  const limits: readonly (readonly [size: number, share: number, limit: number])[] = [
    [0, 0.34, 1],
    [1, 0.34, 1],
    [2, 0.34, 1],
    [5, 0.34, 1],
    [6, 0.34, 2],
    [10, 0.34, 3],
    [12, 0.34, 4],
    [5_000, 0.34, 1_700],
    [12, 0, 1],
    [12, 1, 12],
    [12, -1, 1],
    [3, 1 / 3, 1],
    [9, 1 / 3, 3],
  ];
  test.each(limits)("of %d Nodes with a share of %d to %d", (size, fleetShare, limit) => {
    const fleet = readFleet(toRecord({ size }), NOW_MS, { ...SETTINGS, fleetShare });
    expect(fleet).toMatchObject({ sizeAtStart: size, limit });
  });

  test("to what whole percents mean, at any size", () => {
    const wrong: string[] = [];
    for (let percent = 0; percent <= 100; percent += 1) {
      const settings = { ...SETTINGS, fleetShare: percent / 100 };
      for (let size = 1; size <= 1_000; size += 1) {
        const product = percent * size;
        const exact = Math.max(1, (product - (product % 100)) / 100);
        const { limit } = readFleet(toRecord({ size }), NOW_MS, settings);
        if (limit !== exact) wrong.push(`${percent} % of ${size}: ${limit}, not ${exact}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("to 1 when no Node was ever seen", () => {
    const fleet = readFleet(toRecord({ sizes: [] }), NOW_MS, SETTINGS);
    expect(fleet).toMatchObject({ sizeAtStart: 0, limit: 1, isExceeded: false });
  });
});

describe("readFleet() takes the size at the window's start", () => {
  const cases: readonly (readonly [what: string, sizes: readonly SizeSample[], size: number])[] = [
    ["the only sample", [{ atMs: 0, size: 12 }], 12],
    ["the oldest when none is old enough", toSamples([100, 12], [200, 30]), 12],
    ["the newest that is old enough", toSamples([-300, 30], [-200, 20], [-100, 12], [1, 3]), 12],
    ["one that is exactly as old as the window", toSamples([-1, 30], [0, 12], [1, 3]), 12],
    ["not one that is a millisecond younger", toSamples([-1, 12], [1, 30]), 12],
    ["not what is left after deletions", toSamples([-1, 12], [WINDOW_MS, 8]), 12],
  ];
  test.each(cases)("from %s", (_what, sizes, size) => {
    expect(readFleet(toRecord({ sizes }), NOW_MS, SETTINGS).sizeAtStart).toBe(size);
  });
});

/** Samples at milliseconds from the window's start on. */
function toSamples(...samples: readonly (readonly [afterMs: number, size: number])[]) {
  return samples.map(([afterMs, size]): SizeSample => ({ atMs: START_MS + afterMs, size }));
}

describe("readFleet() counts what is affected", () => {
  const counts = { missing: 0, deleted: 0, affected: 0, isExceeded: false };
  const cases: readonly (readonly [what: string, shape: Shape, wanted: Partial<typeof counts>])[] =
    [
      ["nothing in a fleet that is well", {}, {}],
      ["1 of 1", { size: 1, missing: ["a"] }, { missing: 1, affected: 1 }],
      ["2 of 2", { size: 2, missing: ["a", "b"] }, { missing: 2, affected: 2, isExceeded: true }],
      ["3 of 12", { missing: toUids(3) }, { missing: 3, affected: 3 }],
      ["4 of 12", { missing: toUids(4) }, { missing: 4, affected: 4 }],
      ["5 of 12", { missing: toUids(5) }, { missing: 5, affected: 5, isExceeded: true }],
      ["3 of 10", { size: 10, missing: toUids(3) }, { missing: 3, affected: 3 }],
      ["5 of 10", { size: 10, missing: toUids(5) }, { missing: 5, affected: 5, isExceeded: true }],
      [
        "missing and deleted together",
        {
          missing: ["a", "b", "c"],
          deleted: [
            ["d", 1_000],
            ["e", 2_000],
          ],
        },
        { missing: 3, deleted: 2, affected: 5, isExceeded: true },
      ],
      [
        "a Node that is missing and deleted once",
        {
          missing: ["a", "b", "c", "d"],
          deleted: [
            ["a", 1_000],
            ["b", 2_000],
          ],
        },
        { missing: 4, deleted: 2, affected: 4 },
      ],
      [
        "a deletion as old as the window, none that is older",
        {
          deleted: [
            ["a", WINDOW_MS],
            ["b", WINDOW_MS + 1],
          ],
        },
        { deleted: 1, affected: 1 },
      ],
    ];
  test.each(cases)("%s", (_what, shape, wanted) => {
    expect(readFleet(toRecord(shape), NOW_MS, SETTINGS)).toMatchObject({ ...counts, ...wanted });
  });

  test("and refuses when the share is no number", () => {
    const settings = { ...SETTINGS, fleetShare: Number.NaN };
    expect(readFleet(toRecord({ missing: ["a"] }), NOW_MS, settings).isExceeded).toBe(true);
  });
});

test("describeFleet() says what is exceeded, by what, and what to do", () => {
  const record = toRecord({ size: 10, missing: ["a", "b", "c"], deleted: [["d", 1_000]] });
  expect(describeFleet(readFleet(record, NOW_MS, SETTINGS), SETTINGS)).toBe(
    "4 Nodes are missing or deleted (3 missing now, 1 deleted within 10m0s), but the limit is 3 of the 10 before: " +
      "Landfall deletes none until fewer are affected, or you raise deletion.fleetShare, or you delete them by hand",
  );
});

test("describeFleet() promises nothing of a share to a fleet that has just grown", () => {
  const sizes = [
    { atMs: START_MS, size: 0 },
    { atMs: START_MS + 1, size: 50 },
  ];
  const record = toRecord({ sizes, missing: ["a", "b"] });
  const generous = { ...SETTINGS, fleetShare: 1 };
  expect(describeFleet(readFleet(record, NOW_MS, generous), generous)).toBe(
    "2 Nodes are missing or deleted (2 missing now, 0 deleted within 10m0s), but the limit is 1 of the 0 before: " +
      "Landfall deletes none until the cluster has had more Nodes for 10m0s, or you delete them by hand",
  );
  expect(readFleet(record, NOW_MS + 1, SETTINGS).isExceeded).toBe(false);
});
