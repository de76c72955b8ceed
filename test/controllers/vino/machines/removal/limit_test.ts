import { describe, expect, test } from "bun:test";
import {
  describeLimit,
  isConfirmed,
  RemovalLimit,
} from "../../../../../lib/controllers/vino/machines/removal/limit.ts";

const SETTINGS = { fleetShare: 0.34, fleetWindowMs: 600_000 };
const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `m-${at}`);

describe("RemovalLimit", () => {
  test.each([
    [10, 3, false],
    [10, 4, true],
    [1, 1, false],
    [3, 1, false],
    [3, 2, true],
    [0, 0, false],
  ])("of %i machines, %i too many: exceeded is %p", (known, surplus, isExceeded) => {
    const question = { known: names(known), surplus: names(surplus), nowMs: 0 };
    expect(new RemovalLimit().read(question, SETTINGS).isExceeded).toBe(isExceeded);
  });

  test("counts what was removed within the window, and compares with the size before", () => {
    const limit = new RemovalLimit();
    const read = (known: number, surplus: number, nowMs: number): boolean =>
      limit.read({ known: names(known), surplus: names(surplus), nowMs }, SETTINGS).isExceeded;
    expect(read(10, 3, 0)).toBe(false);
    limit.noteRemoval("m-9", { monotonicMs: 1_000, wallMs: 0 });
    expect(read(9, 2, 1_000)).toBe(false);
    expect(read(9, 3, 2_000)).toBe(true);
    expect(read(9, 3, 700_000)).toBe(false);
  });
});

describe("RemovalLimit after a restart", () => {
  const at = { monotonicMs: 5_000, wallMs: Date.UTC(2026, 0, 1, 12) };
  const isExceeded = (time: string): boolean => {
    const limit = new RemovalLimit();
    limit.load([{ name: "m-9", time }], at, SETTINGS);
    const question = { known: names(9), surplus: names(3), nowMs: at.monotonicMs };
    return limit.read(question, SETTINGS).isExceeded;
  };

  test.each([
    ["a short time ago", "2026-01-01T11:59:00Z", true],
    ["before the window", "2026-01-01T11:49:59Z", false],
    ["in the future, because a clock went back", "2026-01-01T13:00:00Z", true],
    ["at no time that can be read", "soon", true],
  ])("counts what another process removed %s", (_title, time, expected) => {
    expect(isExceeded(time)).toBe(expected);
  });

  test("ends with the window that began before it", () => {
    const limit = new RemovalLimit();
    const removals = [{ name: "m-9", time: "2026-01-01T11:59:00Z" }];
    limit.load(removals, at, SETTINGS);
    const endMs = at.monotonicMs + SETTINGS.fleetWindowMs - 60_000;
    expect(limit.list(endMs, SETTINGS)).toEqual(removals);
    expect(limit.list(endMs + 1, SETTINGS)).toEqual([]);
  });

  test("keeps what it removed itself, with its own time", () => {
    const limit = new RemovalLimit();
    limit.noteRemoval("m-9", at);
    limit.load([{ name: "m-9", time: "2026-01-01T11:55:00Z" }], at, SETTINGS);
    expect(limit.list(at.monotonicMs, SETTINGS)).toEqual([
      { name: "m-9", time: "2026-01-01T12:00:00Z" },
    ]);
  });
});

test.each([
  [
    "confirms this spec",
    { generation: 3, annotations: { "landfall.dev/confirm-removal": "3" } },
    true,
  ],
  [
    "confirms another one",
    { generation: 4, annotations: { "landfall.dev/confirm-removal": "3" } },
    false,
  ],
  ["is absent", { generation: 3 }, false],
  [
    "is there, and the spec has no generation",
    { annotations: { "landfall.dev/confirm-removal": "undefined" } },
    false,
  ],
])("isConfirmed() if the annotation %s", (_title, metadata, expected) => {
  expect(isConfirmed(metadata)).toBe(expected);
});

const reading = {
  affected: 5,
  missing: 4,
  deleted: 1,
  sizeAtStart: 6,
  limit: 2,
  isExceeded: true,
};

test("describeLimit() says that a confirmation is for another spec", () => {
  const metadata = { namespace: "metal", name: "edge", generation: 7 };
  const annotations = { "landfall.dev/confirm-removal": "6" };
  expect(describeLimit(reading, { ...metadata, annotations })).toContain(
    'The annotation landfall.dev/confirm-removal is "6", but the generation of this spec is 7. ' +
      "If that is right, confirm it: kubectl annotate",
  );
  expect(describeLimit(reading, metadata)).not.toContain("The annotation");
});

test("describeLimit() gives the command that confirms", () => {
  const text = describeLimit(reading, { namespace: "metal", name: "edge", generation: 7 });
  expect(text).toContain(
    "The spec wants 5 of 6 machines gone at once, 1 of them already, and the limit is 2",
  );
  expect(text).toEndWith(
    "kubectl annotate vino edge --namespace=metal --overwrite landfall.dev/confirm-removal=7",
  );
});
