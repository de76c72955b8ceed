/**
 * What stories of one cloud are made of.
 * @module
 */
import type { Random } from "../support/random.ts";
import type { Cloud } from "./world/cloud.ts";
import type { WorldSettings } from "./world/cloud.ts";
import type { World } from "./world/mod.ts";
import type { Step } from "./steps/mod.ts";

/** A cloud that stories can be told of. */
export interface Script<C extends Cloud = Cloud> {
  createWorld(seed: number, toSettings: (random: Random) => WorldSettings): World<C>;
  /** What may happen to its machines, and to itself. */
  readonly steps: readonly Step<World<C>>[];
  /** What happens, or happens more often, in some of its worlds only. */
  listMoreSteps(world: World<C>): readonly Step<World<C>>[];
  /** What happens while a part of it is lost for long. */
  readonly outageSteps: readonly Step<World<C>>[];
  /** Loses a part of it for long. */
  beginOutage(world: World<C>, ms: number): void;
}
