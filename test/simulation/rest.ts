/**
 * The end of a story: all must come right within a bounded time, and stay so, also for processes that remember nothing.
 * @module
 */
import type { Timeline } from "./timeline.ts";
import type { Trace } from "./trace.ts";

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
