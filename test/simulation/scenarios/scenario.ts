/**
 * Named scenarios: fixed steps in the place of drawn ones, told in the same worlds and judged by the same judges.
 * @module
 */
import type { CrashPoint } from "../crash_points.ts";
import type { Ending } from "../ending.ts";

/** One way to tell a scenario. */
export interface Telling {
  /** `pool-lost-10-min/proof-alone`. */
  readonly name: string;
  /** Whether only CI tells it so. */
  readonly isOfCi: boolean;
  /** Whether it has crash points. @default {false} */
  readonly hasPoints?: boolean;
  /** @param point Tells it with one crash alone, if it has crash points */
  tell(point?: CrashPoint): Promise<Ending>;
}

/** The flag that tells a scenario again. */
export function toReplay(name: string): string {
  return `--scenario ${name}`;
}

/** What a scenario expects. @throws an error that says what is otherwise */
export function check(what: string, found: unknown, expected: unknown): void {
  if (Bun.deepEquals(found, expected)) return;
  throw new Error(`${what}: ${JSON.stringify(found)}, and not ${JSON.stringify(expected)}`);
}
