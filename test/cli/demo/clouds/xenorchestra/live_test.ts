import { expect, test } from "bun:test";
import { setStage } from "../../../../support/page/demo_stage.ts";

const NEVER = new AbortController().signal;

test("toLiveSteps() moves the VM, and fails when no label follows", async () => {
  await using set = await setStage();
  expect(await set.step("live-migrates").play(set.stage, NEVER)).toBe(false);
  expect(set.lines.join()).toContain("moves worker-1 from xcp-par-1 to xcp-par-3");
});
