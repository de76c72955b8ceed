/**
 * How often a property is tried.
 * @module
 */

const FACTOR = Number(process.env["LANDFALL_RUNS"] ?? 1);

/** So many runs, times what `LANDFALL_RUNS` says. A failure prints its seed. */
export function toRuns(numRuns: number): { readonly numRuns: number } {
  return { numRuns: Math.ceil(numRuns * (FACTOR > 0 ? FACTOR : 1)) };
}
