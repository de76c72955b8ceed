import { describe, expect, test } from "bun:test";
import { runStory } from "./story.ts";

describe("runStory", () => {
  test.each([1, 2, 3])(
    "runStory() tells the same story each time: seed %d",
    async (seed) => {
      const [first, second] = [await runStory(seed), await runStory(seed)];

      expect(second.trace).toEqual(first.trace);
      expect(second.hash).toBe(first.hash);
    },
    60_000,
  );

  test("runStory() tells the same story whatever was told before it", async () => {
    const { hash } = await runStory(277);
    await runStory(276);

    expect((await runStory(277)).hash).toBe(hash);
  }, 60_000);

  test("runStory() tells another story for another seed", async () => {
    const endings = [await runStory(1), await runStory(2)];

    expect(new Set(endings.map(({ hash }) => hash)).size).toBe(2);
  });

  test("runStory() gives back what it takes from the machine", async () => {
    const before = [globalThis.fetch, Math.random];
    await runStory(1);

    expect([globalThis.fetch, Math.random]).toEqual(before);
  });
});
