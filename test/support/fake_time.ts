/**
 * Programs whose wall clock is wrong, by libfaketime. Their monotonic clock is right, as it is on a real machine.
 * @module
 */
import { readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { saySkipped } from "./skip.ts";

const LIBRARIES = "/usr/lib";
const LIBRARY = join("faketime", "libfaketime.so.1");

/** A clock that a test sets. */
export interface FakeTime {
  /** What the program needs in its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets the clock: so far from the right time, such as `+5h`; or also fast, such as `+5h x1.5`. */
  set(offset: string): Promise<void>;
}

/** Whether there is no libfaketime here, which is said loudly. @throws Error instead when `CI` is set */
export function skipsFakeTime(): boolean {
  if (findLibrary() !== undefined) return false;
  const text = "tests of a wrong clock: libfaketime is not installed (Debian: faketime)";
  saySkipped(text);
  return true;
}

/** Makes a clock. @param path File that it is set by */
export async function createFakeTime(path: string, offset: string): Promise<FakeTime> {
  const set = (text: string): Promise<void> => writeFile(path, `${text}\n`);
  await set(offset);
  const env = {
    LD_PRELOAD: findLibrary() ?? "",
    FAKETIME_TIMESTAMP_FILE: path,
    FAKETIME_NO_CACHE: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
  return { env, set };
}

/** Debian has it in the folder of its architecture. */
function findLibrary(): string | undefined {
  const [found] = readdirSync(LIBRARIES)
    .filter((name) => name.endsWith("-linux-gnu"))
    .flatMap((name) => {
      const folder = join(LIBRARIES, name);
      return readdirSync(folder).includes("faketime") ? [join(folder, LIBRARY)] : [];
    });
  return found;
}
