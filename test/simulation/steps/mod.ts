/**
 * Everything that may happen next, and how often it does.
 * @module
 */
import type { Random } from "../../support/random.ts";
import type { World } from "../world/mod.ts";

/** One thing that may happen in a world. */
export interface Step<W = World> {
  readonly name: string;
  /** How often, against the other steps. */
  readonly weight: number;
  /** Lets it happen. Returns what it did, for the trace; nothing when it cannot happen now. */
  readonly act: (world: W) => string | undefined;
}

export function toStep<W>(name: string, weight: number, act: Step<W>["act"]): Step<W> {
  return { name, weight, act };
}

/** Something that happens to one of several things. It cannot happen while there are none. */
export function toStepOf<W extends { readonly random: Random }, T>(
  name: string,
  weight: number,
  list: (world: W) => readonly T[],
  act: (world: W, one: T) => string | undefined,
): Step<W> {
  return toStep(name, weight, (world) => {
    const all = list(world);
    return all.length === 0 ? undefined : act(world, world.random.pick(all));
  });
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
