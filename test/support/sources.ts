/**
 * Reads the project's own source files, for tests that keep its rules.
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, normalize, relative, resolve } from "node:path";

/** The project's root folder. */
export const ROOT: string = resolve(import.meta.dir, "../..");

/** An import or re-export of a source file. */
interface SourceImport {
  /** Path from the root (`lib/core/log.ts`), or the package as written. */
  readonly target: string;
  /** Whether only types come through it. */
  readonly typeOnly: boolean;
}

/** Paths of all `.ts` and `.tsx` files below a folder, from the root, sorted. */
export async function listSources(folder: string): Promise<string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

/** Text of a file, by its path from the root. */
export function readSource(file: string): Promise<string> {
  return readFile(join(ROOT, file), "utf8");
}

const IMPORT = /^\s*(?:import|export)\s+(type\s)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm;
const LAZY_IMPORT = /\bimport\(\s*"([^"]+)"/g;

/** Every import of a file: static, re-exported and lazy. */
export async function listImports(file: string): Promise<SourceImport[]> {
  const text = await readSource(file);
  const found: SourceImport[] = [];
  for (const [, type, target = ""] of text.matchAll(IMPORT)) {
    found.push({ target: toTarget(file, target), typeOnly: type !== undefined });
  }
  for (const [, target = ""] of text.matchAll(LAZY_IMPORT)) {
    found.push({ target: toTarget(file, target), typeOnly: false });
  }
  return found;
}

/** Every file and package that is loaded with these files: all but types and what is imported on demand. */
export async function listLoaded(...files: readonly string[]): Promise<string[]> {
  const transpiler = new Bun.Transpiler({ loader: "tsx" });
  const found = new Set<string>();
  const visit = async (file: string): Promise<void> => {
    if (found.has(file)) return;
    found.add(file);
    if (!/\.tsx?$/.test(file)) return;
    for (const { path, kind } of transpiler.scanImports(await readSource(file))) {
      if (kind === "import-statement") await visit(toTarget(file, path));
    }
  };
  for (const file of files) await visit(file);
  return [...found].sort();
}

function toTarget(file: string, target: string): string {
  return target.startsWith(".") ? normalize(join(dirname(file), target)) : target;
}
