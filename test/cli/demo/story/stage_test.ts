import { expect, test } from "bun:test";
import {
  findMachine,
  letPass,
  requireMachine,
  waitForCloud,
  waitForNodes,
  waitUntil,
} from "../../../../lib/cli/demo/story/stage.ts";
import { isReady } from "../../../../lib/controllers/identity.ts";
import { setStage } from "../../../support/page/demo_stage.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { toNode } from "../../../support/nodes/nodes.ts";

const NEVER = new AbortController().signal;

test("findMachine() knows the machines of the world, the late one too", async () => {
  await using set = await setStage();
  const { cloud } = set.stage;
  expect(findMachine(cloud, "worker-1")).toBe(cloud.machines.get("worker-1"));
  expect(findMachine(cloud, "worker-late")).toBe(cloud.late);
  expect(findMachine(cloud, "nobody")).toBeUndefined();
  expect(requireMachine(cloud, "worker-late")).toBe(cloud.late);
  expect(() => requireMachine(cloud, "nobody")).toThrow(RangeError);
});

test("waitUntil() tells whether it came true before the step had to end", async () => {
  await using set = await setStage();
  expect(await waitUntil(set.stage, NEVER, () => true)).toBe(true);
  expect(await waitUntil(set.stage, NEVER, () => false)).toBe(false);
});

test("waitForCloud() asks again and again, until it is true or the step had to end", async () => {
  await using set = await setStage({ stepMsMax: 10_000 });
  let asked = 0;
  expect(await waitForCloud(set.stage, NEVER, () => (asked += 1) >= 3)).toBe(true);
  await using short = await setStage();
  expect(await waitForCloud(short.stage, NEVER, () => false)).toBe(false);
});

test.each([
  ["all are as they should be", ["worker-1"], true],
  ["one is not there", ["worker-1", "worker-2"], false],
  ["one is not of the world", ["worker-1", "stranger"], false],
])("waitForNodes() when %s", async (_what, names, expected) => {
  await using set = await setStage();
  const { view, cloud } = set.stage;
  view.nodes.replace([toNode("worker-1"), toNode("stranger")], "1");
  const holds = (_node: unknown, machine: unknown): boolean =>
    machine === cloud.machines.get("worker-1");
  expect(await waitForNodes(set.stage, names, NEVER, holds)).toBe(expected);
});

test("waitForNodes() is false when a Node is there but is not as it should be", async () => {
  await using set = await setStage();
  set.stage.view.nodes.replace([toNode("worker-1")], "1");
  expect(await waitForNodes(set.stage, ["worker-1"], NEVER, (node) => isReady(node))).toBe(false);
});

test("letPass() waits for both the time and the inventories", async () => {
  const clock = new ManualClock();
  let passes = 3;
  const cloud = { countPasses: () => passes };
  await using set = await setStage({ clock, cloud, stepMsMax: 10_000 });
  let isOver = false;
  const passing = letPass(set.stage, { ms: 1_000, passes: 2 }, NEVER).finally(() => {
    isOver = true;
  });
  passes += 1;
  await clock.advance(2_000);
  expect(isOver).toBe(false);
  passes += 1;
  await clock.advance(50);
  expect(isOver).toBe(true);
  expect(await passing).toBe(true);
});

test("letPass() does not end before the time is over", async () => {
  const clock = new ManualClock();
  await using set = await setStage({ clock, stepMsMax: 10_000 });
  let isOver = false;
  const passing = letPass(set.stage, { ms: 1_000, passes: 0 }, NEVER).finally(() => {
    isOver = true;
  });
  await clock.advance(950);
  expect(isOver).toBe(false);
  await clock.advance(50);
  expect(await passing).toBe(true);
});

test("letPass() is false when too few inventories were taken", async () => {
  const clock = new ManualClock();
  await using set = await setStage({ clock, stepMsMax: 3_000 });
  const passing = letPass(set.stage, { ms: 1_000, passes: 1 }, NEVER);
  await clock.advance(3_000);
  expect(await passing).toBe(false);
});
