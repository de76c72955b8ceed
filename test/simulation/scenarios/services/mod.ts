/**
 * The scenarios of Services: each once without a crash, and once for each of some requests with one.
 * @module
 */
import { readExtent } from "../../../support/extent.ts";
import { type Asked, type CrashPoint, tellWithCrashes } from "../../crash_points.ts";
import type { Telling } from "../scenario.ts";
import { type ServiceStory, tellService } from "./stage.ts";
import { STORIES } from "./stories.ts";

/** Shorter and longer than the time until the process asks about a job for the first time, in milliseconds. */
const SHORT_JOB_MS = 200;
const LONG_JOB_MS = 2_000;
/** Where only some tests run, one of so many changes, and not the same ones in each story. */
const SHARE = 3;

/** Each way to tell each of them. */
export const TELLINGS: readonly Telling[] = STORIES.flatMap((story, at) => [
  toTelling({ ...story, name: `services/${story.name}` }, SHORT_JOB_MS, at),
  toTelling({ ...story, name: `services/${story.name}/long-jobs`, isOfCi: true }, LONG_JOB_MS, at),
]);

function toTelling(story: ServiceStory, jobMs: number, number: number): Telling {
  const { name, isOfCi = false } = story;
  return {
    name,
    isOfCi,
    tell: (only) => {
      if (only !== undefined) return tellService(story, jobMs, { point: only });
      const tell = (point?: CrashPoint, whole?: Awaited<ReturnType<typeof tellService>>) =>
        tellService(story, jobMs, { ...(point && { point }), ...(whole && { whole }) });
      return tellWithCrashes(tell, (asked) => listPoints(asked, number));
    },
  };
}

/**
 * After the server did some of the changes, and after the last question. Where all tests run, before and after each
 * change, and after each question, when the jobs may not be over.
 */
function listPoints(asked: readonly Asked[], number: number): CrashPoint[] {
  const isAll = readExtent() === "all";
  return asked.flatMap(({ isChange }, index): CrashPoint[] => {
    const at = index + 1;
    if (isAll && isChange)
      return [
        { at, when: "before" },
        { at, when: "after" },
      ];
    const isPicked = isAll || (isChange && (at + number) % SHARE === 0) || at === asked.length;
    return isPicked ? [{ at, when: "after" }] : [];
  });
}
