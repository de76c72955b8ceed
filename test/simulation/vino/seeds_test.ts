/**
 * Seeds of Vinos as tests.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { readExtent } from "../../support/extent.ts";
import { describeFailure } from "../ending.ts";
import { runVinoStory } from "./story.ts";

/** A seed takes 1 to 2 s of processor time. */
const SEEDS = { some: 1, all: 40 } as const;
const TIMEOUT_MS = 120_000;

describe("simulation of Vinos", () => {
  for (let seed = 1; seed <= SEEDS[readExtent()]; seed += 1) {
    const title = `runVinoStory() breaks no promise with seed ${seed}`;
    test(title, async () => expect(describeFailure(await runVinoStory(seed))).toBe(""), TIMEOUT_MS);
  }
});

test.skipIf(readExtent() === "some")(
  "runVinoStory() tells the same story of a seed each time",
  async () => {
    const [one, other] = [await runVinoStory(4), await runVinoStory(4)];
    expect(one.hash).toBe(other.hash);
  },
  TIMEOUT_MS,
);
