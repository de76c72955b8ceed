/**
 * Requests and replies that were captured from a real Xen Orchestra, by their names.
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";

const FIXTURES = join(import.meta.dir, "../../fixtures");

/** The file of each capture: names are unique, whichever room a file stands in. */
const READS = listFiles("xenorchestra", [".json"]);
const WRITES = listFiles("xenorchestra_writes", [".json", ".txt"]);

function listFiles(folder: string, types: readonly string[]): ReadonlyMap<string, string> {
  const files = readdirSync(join(FIXTURES, folder), { recursive: true, encoding: "utf8" });
  return new Map(
    files
      .filter((file) => types.includes(extname(file)))
      .map((file) => [basename(file, extname(file)), join(FIXTURES, folder, file)]),
  );
}

/** Names of all captures of reads, sorted. */
export const CAPTURE_NAMES: readonly string[] = [...READS.keys()].toSorted();

/** Names of all captures of writes, sorted. */
export const WRITE_CAPTURE_NAMES: readonly string[] = [...WRITES.keys()].toSorted();

/**
 * What a capture holds, as text.
 *
 * @throws {Error} when there is none of that name
 */
export function readCaptureText(name: string): string {
  const file = READS.get(name) ?? WRITES.get(name);
  if (file === undefined) throw new Error(`there is no capture "${name}"`);
  return readFileSync(file, "utf8");
}
