import { describe, expect, test } from "bun:test";
import { playStory, toStory } from "../../../../lib/cli/demo/story/mod.ts";
import { setStage } from "../../../support/page/demo_stage.ts";

const NEVER = new AbortController().signal;

describe.each(["xenorchestra", "cloudstack"])("the story on %s", (on) => {
  test("fails in every step when there is no controller", async () => {
    await using set = await setStage({ on });
    const steps = toStory(set.setting);
    expect(await playStory(set.stage, steps, NEVER)).toBe(false);
    expect(set.lines.filter((line) => line === "     FAILED")).toHaveLength(steps.length);
  });
});

test.each([
  [[true, true], true],
  [[true, false, true], false],
  [[false], false],
  [[], true],
])(
  "playStory() of steps that succeed as %j is %p, and plays all of them",
  async (steps, expected) => {
    await using set = await setStage();
    const played = steps.map((isTrue, at) => ({
      title: `step ${at}`,
      play: () => Promise.resolve(isTrue),
    }));
    expect(await playStory(set.stage, played, NEVER)).toBe(expected);
    expect(set.lines.filter((line) => /^ {5}(OK|FAILED)$/.test(line))).toHaveLength(steps.length);
  },
);
