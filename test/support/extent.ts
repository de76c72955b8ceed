/**
 * How much of the tests runs: all of it in CI, and what finds most mistakes on a developer's machine.
 * @module
 */

/** Values of `LANDFALL_TESTS`. Without it, `npm test` runs `some`. */
export type Extent = "some" | "all";

/** Reads a value of `LANDFALL_TESTS`. @throws Error for an unknown one */
function parseExtent(name: string = "some"): Extent {
  if (name === "some" || name === "all") return name;
  throw new Error(`LANDFALL_TESTS must be "some" or "all": "${name}"`);
}

/** What this run should do. */
export function readExtent(): Extent {
  return parseExtent(process.env["LANDFALL_TESTS"]);
}

/** The rows of a table that this run tries: all of them in CI, else every sixth. */
export function sample<T>(rows: readonly T[]): readonly T[] {
  return readExtent() === "all" ? rows : rows.filter((_, index) => index % 6 === 0);
}

/**
 * How many times as often every property is tried as in CI. A few tries find most mistakes at once, and each run of
 * `npm test` tries other values.
 */
const FACTOR = Number(process.env["LANDFALL_RUNS"] ?? (readExtent() === "all" ? 1 : 0.05));

/**
 * Settings of a property that CI tries `runs` times, or a multiple of that in a long run (`LANDFALL_RUNS=20`).
 * A failure prints its seed.
 */
export function tries(runs: number): { readonly numRuns: number } {
  return { numRuns: Math.ceil(runs * (FACTOR > 0 ? FACTOR : 1)) };
}

/**
 * Which part this run takes of what is too much for one run of CI: a number that grows by one with each commit.
 *
 * @throws Error for a value that is no such number
 */
export function readTurn(): number {
  const text = process.env["LANDFALL_TURN"] ?? "0";
  if (!/^\d{1,9}$/.test(text)) throw new Error(`LANDFALL_TURN must be a whole number: "${text}"`);
  return Number(text);
}

/** Whether this run takes a thing of this number: each of so many runs takes other ones, and together they take all. */
export function isOfTurn(at: number, runs: number): boolean {
  return (at + readTurn()) % runs === 0;
}
