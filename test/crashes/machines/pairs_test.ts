import { test } from "bun:test";
import { readExtent } from "../../support/extent.ts";
import { Random } from "../../support/random.ts";
import { listCuts } from "./cuts.ts";
import { judge, tellWhole } from "./judge.ts";
import { STORIES, type Story } from "./stories.ts";

const IS_ALL = readExtent() === "all";
const TIMEOUT_MS = 300_000;
const PAIRS = IS_ALL ? 25 : 1;
const SEED = 17;

const WHOLE = STORIES.filter(({ share = 1 }) => share === 1);
const CASES = IS_ALL ? WHOLE : WHOLE.slice(0, 1);

test.each([...CASES])(
  "$name, and two things that go wrong do not matter either",
  async (story: Story) => {
    const whole = await tellWhole(story);
    const cuts = listCuts(whole, story.isForgetful ?? true);
    const others = cuts.filter(({ who }) => who !== "landfall");
    const random = new Random(SEED);
    // At most one of the two ends our process: it is the first one that is counted.
    for (let left = PAIRS; left > 0; left -= 1) {
      await judge(story, whole, random.pick(cuts), random.pick(others));
    }
  },
  TIMEOUT_MS,
);
