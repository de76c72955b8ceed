import { expect, test } from "bun:test";
import { inTime } from "../../../lib/cli/check/deadline.ts";

test("inTime() ends with the signal", async () => {
  const stop = new AbortController();
  const work = inTime(
    stop.signal,
    ({ code }) => code,
    (deadline) => {
      return new Promise((_resolve, reject) =>
        deadline.addEventListener("abort", () => reject(deadline.reason)),
      );
    },
  );
  stop.abort(new Error("stopped"));
  await expect(work).rejects.toThrow("stopped");
});
