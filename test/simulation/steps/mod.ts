/**
 * Everything that may happen next, and how often it does.
 * @module
 */
import type { World } from "../world/mod.ts";

/** One thing that may happen in a world. */
export interface Step<W extends World = World> {
  readonly name: string;
  /** How often, against the other steps. */
  readonly weight: number;
  /** Lets it happen. Returns what it did, for the trace; nothing when it cannot happen now. */
  readonly act: (world: W) => string | undefined;
}

/** Draws one step and lets it happen. */
export function takeStep<W extends World>(world: W, steps: readonly Step<W>[]): void {
  const { name, act } = world.random.weigh(steps);
  const what = act(world);
  if (what === undefined) return;
  world.trace.note("STEP", `${name}: ${what}`);
  world.noteChange();
}

/** Lets something happen by itself, later. */
export function later(world: World, ms: number, act: () => void): void {
  world.timeline.schedule(ms, () => {
    act();
    world.noteChange();
  });
}
