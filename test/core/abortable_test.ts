/**
 * Waiting for shared work.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { abortable } from "../../lib/core/abortable.ts";

const never = new AbortController().signal;

describe("abortable()", () => {
  test("settles as the promise does", async () => {
    expect(await abortable(Promise.resolve(1), never)).toBe(1);
    await expect(abortable(Promise.reject(new Error("no")), never)).rejects.toThrow("no");
  });

  test("rejects with the reason as soon as the signal aborts", async () => {
    const stop = new AbortController();
    const waiting = abortable(new Promise(() => {}), stop.signal);
    stop.abort(new Error("stop"));
    await expect(waiting).rejects.toThrow("stop");
  });

  test("does not wait at all with a signal that has aborted, and swallows a later failure", async () => {
    const work = Promise.withResolvers<never>();
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(abortable(work.promise, signal)).rejects.toThrow("stop");
    work.reject(new Error("later"));
  });
});
