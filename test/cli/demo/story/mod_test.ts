import { describe, expect, test } from "bun:test";
import { playSteps } from "../../../../lib/cli/demo/steps.ts";
import { toSteps } from "../../../../lib/cli/demo/story/mod.ts";
import { setStage } from "../../../support/page/demo_stage.ts";

const NEVER = new AbortController().signal;

describe.each(["xenorchestra", "cloudstack"])("the story on %s", (on) => {
  test("fails in every step when there is no controller", async () => {
    await using set = await setStage({ on });
    const steps = toSteps(set.setting);
    expect(await playSteps(set.stage, { steps }, NEVER)).toBe(false);
    expect(set.lines.filter((line) => line.startsWith("     FAILED after "))).toHaveLength(
      steps.length,
    );
  });
});
