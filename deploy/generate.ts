/**
 * Writes the generated files of deploy/. With `--check` it only lists the files that are out of date.
 * @module
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { renderFiles } from "./files.ts";

/** Paths of the generated files that are out of date. */
export async function listOutdatedFiles(): Promise<string[]> {
  const outdated: string[] = [];
  for (const [path, text] of renderFiles()) {
    const found = await readFile(join(import.meta.dirname, path), "utf8").catch(() => "");
    if (found !== text) outdated.push(path);
  }
  return outdated;
}

async function writeFiles(): Promise<void> {
  for (const [path, text] of renderFiles()) {
    const file = join(import.meta.dirname, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

if (import.meta.main) {
  if (process.argv.includes("--check")) {
    const outdated = await listOutdatedFiles();
    for (const path of outdated) process.stderr.write(`deploy/${path} is out of date\n`);
    process.exitCode = outdated.length > 0 ? 1 : 0;
  } else await writeFiles();
}
