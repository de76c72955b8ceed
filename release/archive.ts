/**
 * Archives: the same files always give the same bytes.
 * @module
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** A file of an archive. */
export interface ArchiveFile {
  /** With `/` between folders; ASCII. At most 100 bytes after the last `/` that leaves at most 155 before it. */
  readonly path: string;
  readonly content: Buffer;
  readonly isExecutable?: boolean;
}

/** A symbolic link of an archive. */
export interface ArchiveLink {
  readonly path: string;
  /** At most 100 bytes. */
  readonly target: string;
}

/** A folder of an archive. */
export interface ArchiveFolder {
  /** Ends with `/`. */
  readonly path: string;
  /** Permissions. @default {0o755} */
  readonly mode?: number;
  /** User and group. @default {0} */
  readonly owner?: number;
}

/** Anything in an archive. */
export type ArchiveEntry = ArchiveFile | ArchiveLink | ArchiveFolder;

const BLOCK = 512;
const NAME_MAX = 100;
const PREFIX_MAX = 155;
const GZIP_LEVEL = 9;
const GZIP_SYSTEM_AT = 9;
const GZIP_SYSTEM_UNKNOWN = 255;

/**
 * All files in a folder, sorted by path.
 *
 * @param under What their paths begin with, before a `/`. @default {nothing}
 */
export async function readFolder(folder: string, under = ""): Promise<ArchiveFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const files = paths.map(async (path) => ({
    path: `${under}${path.slice(folder.length).replaceAll("\\", "/")}`.replace(/^\//, ""),
    content: await readFile(path),
    isExecutable: ((await stat(path)).mode & 0o100) !== 0,
  }));
  return (await Promise.all(files)).sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** A `.tar.gz` of {@linkcode createTar}. */
export function createArchive(entries: readonly ArchiveEntry[], epochSeconds: number): Buffer {
  return compress(createTar(entries, epochSeconds));
}

/**
 * A tar archive (POSIX ustar) in the order given. Files and links belong to root and were last changed at
 * `epochSeconds`.
 *
 * @throws {RangeError} when a path is too long
 */
export function createTar(entries: readonly ArchiveEntry[], epochSeconds: number): Buffer {
  const blocks = entries.flatMap((entry) => {
    const content = "content" in entry ? entry.content : Buffer.alloc(0);
    const padding = (BLOCK - (content.length % BLOCK)) % BLOCK;
    return [toHeader(entry, epochSeconds), content, Buffer.alloc(padding)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

/** Compresses by gzip, without the time and without the name of the system. */
export function compress(content: Buffer): Buffer {
  const compressed = gzipSync(content, { level: GZIP_LEVEL });
  compressed[GZIP_SYSTEM_AT] = GZIP_SYSTEM_UNKNOWN;
  return compressed;
}

/** https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html, "ustar Interchange Format" */
function toHeader(entry: ArchiveEntry, epochSeconds: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  const { name, prefix } = splitPath(entry.path);
  const { type, mode, owner = 0, size = 0, target = "" } = toFields(entry);
  const write = (text: string, at: number): void => void header.write(text, at, "latin1");
  const writeNumber = (value: number, at: number, width: number): void =>
    write(`${value.toString(8).padStart(width - 1, "0")}\0`, at);
  write(name, 0);
  writeNumber(mode, 100, 8);
  writeNumber(owner, 108, 8);
  writeNumber(owner, 116, 8);
  writeNumber(size, 124, 12);
  writeNumber(epochSeconds, 136, 12);
  write(" ".repeat(8), 148);
  write(type, 156);
  write(target, 157);
  write("ustar\x0000", 257);
  if (owner === 0) {
    write("root", 265);
    write("root", 297);
  }
  write(prefix, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}

interface Fields {
  readonly type: "0" | "2" | "5";
  readonly mode: number;
  readonly owner?: number;
  readonly size?: number;
  readonly target?: string;
}

function toFields(entry: ArchiveEntry): Fields {
  if ("content" in entry) {
    const { content, isExecutable } = entry;
    return { type: "0", mode: isExecutable ? 0o755 : 0o644, size: content.length };
  }
  if (!("target" in entry)) return { type: "5", mode: 0o755, ...entry };
  if (entry.target.length > NAME_MAX) throw new RangeError(`The link is too long: ${entry.target}`);
  return { type: "2", mode: 0o777, target: entry.target };
}

function splitPath(path: string): { name: string; prefix: string } {
  if (path.length <= NAME_MAX) return { name: path, prefix: "" };
  const cut = path.lastIndexOf("/", PREFIX_MAX);
  const [prefix, name] = [path.slice(0, Math.max(cut, 0)), path.slice(cut + 1)];
  if (cut < 1 || name.length > NAME_MAX) throw new RangeError(`The path is too long: ${path}`);
  return { name, prefix };
}
