import { expect, test } from "bun:test";
import { inTime } from "../../../lib/cli/check/deadline.ts";

const signal = new AbortController().signal;
const toLate = ({ code }: { readonly code: string }): string => code;

test("inTime() gives what the work gives, and throws what it throws", async () => {
  expect(await inTime(signal, toLate, () => Promise.resolve("done"))).toBe("done");
  const broken = inTime(signal, toLate, () => Promise.reject(new Error("broken")));
  await expect(broken).rejects.toThrow("broken");
});

test("inTime() ends with the signal", async () => {
  const stop = new AbortController();
  const work = inTime(stop.signal, toLate, (deadline) => {
    return new Promise((_resolve, reject) =>
      deadline.addEventListener("abort", () => reject(deadline.reason)),
    );
  });
  stop.abort(new Error("stopped"));
  await expect(work).rejects.toThrow("stopped");
});
