/**
 * A story from its first chapter to its last, whatever it is of: how it comes to rest, and what a person is shown of
 * one that fails.
 * @module
 */
import { readExtent, readTurn } from "../support/extent.ts";
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
  leave(): Promise<void>;
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
  }
  const ending = {
    replay,
    violations: [...world.violations, ...failures],
    trace: [...trace.lines],
    hash: trace.toHash(),
    virtualMs: timeline.monotonic(),
  };
  await world.leave();
  return ending;
}

/** What a person needs who wants to know why a story failed; empty when it did not. */
export function describeFailure({ violations, trace, replay }: Ending): string {
  if (violations.length === 0) return "";
  const broken = violations.map((one) => `BROKEN: ${one}`);
  // The disturbances of a scenario depend on it.
  const extent =
    replay.startsWith("--scenario") && readExtent() === "all"
      ? `LANDFALL_TESTS=all LANDFALL_TURN=${readTurn()} `
      : "";
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
interface QuietRules {
  /** What people and the supervisor do at each look. */
  readonly look: () => void;
  /** What judges say so far. */
  readonly listViolations: () => readonly string[];
  /** What is not true yet, in sentences; empty when all is right. */
  readonly listUntrue: () => readonly string[];
  /** What differs for as long as anything goes on. */
  readonly describeWork: () => string;
  /** Told when all is right for the first time, or again after something went on. @default {nobody is told} */
  readonly onRight?: (sinceMs: number) => void;
  /** For so long nothing more may be changed once all is right, in milliseconds. */
  readonly quietMs: number;
  /** Longest time until all is right, in milliseconds. */
  readonly maxMs: number;
}

/** The same for a world whose processes may start again. */
export interface RestRules extends QuietRules {
  /** Starts processes that ended. */
  readonly supervise: () => void;
}

const LOOK_MS = 5_000;

/**
 * Waits until all is right and at rest.
 *
 * @throws an error that says what is not right in time. It returns at once when a judge has something to say
 */
export async function untilRight(
  { timeline }: Pick<RestingWorld, "timeline">,
  rules: QuietRules,
): Promise<void> {
  const endMs = timeline.monotonic() + rules.maxMs;
  let right: { readonly sinceMs: number; readonly work: string } | undefined;
  for (;;) {
    await timeline.advance(LOOK_MS);
    rules.look();
    if (rules.listViolations().length > 0) return;
    const nowMs = timeline.monotonic();
    const untrue = rules.listUntrue();
    const work = untrue.length > 0 ? undefined : rules.describeWork();
    if (work === undefined) right = undefined;
    else if (right?.work !== work) {
      right = { sinceMs: nowMs, work };
      rules.onRight?.(nowMs);
    } else if (nowMs - right.sinceMs >= rules.quietMs) return;
    if (nowMs < endMs) continue;
    throw new Error(`not right in time: ${untrue.join("; ") || "writes or retries go on"}`);
  }
}

/** A process that remembers nothing finds all as it should be, and changes nothing. @throws an error if it does not */
export async function restartAtRest(
  { timeline, trace, replicas }: RestingWorld,
  { supervise, listUntrue, describeWork, quietMs }: RestRules,
): Promise<void> {
  const work = describeWork();
  trace.note("STORY", "all processes end, and others start");
  for (const replica of replicas) replica.kill();
  supervise();
  await timeline.advance(quietMs);
  const more = describeWork();
  if (more !== work) throw new Error(`a new process changed something: ${more}, before it ${work}`);
  const untrue = listUntrue();
  if (untrue.length > 0) throw new Error(`wrong after a restart: ${untrue.join("; ")}`);
}
