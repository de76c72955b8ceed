/**
 * Judges a telling of a story in which something went wrong by one in which nothing did.
 * @module
 */
import { expect } from "bun:test";
import { describeCut } from "./cuts.ts";
import type { Story } from "./stories.ts";
import { type Cut, type Ending, tell } from "./table.ts";

/** Tells a story without a disturbance. It must end as it should. */
export async function tellWhole(story: Story): Promise<Ending> {
  const whole = await tell(story);
  const { isAtRest, problems, violations } = whole;
  expect({ isAtRest, problems, violations }).toEqual({
    isAtRest: true,
    problems: [],
    violations: [],
  });
  return whole;
}

/** Tells a story with what goes wrong. It must end in the same way. */
export async function judge(story: Story, whole: Ending, ...cuts: readonly Cut[]): Promise<void> {
  const where = cuts.map((cut) => describeCut(cut, whole)).join(", and ");
  const { isAtRest, isCut, problems, violations, left, records } = await tell(story, ...cuts);
  const why = isAtRest ? [] : problems;
  // The first disturbance can be the end of the second one.
  const wasCut = cuts.length > 1 || isCut;
  expect({ where, isAtRest, why, wasCut, violations, left }).toEqual({
    where,
    isAtRest: true,
    why: [],
    wasCut: true,
    violations: [],
    left: whole.left,
  });
  const isForgotten =
    story.mayNotBegin === true ||
    cuts.some((cut) => cut.who === "landfall" && cut.isForgetful === true);
  if (!isForgotten) expect({ where, records }).toEqual({ where, records: whole.records });
}
