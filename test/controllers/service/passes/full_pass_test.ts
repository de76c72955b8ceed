import { expect, test } from "bun:test";
import { runFullPasses } from "../../../../lib/controllers/service/passes/full_pass.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

test("runFullPasses() looks once for all Services, at once and each period", async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  const times: number[] = [];
  let isDown = false;
  const running = runFullPasses(
    {
      clock,
      log: silentLogger,
      periodMs: 600_000,
      random: () => 0.5,
      isNeeded: () => true,
      look: async () => {
        if (isDown) throw new Error("the cloud does not answer");
      },
      enqueueAll: () => times.push(clock.monotonic()),
    },
    stop.signal,
  );
  await clock.advance(700_000);
  expect(times).toEqual([0, 630_000]);
  isDown = true;
  await clock.advance(600_000);
  expect(times.length).toBe(2);
  isDown = false;
  await clock.advance(60_000);
  expect(times.length).toBe(3);
  stop.abort();
  await running;
  expect(clock.pending).toBe(0);
});
