/**
 * Words of caches in a cluster. Frozen: they must not change.
 * @module
 */

import type { EventWord } from "../events/words.ts";

/** The Events, written on the object. */
export const CACHE_EVENTS: Readonly<Record<"tooLarge", EventWord>> = {
  tooLarge: {
    reason: "TooLarge",
    type: "Warning",
    meaning:
      "Landfall has no memory for the object, because it or the others of its namespace are large. " +
      "It does nothing for the object until there is room.",
  },
};
