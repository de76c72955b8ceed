/**
 * Archives that are the same byte for byte whenever the files in them are.
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

const BLOCK = 512;
const NAME_MAX = 100;
const PREFIX_MAX = 155;
const GZIP_LEVEL = 9;
const GZIP_SYSTEM_AT = 9;
const GZIP_SYSTEM_UNKNOWN = 255;

/** Every file below a folder, sorted by path, as `<under>/<path in the folder>`. */
export async function readFolder(folder: string, under: string): Promise<ArchiveFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const files = paths.map(async (path) => ({
    path: `${under}${path.slice(folder.length).replaceAll("\\", "/")}`,
    content: await readFile(path),
    isExecutable: ((await stat(path)).mode & 0o100) !== 0,
  }));
  return (await Promise.all(files)).sort((one, other) => (one.path < other.path ? -1 : 1));
}

/**
 * A `.tar.gz` (POSIX ustar) in the order given. Everything belongs to root and was last changed at `epochSeconds`.
 *
 * @throws {RangeError} when a path is too long
 */
export function createArchive(files: readonly ArchiveFile[], epochSeconds: number): Buffer {
  const blocks: Buffer[] = [];
  for (const file of files) {
    const padding = (BLOCK - (file.content.length % BLOCK)) % BLOCK;
    blocks.push(toHeader(file, epochSeconds), file.content, Buffer.alloc(padding));
  }
  // Without a time in it, and without the system that it was made on.
  const archive = gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), {
    level: GZIP_LEVEL,
  });
  archive[GZIP_SYSTEM_AT] = GZIP_SYSTEM_UNKNOWN;
  return archive;
}

/** https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html, "ustar Interchange Format" */
function toHeader({ path, content, isExecutable }: ArchiveFile, epochSeconds: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  const { name, prefix } = splitPath(path);
  const write = (text: string, at: number): void => void header.write(text, at, "latin1");
  const writeNumber = (value: number, at: number, width: number): void =>
    write(`${value.toString(8).padStart(width - 1, "0")}\0`, at);
  write(name, 0);
  writeNumber(isExecutable ? 0o755 : 0o644, 100, 8);
  writeNumber(0, 108, 8);
  writeNumber(0, 116, 8);
  writeNumber(content.length, 124, 12);
  writeNumber(epochSeconds, 136, 12);
  write(" ".repeat(8), 148);
  write("0", 156);
  write("ustar\x0000", 257);
  write("root", 265);
  write("root", 297);
  write(prefix, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}

function splitPath(path: string): { name: string; prefix: string } {
  if (path.length <= NAME_MAX) return { name: path, prefix: "" };
  const cut = path.lastIndexOf("/", PREFIX_MAX);
  const [prefix, name] = [path.slice(0, Math.max(cut, 0)), path.slice(cut + 1)];
  if (cut < 1 || name.length > NAME_MAX) throw new RangeError(`The path is too long: ${path}`);
  return { name, prefix };
}
