/**
 * Everything that may happen next, and how often it does.
 * @module
 */
import type { World } from "./world.ts";

/** One thing that may happen. */
export interface Step {
  readonly name: string;
  readonly weight: number;
  /** Lets it happen. Returns what it did, for the trace; nothing when it could not happen now. */
  readonly act: (world: World) => string | undefined;
}
