import { afterAll, expect, test } from "bun:test";
import { readExtent } from "../../support/extent.ts";
import { describeCut, listCuts } from "./cuts.ts";
import { STORIES, type Story } from "./stories.ts";
import { type Cut, tell } from "./table.ts";

const IS_ALL = readExtent() === "all";
/** Of one story with all its disturbances, on a busy machine. */
const TIMEOUT_MS = 600_000;
/** Where only some tests run, one of so many points: a number that falls on each kind of them. */
const SHARE = 11;

const counts = new Map<string, number>();
afterAll(() => {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const parts = [...counts].map(([who, count]) => `${count} ${who}`).join(", ");
  if (IS_ALL) console.info(`crash tables of machines: ${total} cut points (${parts})`);
});

const CASES = STORIES.filter(({ isOfCi = false }) => IS_ALL || !isOfCi);

test.each([...CASES])(
  "$name, and whatever goes wrong once does not matter",
  async (story: Story) => {
    const whole = await tell(story);
    expect({ isAtRest: whole.isAtRest, problems: whole.problems }).toEqual({
      isAtRest: true,
      problems: [],
    });
    expect(whole.violations).toEqual([]);
    const cuts = listCuts(whole, story.isForgetful ?? true);
    for (const cut of pick(cuts)) {
      const where = describeCut(cut, whole);
      const { isAtRest, left, violations, records, isCut } = await tell(story, cut);
      const isForgotten = cut.who === "landfall" && cut.isForgetful === true;
      expect({ where, isAtRest, isCut, violations, left }).toEqual({
        where,
        isAtRest: true,
        isCut: true,
        violations: [],
        left: whole.left,
      });
      if (!isForgotten) expect({ where, records }).toEqual({ where, records: whole.records });
      counts.set(cut.who, (counts.get(cut.who) ?? 0) + 1);
    }
  },
  TIMEOUT_MS,
);

function pick(cuts: readonly Cut[]): readonly Cut[] {
  return IS_ALL ? cuts : cuts.filter((_, index) => index % SHARE === 0);
}
