import { describe, expect, test } from "bun:test";
import { listSources, readSource } from "../support/sources.ts";
import { listSeedRanges, PARTS, SEED_COUNTS } from "./seeds/seeds.ts";

describe("listSeedRanges()", () => {
  test.each(["some", "all"] as const)("has each seed once when %s are run", (name) => {
    const seeds = PARTS.flatMap((part) => listSeedRanges(part, name)).flatMap(({ first, last }) =>
      Array.from({ length: last - first + 1 }, (_, at) => first + at),
    );
    expect(seeds).toEqual(Array.from({ length: SEED_COUNTS[name] }, (_, at) => at + 1));
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
    `\`npm test\` runs ${some} seeds, CI ${all.toLocaleString("en")}`,
  );
});
