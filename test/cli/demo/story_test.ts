import { expect, test } from "bun:test";
import { playStory, STORY } from "../../../lib/cli/demo/story.ts";
import { setStage } from "../../support/page/demo_stage.ts";

const NEVER = new AbortController().signal;

test("playStory() says of every step that it failed when there is no controller", async () => {
  await using set = await setStage();
  expect(await playStory(set.stage, NEVER)).toBe(false);
  expect(set.lines.filter((line) => line === "     FAILED")).toHaveLength(STORY.length);
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
    expect(await playStory(set.stage, NEVER, played)).toBe(expected);
    expect(set.lines.filter((line) => /^ {5}(OK|FAILED)$/.test(line))).toHaveLength(steps.length);
  },
);
