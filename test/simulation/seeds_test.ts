import { describe, expect, test } from "bun:test";
import type { Extent } from "../support/extent.ts";
import { listSources, readSource } from "../support/sources.ts";
import { listSeedRanges, PARTS, RUNS, SEED_COUNTS } from "./seeds/seeds.ts";

/** The seeds of a run. */
function listSeeds(extent: Extent, turn: number): number[] {
  return PARTS.flatMap((part) => listSeedRanges(part, extent, turn)).flatMap(({ first, last }) =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at),
  );
}

const countUp = (length: number): number[] => Array.from({ length }, (_, at) => at + 1);

describe("listSeedRanges()", () => {
  test("npm test has the first seeds each time", () => {
    for (const turn of [0, 1]) expect(listSeeds("some", turn)).toEqual(countUp(SEED_COUNTS.some));
  });

  test("runs of CI that follow each other have each seed once", () => {
    const turns = Array.from({ length: RUNS }, (_, at) => 2_076 + at);
    const seeds = turns.flatMap((turn) => listSeeds("all", turn));
    expect(seeds.toSorted((a, b) => a - b)).toEqual(countUp(SEED_COUNTS.all * RUNS));
  });
});

test("each part has a file that runs it", async () => {
  const files = (await listSources("test")).filter((file) => /\/seeds_\d+_test\.ts$/.test(file));
  const texts = await Promise.all(files.map(readSource));
  const parts = texts.map((text) => Number(/describeSeeds\((\d+)\)/.exec(text)?.[1]));
  expect(parts.sort((a, b) => a - b)).toEqual([...PARTS]);
});

test("the page about tests has both numbers", async () => {
  const { some, all } = SEED_COUNTS;
  expect(await readSource("docs/contributing/testing.md")).toContain(
    `\`npm test\` runs ${some} seeds, CI ${all} of ${(all * RUNS).toLocaleString("en")}`,
  );
});
