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
    limit.noteRemoval("m-9", 1_000);
    expect(read(9, 2, 1_000)).toBe(false);
    expect(read(9, 3, 2_000)).toBe(true);
    expect(read(9, 3, 700_000)).toBe(false);
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

test("describeLimit() gives the command that confirms", () => {
  const reading = {
    affected: 5,
    missing: 4,
    deleted: 1,
    sizeAtStart: 6,
    limit: 2,
    isExceeded: true,
  };
  const text = describeLimit(reading, { namespace: "metal", name: "edge", generation: 7 });
  expect(text).toContain(
    "The spec wants 5 of 6 machines gone at once, 1 of them already, and the limit is 2",
  );
  expect(text).toEndWith(
    "kubectl annotate vino edge --namespace=metal --overwrite landfall.dev/confirm-removal=7",
  );
});
