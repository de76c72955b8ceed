/**
 * Seeds as tests.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { runStory } from "./story.ts";

/** So many seeds are one test. */
const SEEDS_PER_TEST = 25;
/** What so many may take, in milliseconds: a busy machine needs a minute. After one cut off, no other can start. */
const TIMEOUT_MS = 120_000;
/** So much of the trace is shown of a seed that fails. */
const TAIL_LINES = 60;

/** Defines tests for some seeds. A file of its own for each part, so that the parts run at the same time. */
export function describeSeeds(from: number, count: number): void {
  describe(`simulation, seeds ${from} to ${from + count - 1}`, () => {
    for (let first = from; first < from + count; first += SEEDS_PER_TEST) {
      const last = Math.min(first + SEEDS_PER_TEST, from + count) - 1;
      const title = `runStory() breaks no promise from seed ${first} to ${last}`;
      const tell = async (): Promise<void> => {
        for (let seed = first; seed <= last; seed += 1) expect(await findFailure(seed)).toBe("");
      };
      test(title, tell, TIMEOUT_MS);
    }
  });
}

/** What a person needs who wants to know why a seed fails; empty when it does not. */
async function findFailure(seed: number): Promise<string> {
  const { violations, trace } = await runStory(seed);
  if (violations.length === 0) return "";
  const replay = `npm run simulate -- --seed ${seed}`;
  return [...trace.slice(-TAIL_LINES), ...violations, replay].join("\n");
}
