/**
 * A story from its first chapter to its last, whatever it is of: how it comes to rest, and what a person is shown of
 * one that fails.
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

/** A world that comes to rest. */
interface RestingWorld {
  readonly timeline: Pick<Timeline, "advance" | "monotonic">;
  readonly trace: Pick<Trace, "note">;
  readonly replicas: readonly { kill(): void }[];
}

/** How to see that a world is at rest. */
export interface RestRules {
  /** What people and the supervisor do at each look. */
  readonly look: () => void;
  /** Starts processes that ended. */
  readonly supervise: () => void;
  /** What judges say so far. */
  readonly listViolations: () => readonly string[];
  /** What is not true yet, in sentences; empty when all is right. */
  readonly listUntrue: () => readonly string[];
  /** How much was changed so far. */
  readonly countWrites: () => number;
  /** For so long nothing more may be changed once all is right, in milliseconds. */
  readonly quietMs: number;
  /** Longest time until all is right, in milliseconds. */
  readonly maxMs: number;
}

const LOOK_MS = 5_000;

/**
 * Waits until all is right and at rest.
 *
 * @throws an error that says what is not right in time. It returns at once when a judge has something to say
 */
export async function untilRight({ timeline }: RestingWorld, rules: RestRules): Promise<void> {
  const endMs = timeline.monotonic() + rules.maxMs;
  let right: { readonly sinceMs: number; readonly writes: number } | undefined;
  for (;;) {
    await timeline.advance(LOOK_MS);
    rules.look();
    if (rules.listViolations().length > 0) return;
    const nowMs = timeline.monotonic();
    const untrue = rules.listUntrue();
    const writes = rules.countWrites();
    if (untrue.length > 0) right = undefined;
    else if (right?.writes !== writes) right = { sinceMs: nowMs, writes };
    else if (nowMs - right.sinceMs >= rules.quietMs) return;
    if (nowMs < endMs) continue;
    throw new Error(`not right in time: ${untrue.join("; ") || "writes go on"}`);
  }
}

/** A process that remembers nothing finds all as it should be, and changes nothing. @throws an error if it does not */
export async function restartAtRest(
  { timeline, trace, replicas }: RestingWorld,
  { supervise, listUntrue, countWrites, quietMs }: RestRules,
): Promise<void> {
  const writes = countWrites();
  trace.note("STORY", "all processes end, and others start");
  for (const replica of replicas) replica.kill();
  supervise();
  await timeline.advance(quietMs);
  const more = countWrites() - writes;
  if (more > 0) throw new Error(`a new process changed ${more} things, and all was right`);
  const untrue = listUntrue();
  if (untrue.length > 0) throw new Error(`wrong after a restart: ${untrue.join("; ")}`);
}
