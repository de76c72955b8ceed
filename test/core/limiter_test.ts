/**
 * A bound on how much happens at once.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { Limiter } from "../../lib/core/limiter.ts";
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
