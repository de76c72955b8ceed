/**
 * Seeds as tests.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { type Extent, readExtent, readTurn } from "../../support/extent.ts";
import { describeFailure } from "../ending.ts";
import { runStory } from "../story.ts";

/** How many seeds are run. */
export const SEED_COUNTS: Readonly<Record<Extent, number>> = { some: 4, all: 200 };
/** So many runs of CI together have all seeds. */
export const RUNS = 5;
/** The files that run them, so that they run at the same time. */
export const PARTS: readonly number[] = [1, 2];
/** So many seeds are one test. */
const SEEDS_PER_TEST = 2;
/** What so many may take, in milliseconds: much more than on a busy machine. After one cut off, no other can start. */
const TIMEOUT_MS = 120_000;

/** Defines the tests of a part of the seeds. */
export function describeSeeds(part: number): void {
  describe(`simulation, part ${part} of ${PARTS.length}`, () => {
    for (const { first, last } of listSeedRanges(part, readExtent(), readTurn())) {
      const title = `runStory() breaks no promise from seed ${first} to ${last}`;
      const tell = async (): Promise<void> => {
        for (let seed = first; seed <= last; seed += 1)
          expect(describeFailure(await runStory(seed))).toBe("");
      };
      test(title, tell, TIMEOUT_MS);
    }
  });
}

/** The first and the last seed of each test of a part. */
export function listSeedRanges(
  part: number,
  extent: Extent,
  turn: number = 0,
): readonly { readonly first: number; readonly last: number }[] {
  const tests = SEED_COUNTS[extent] / PARTS.length / SEEDS_PER_TEST;
  const before = extent === "all" ? (turn % RUNS) * SEED_COUNTS.all : 0;
  return Array.from({ length: tests }, (_, at) => {
    const first = before + ((part - 1) * tests + at) * SEEDS_PER_TEST + 1;
    return { first, last: first + SEEDS_PER_TEST - 1 };
  });
}
