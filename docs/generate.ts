/**
 * Writes docs/reference from schema and constants; with `--check` only says which pages are out of date.
 * @module
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { renderPages } from "./pages.ts";

const FOLDER = join(import.meta.dirname, "reference");

/** Names of the pages that differ from what would be written now. */
export async function listOutdatedPages(): Promise<string[]> {
  const outdated: string[] = [];
  for (const [name, text] of renderPages()) {
    const found = await readFile(join(FOLDER, name), "utf8").catch(() => "");
    if (found !== text) outdated.push(name);
  }
  return outdated;
}

async function writePages(): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  for (const [name, text] of renderPages()) await writeFile(join(FOLDER, name), text);
}

if (import.meta.main) {
  if (process.argv.includes("--check")) {
    const outdated = await listOutdatedPages();
    for (const name of outdated) process.stderr.write(`docs/reference/${name} is out of date\n`);
    process.exitCode = outdated.length > 0 ? 1 : 0;
  } else await writePages();
}
