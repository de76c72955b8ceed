/**
 * Requests and replies that were captured from a real Xen Orchestra, by their names.
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const FOLDER = join(import.meta.dir, "../../fixtures/xenorchestra");

/** The file of each capture: names are unique, whichever room a file stands in. */
const FILES: ReadonlyMap<string, string> = new Map(
  readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".json"))
    .map((file) => [basename(file, ".json"), join(FOLDER, file)]),
);

/** Names of all captures, sorted. */
export const CAPTURE_NAMES: readonly string[] = [...FILES.keys()].toSorted();

/**
 * What a capture holds, as JSON text.
 *
 * @throws {Error} when there is none of that name
 */
export function readCaptureText(name: string): string {
  const file = FILES.get(name);
  if (file === undefined) throw new Error(`there is no capture "${name}"`);
  return readFileSync(file, "utf8");
}
