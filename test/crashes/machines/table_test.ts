import { afterAll, test } from "bun:test";
import { readExtent } from "../../support/extent.ts";
import { listCuts } from "./cuts.ts";
import { judge, tellWhole } from "./judge.ts";
import { STORIES, type Story } from "./stories.ts";

const IS_ALL = readExtent() === "all";
/** Of one story with all its disturbances, on a busy machine. */
const TIMEOUT_MS = 300_000;
/** Where only some tests run, one of so many points: a prime number falls on points of many kinds. */
const SHARE = 47;

const counts = new Map<string, number>();
afterAll(() => {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const parts = [...counts].map(([who, count]) => `${count} ${who}`).join(", ");
  if (IS_ALL) console.info(`crash tables of machines: ${total} cut points (${parts})`);
});

const CASES = STORIES.filter(({ share = 1 }) => IS_ALL || share === 1);

test.each([...CASES])(
  "$name, and whatever goes wrong once does not matter",
  async (story: Story) => {
    const whole = await tellWhole(story);
    const share = IS_ALL ? (story.share ?? 1) : SHARE;
    const cuts = listCuts(whole, story.isForgetful ?? true);
    for (const cut of cuts.filter((_, index) => index % share === 0)) {
      await judge(story, whole, cut);
      counts.set(cut.who, (counts.get(cut.who) ?? 0) + 1);
    }
  },
  TIMEOUT_MS,
);
