import { expect, test } from "bun:test";
import { printChanges } from "../../../../lib/cli/demo/printer.ts";
import { letPass } from "../../../../lib/cli/demo/story/stage.ts";
import { setStage } from "../../../support/page/demo_stage.ts";
import { toNode } from "../../../support/nodes/nodes.ts";
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

test("printChanges() prints nothing of an object that moves the cursor or sets colours", async () => {
  await using set = await setStage();
  const { view, cloud, tell } = set.stage;
  const stop = printChanges({ view, cloud, tell });
  set.nodes.replace([toNode("n", { systemUuid: "\u001b[2J\nuuid" })], "1");
  const metadata = { name: "n.1", namespace: "default", resourceVersion: "2" };
  const event = { metadata, involvedObject: { kind: "Node", name: "n" }, type: "Warning" };
  set.events.apply({ ...event, reason: "R", message: "\u009b31m" });
  stop();
  expect(set.lines).toEqual(["  +  n registers, system UUID ?[2J uuid", "  !  n: R: ?31m"]);
});
