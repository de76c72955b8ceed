import { expect } from "bun:test";
import { readExtent } from "../support/extent.ts";
import { runStory } from "./story.ts";
import { longTest } from "../support/long_tests.ts";

const SEEDS = { some: [1], all: [1, 2, 7] } as const;
/** Told in between, and another story. */
const OTHER = 6;

longTest(
  "runStory() tells the same story of a seed each time, whatever was told before, and gives back all",
  async () => {
    const before = [globalThis.fetch, globalThis.WebSocket, Math.random, crypto.randomUUID];
    for (const seed of SEEDS[readExtent()]) {
      const [first, other, again] = [
        await runStory(seed),
        await runStory(OTHER),
        await runStory(seed),
      ];
      // The traces are compared to see what differs: to compare equal ones takes longer than the stories.
      if (again.hash !== first.hash) expect(again.trace).toEqual(first.trace);
      expect(again.hash).toBe(first.hash);
      expect(other.hash).not.toBe(first.hash);
    }
    expect([globalThis.fetch, globalThis.WebSocket, Math.random, crypto.randomUUID]).toEqual(
      before,
    );
  },
  60_000,
);
