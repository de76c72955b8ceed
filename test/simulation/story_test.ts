import { describe, expect, test } from "bun:test";
import { runStory } from "./story.ts";

describe("runStory", () => {
  test("runStory() tells the same story each time, and another one for another seed", async () => {
    const hashes = new Set<string>();
    for (const seed of [1, 2]) {
      const [first, second] = [await runStory(seed), await runStory(seed)];

      // The traces are compared to see what differs: to compare equal ones takes longer than the stories.
      if (second.hash !== first.hash) expect(second.trace).toEqual(first.trace);
      expect(second.hash).toBe(first.hash);
      hashes.add(first.hash);
    }
    expect(hashes.size).toBe(2);
  }, 60_000);

  test("runStory() tells the same story whatever was told before it", async () => {
    const { hash } = await runStory(7);
    await runStory(6);

    expect((await runStory(7)).hash).toBe(hash);
  }, 60_000);

  test("runStory() gives back what it takes from the machine", async () => {
    const before = [globalThis.fetch, Math.random];
    await runStory(1);

    expect([globalThis.fetch, Math.random]).toEqual(before);
  });
});
