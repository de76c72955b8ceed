/**
 * A bound on how much happens at once.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { forEachAtOnce, Limiter, mapAtOnce } from "../../lib/core/concurrency.ts";
import { settle } from "../support/manual_clock.ts";

const never = new AbortController().signal;

describe("Limiter", () => {
  test("runs no more than its size at once, in order, and all in the end", async () => {
    const limiter = new Limiter(2);
    const started: number[] = [];
    const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
    const all = gates.map((gate, at) =>
      limiter.run(() => {
        started.push(at);
        return gate.promise;
      }, never),
    );
    await settle();
    expect(started).toEqual([0, 1]);
    gates[1]?.resolve();
    await settle();
    expect(started).toEqual([0, 1, 2]);
    for (const gate of gates) gate.resolve();
    await Promise.all(all);
    expect(started).toEqual([0, 1, 2, 3, 4]);
  });

  test("gives the place back when the work fails", async () => {
    const limiter = new Limiter(1);
    const failing = limiter.run(() => Promise.reject(new Error("no")), never);
    await expect(failing).rejects.toThrow("no");
    expect(await limiter.run(() => Promise.resolve(1), never)).toBe(1);
  });

  test("lets one who waits leave the line, and serves the next", async () => {
    const limiter = new Limiter(1);
    const gate = Promise.withResolvers<void>();
    const first = limiter.run(() => gate.promise, never);
    const stop = new AbortController();
    const second = limiter.run(() => Promise.resolve(2), stop.signal);
    const third = limiter.run(() => Promise.resolve(3), never);
    stop.abort(new Error("stop"));
    await expect(second).rejects.toThrow("stop");
    gate.resolve();
    await first;
    expect(await third).toBe(3);
    expect(await limiter.run(() => Promise.resolve(4), never)).toBe(4);
  });

  test("does not begin for a signal that has aborted", async () => {
    const limiter = new Limiter(1);
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(limiter.run(() => Promise.resolve(1), signal)).rejects.toThrow("stop");
  });

  test.each([0, -1, 1.5])("refuses the size %p", (size) => {
    expect(() => new Limiter(size)).toThrow(RangeError);
  });
});

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
