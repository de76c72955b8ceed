/**
 * Named scenarios: fixed steps in the place of drawn ones, told in the same worlds and judged by the same judges.
 * @module
 */
import { type CrashPoint, readPoint } from "../crash_points.ts";
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

/** So many names are shown where several are meant. */
const SHOWN = 3;

/** A scenario, and the crash point that it is told with. */
export interface Wanted {
  readonly telling: Telling;
  readonly point: CrashPoint | undefined;
}

/**
 * Finds a scenario by its name, the end of its name after a slash, or any part that no other name has; and reads the
 * crash point behind it, like `service-is-created@after-7`.
 *
 * @throws {Error} when there is not exactly one, and for a point that is wrong or that it cannot have
 */
export function findTelling(tellings: readonly Telling[], text: string): Wanted {
  const [part = "", ...more] = text.split("@");
  const telling = findOne(tellings, part);
  if (more.length === 0) return { telling, point: undefined };
  if (!telling.hasPoints) throw new Error(`scenario "${telling.name}" has no crash points`);
  return { telling, point: readPoint(more.join("@")) };
}

function findOne(tellings: readonly Telling[], part: string): Telling {
  const rules: ((name: string) => boolean)[] = [
    (name) => name === part,
    (name) => name.endsWith(`/${part}`),
    (name) => name.includes(part),
  ];
  const found = rules
    .map((isMeant) => tellings.filter(({ name }) => isMeant(name)))
    .find(({ length }) => length > 0);
  const [first, ...others] = found ?? [];
  if (first === undefined)
    throw new Error(`there is no scenario "${part}"; --scenarios prints all names`);
  if (others.length === 0) return first;
  const names = [first, ...others].slice(0, SHOWN).map(({ name }) => name);
  const rest = others.length >= SHOWN ? ", …" : "";
  throw new Error(`${others.length + 1} scenarios match "${part}": ${names.join(", ")}${rest}`);
}
