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
/** Where only some tests run, one of so many changes for most stories, and not the same ones in each. */
const SHARE = 7;

/** Each way to tell each of them. */
export const TELLINGS: readonly Telling[] = STORIES.flatMap((story, at) => [
  toTelling(
    { ...story, name: `services/${story.name}` },
    { jobMs: SHORT_JOB_MS, share: story.isDense ? 1 : SHARE, number: at },
  ),
  toTelling(
    { ...story, name: `services/${story.name}/long-jobs`, isOfCi: true },
    { jobMs: LONG_JOB_MS, share: SHARE, number: at },
  ),
]);

/** How a story is told.  */
interface How {
  readonly jobMs: number;
  /** One of so many changes is a crash point, where only some tests run. */
  readonly share: number;
  readonly number: number;
}

function toTelling(story: ServiceStory, how: How): Telling {
  const { jobMs } = how;
  const { name, isOfCi = false, hasCrashes = true } = story;
  return {
    name,
    isOfCi,
    hasPoints: hasCrashes,
    tell: (only) => {
      const tell = (point?: CrashPoint, whole?: Awaited<ReturnType<typeof tellService>>) =>
        tellService(story, jobMs, { ...(point && { point }), ...(whole && { whole }) });
      return tellWithCrashes(tell, (asked) => (hasCrashes ? listPoints(asked, how) : []), only);
    },
  };
}

/**
 * After the server did some of the changes. Where all tests run, before and after each change, and after the last
 * question; with long jobs also after each question, when they may not be over.
 */
function listPoints(asked: readonly Asked[], { jobMs, share, number }: How): CrashPoint[] {
  const isAll = readExtent() === "all";
  const isLong = jobMs === LONG_JOB_MS;
  return asked.flatMap(({ isChange }, index): CrashPoint[] => {
    const at = index + 1;
    const isPicked = isChange ? isAll || (at + number) % share === 0 : isAll && isLong;
    return [
      ...(isAll && isChange && !isLong ? [{ at, when: "before" } as const] : []),
      ...(isPicked || (isAll && at === asked.length) ? [{ at, when: "after" } as const] : []),
    ];
  });
}
