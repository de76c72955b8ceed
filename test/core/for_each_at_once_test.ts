import { describe, expect, test } from "bun:test";
import { forEachAtOnce, mapAtOnce } from "../../lib/core/for_each_at_once.ts";

const { signal } = new AbortController();

describe("forEachAtOnce()", () => {
  test("works on all items, and on so many at once", async () => {
    let now = 0;
    let most = 0;
    const done: number[] = [];
    await forEachAtOnce([1, 2, 3, 4, 5], { atOnce: 2, signal }, async (item) => {
      now += 1;
      most = Math.max(most, now);
      await Promise.resolve();
      now -= 1;
      done.push(item);
    });
    expect([most, done.toSorted()]).toEqual([2, [1, 2, 3, 4, 5]]);
  });

  test("after an error starts no more, ends when the other work has ended, and throws the error", async () => {
    const begun: number[] = [];
    const ended: number[] = [];
    const work = forEachAtOnce([1, 2, 3, 4], { atOnce: 2, signal }, async (item, both) => {
      begun.push(item);
      if (item === 1) throw new Error("one");
      await new Promise<void>((resolve) => {
        both.addEventListener("abort", () => resolve(), { once: true });
      });
      ended.push(item);
    });
    await expect(work).rejects.toThrow("one");
    expect([begun, ended]).toEqual([[1, 2], [2]]);
  });

  test("throws the reason of a signal that aborts", async () => {
    const stopping = new AbortController();
    const work = forEachAtOnce([1, 2], { atOnce: 1, signal: stopping.signal }, async () => {
      stopping.abort(new Error("over"));
    });
    await expect(work).rejects.toThrow("over");
  });
});

test("mapAtOnce() returns what came of each item in their order, also if a later one ends first", async () => {
  const first = Promise.withResolvers<string>();
  const work = mapAtOnce([1, 2, 3], { atOnce: 2, signal }, async (item) => {
    if (item === 1) return await first.promise;
    if (item === 3) first.resolve("one");
    return String(item);
  });
  expect(await work).toEqual(["one", "2", "3"]);
});
