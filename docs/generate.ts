/**
 * Writes docs/reference from schema and constants, the list of acceptance cases, and the page about performance from
 * the last measurement. With `--check` it only names outdated pages.
 * @module
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readResults } from "../bench/results.ts";
import { renderContributorPages, renderPages } from "./generator/pages.ts";
import { renderPerformance } from "./generator/performance/page.ts";

const FOLDER = import.meta.dirname;

/** Texts by path from docs. */
async function renderAll(): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const [name, text] of renderPages()) texts.set(`reference/${name}`, text);
  for (const [name, text] of renderContributorPages()) texts.set(`contributing/${name}`, text);
  for (const [path, text] of renderPerformance(await readResults())) texts.set(path, text);
  return texts;
}

function readPage(path: string): Promise<string> {
  return readFile(join(FOLDER, path), "utf8").catch(() => "");
}

/** Paths from docs of the pages that differ from what would be written now. */
export async function listOutdatedPages(): Promise<string[]> {
  const outdated: string[] = [];
  for (const [path, text] of await renderAll()) {
    if ((await readPage(path)) !== text) outdated.push(path);
  }
  return outdated;
}

async function writePages(): Promise<void> {
  for (const [path, text] of await renderAll()) {
    await mkdir(dirname(join(FOLDER, path)), { recursive: true });
    await writeFile(join(FOLDER, path), text);
  }
}

if (import.meta.main) {
  if (process.argv.includes("--check")) {
    const outdated = await listOutdatedPages();
    for (const path of outdated) process.stderr.write(`docs/${path} is out of date\n`);
    process.exitCode = outdated.length > 0 ? 1 : 0;
  } else await writePages();
}
