import { expect, test } from "bun:test";
import { letPass } from "../../../../lib/cli/demo/story/stage.ts";
import { setStage } from "../../../support/page/demo_stage.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

test.each([
  ["is over when the time has passed and enough inventories were taken", 1_000, 2, true],
  ["goes on until the time has passed", 950, 2, undefined],
  ["goes on until enough inventories were taken", 2_000, 1, undefined],
  ["gives up when too few inventories were taken", 3_000, 1, false],
])("letPass() %s", async (_title, ms, taken, expected) => {
  const clock = new ManualClock();
  let passes = 3;
  const cloud = { countPasses: () => passes };
  await using set = await setStage({ clock, cloud, stepMsMax: 3_000 });
  let result: boolean | undefined;
  const { signal } = new AbortController();
  const passing = letPass(set.stage, { ms: 1_000, passes: 2 }, signal).then((is) => (result = is));
  passes += taken;
  await clock.advance(ms);
  expect(result).toBe(expected);
  await clock.advance(3_000);
  await passing;
});
