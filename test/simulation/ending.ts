/**
 * A story from its first chapter to its last, whatever it is of, and what a person is shown of one that fails.
 * @module
 */
import { readExtent } from "../support/extent.ts";
import type { Timeline } from "./timeline.ts";
import type { Trace } from "./trace.ts";

/** How a story ended. */
export interface Ending {
  /** What tells it again: flags of `npm run simulate`. */
  readonly replay: string;
  /** What was broken; empty when all is well. */
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  /** Names the trace. */
  readonly hash: string;
  readonly virtualMs: number;
}

/** What a story happens to. */
interface StoryWorld {
  readonly trace: Trace;
  readonly timeline: Timeline;
  /** What judges say so far. */
  readonly violations: readonly string[];
  leave(): Promise<void> | void;
}

/** So much of the trace is shown of a story that fails. */
const TAIL_LINES = 80;

/** Tells a story, and leaves its world. An error that a chapter throws is one more thing that was broken. */
export async function tellStory<W extends StoryWorld>(
  replay: string,
  world: W,
  chapters: readonly ((world: W) => Promise<void>)[],
): Promise<Ending> {
  const { trace, timeline } = world;
  const failures: string[] = [];
  try {
    for (const chapter of chapters) await chapter(world);
  } catch (error) {
    trace.note("STORY", String(error));
    failures.push(String(error));
  } finally {
    await world.leave();
  }
  return {
    replay,
    violations: [...world.violations, ...failures],
    trace: [...trace.lines],
    hash: trace.toHash(),
    virtualMs: timeline.monotonic(),
  };
}

/** What a person needs who wants to know why a story failed; empty when it did not. */
export function describeFailure({ violations, trace, replay }: Ending): string {
  if (violations.length === 0) return "";
  const broken = violations.map((one) => `BROKEN: ${one}`);
  // The disturbances of a scenario depend on it.
  const extent =
    replay.startsWith("--scenario") && readExtent() === "all" ? "LANDFALL_TESTS=all " : "";
  const command = `${extent}npm run simulate -- ${replay}`;
  return [...trace.slice(-TAIL_LINES), ...broken, command].join("\n");
}
