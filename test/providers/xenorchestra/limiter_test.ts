/**
 * The bound on requests at a time.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { Limiter } from "../../../lib/providers/xenorchestra/limiter.ts";

const signal = new AbortController().signal;

describe("Limiter", () => {
  test("run() never runs more than the limit, and all in order", async () => {
    const limiter = new Limiter(2);
    const order: number[] = [];
    let running = 0;
    let most = 0;
    const task = (at: number) => async (): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      order.push(at);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
    };
    await Promise.all([0, 1, 2, 3, 4].map((at) => limiter.run(task(at), signal)));
    expect(most).toBe(2);
    expect(order).toEqual([0, 1, 2, 3, 4]);
  });

  test("run() gives the place free when a task fails or a wait is given up", async () => {
    const limiter = new Limiter(1);
    await expect(limiter.run(() => Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = limiter.run(() => promise, signal);
    const stop = new AbortController();
    const waiting = limiter.run(() => Promise.resolve(), stop.signal);
    const last = limiter.run(() => Promise.resolve("last"), signal);
    stop.abort(new Error("stop"));
    await expect(waiting).rejects.toThrow("stop");
    resolve();
    await first;
    expect(await last).toBe("last");
  });
});
