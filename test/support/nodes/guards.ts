/**
 * Deletion guards to begin with.
 * @module
 */
import { EMPTY_GUARD, type GuardState } from "../../../lib/cloud/deletion/guard.ts";
import { NO_SIGHTINGS } from "../../../lib/cloud/deletion/first_sightings.ts";

/** That of a process that runs for long: what it never saw may be missing all the same. */
export const OLD_GUARD: GuardState = {
  ...EMPTY_GUARD,
  sightings: { ...NO_SIGHTINGS, sinceMs: -Infinity },
};
