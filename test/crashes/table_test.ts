import { expect, test } from "bun:test";
import { readExtent } from "../support/extent.ts";
import { STORIES, type Story } from "./stories.ts";
import { type Ending, tell } from "./table.ts";
import type { Counted, Cut } from "./wire.ts";

const IS_ALL = readExtent() === "all";
/** Of one story with all its crashes, on a busy machine. */
const TIMEOUT_MS = 120_000;
/** Shorter and longer than the time until the process asks about a job for the first time. */
const JOB_MS = IS_ALL ? [200, 2_000] : [200];
const CASES = JOB_MS.flatMap((jobMs) =>
  STORIES.filter(({ isOfCi = false }) => !isOfCi || readExtent() === "all").map((story) => ({
    name: story.name,
    jobMs,
    story,
  })),
);

test.each(CASES)(
  "$name, and a crash at any request does not matter (jobs of $jobMs ms)",
  async ({ story, jobMs }: { readonly story: Story; readonly jobMs: number }) => {
    const whole = await tell(story, { jobMs });
    expect(whole.isDone).toBe(true);
    for (const cut of listCuts(whole)) {
      const ending = await tell(story, { jobMs, cut, expected: whole });
      const where = `${cut.when} ${whole.requests[cut.at - 1]?.what} (request ${cut.at})`;
      expect({ where, left: ending.left }).toEqual({ where, left: whole.left });
      // A run that asks less, because its looks fall together, ends before the cut.
      expect(ending.isCut || ending.requests.length < cut.at).toBe(true);
      expect({ where, more: listRepeated(ending, whole) }).toEqual({ where, more: [] });
    }
  },
  TIMEOUT_MS,
);

/**
 * After the server carried out every second change, and after the last question. Where all tests run, after each change
 * and each question, when the jobs may not be over, and before each change, as after the request before it.
 */
function listCuts({ requests }: Ending): Cut[] {
  return requests.flatMap(({ isChange }, index): Cut[] => {
    const at = index + 1;
    if (isChange && IS_ALL)
      return [
        { at, when: "before" },
        { at, when: "after" },
      ];
    const isPicked = IS_ALL || (isChange && at % 2 === 0) || at === requests.length;
    return isPicked ? [{ at, when: "after" }] : [];
  });
}

/** Changes of the cloud that were asked for more than once more than without a crash. */
function listRepeated(ending: Ending, whole: Ending): string[] {
  const usual = countChanges(whole.requests);
  return [...countChanges(ending.requests)]
    .filter(([what, count]) => count > (usual.get(what) ?? 0) + 1)
    .map(([what, count]) => `${what}: ${count} instead of ${usual.get(what) ?? 0}`);
}

function countChanges(requests: readonly Counted[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { what, isChange, isOfCloud } of requests) {
    if (isChange && isOfCloud) counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return counts;
}
