/**
 * Reads files that settings name, and says in our own words why one could not be read. They may be anything: a pipe
 * without a writer, or a device without an end.
 * @module
 */
import { Buffer } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { findErrorCode } from "./errors.ts";

/** Far more than settings, certificates or tokens need; keeps a wrong file (a log, a disk image) out of memory. */
const BYTES_MAX = 1024 * 1024;
const CHUNK_BYTES = 16 * 1024;
/** Without this, opening a pipe waits for its writer, perhaps for ever. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** The file at a path is not readable here. The message follows the path and a colon. */
class UnfitFileError extends Error {
  override readonly name = "UnfitFileError";
}

/**
 * Reads a whole file of at most 1 MiB. Never waits for a writer, and never reads more than that.
 *
 * @throws {UnfitFileError} when it is not a plain file, or is larger; otherwise as `node:fs` does
 */
export async function readSmallFile(path: string): Promise<Buffer> {
  const file = await open(path, FLAGS);
  try {
    checkStats(await file.stat());
    return await readBounded(file);
  } finally {
    await file.close();
  }
}

/** The same as text in UTF-8. */
export async function readSmallText(path: string): Promise<string> {
  return (await readSmallFile(path)).toString("utf8");
}

/** The same, synchronously, for files that are needed before anything else can start. */
export function readSmallTextSync(path: string): string {
  const file = openSync(path, FLAGS);
  try {
    checkStats(fstatSync(file));
    const bytes = Buffer.alloc(BYTES_MAX + 1);
    let length = 0;
    for (let count = -1; count !== 0 && length <= BYTES_MAX; length += count) {
      count = readSync(file, bytes, length, bytes.length - length, null);
    }
    checkLength(length);
    return bytes.toString("utf8", 0, length);
  } finally {
    closeSync(file);
  }
}

/** Counts the bytes that arrive, not the reported size: a file may grow, and files of `/proc` report none. */
async function readBounded(file: FileHandle): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const { bytesRead } = await file.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) return Buffer.concat(chunks, length);
    chunks.push(chunk.subarray(0, bytesRead));
    length += bytesRead;
    checkLength(length);
  }
}

function checkStats(stats: Stats): void {
  if (stats.isDirectory()) throw new UnfitFileError("it is a folder");
  if (!stats.isFile()) throw new UnfitFileError("it is not a file");
  checkLength(stats.size);
}

function checkLength(bytes: number): void {
  if (bytes > BYTES_MAX) throw new UnfitFileError("it is larger than 1 MiB");
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "there is no such file"],
  ["ENOTDIR", "there is no such file"],
  ["EISDIR", "it is a folder"],
  ["ENXIO", "it is not a file"],
  ["ELOOP", "its symbolic links form a circle"],
  ["ERR_INVALID_ARG_VALUE", "the path contains a zero byte"],
  ["EACCES", "this process has no permission to read it"],
  ["EPERM", "this process has no permission to read it"],
  ["ENAMETOOLONG", "the path is too long"],
]);

/** Why a read of a file failed, to follow its name and a colon. */
export function describeFileProblem(error: unknown): string {
  if (error instanceof UnfitFileError) return error.message;
  const code = findErrorCode(error);
  return WORDS.get(code) ?? `reading it failed${code === "" ? "" : ` (${code})`}`;
}

/**
 * The path that was tried, in full: a relative one begins at the working directory, which a service manager or an image
 * sets, and `~` means nothing.
 */
export function toTriedPath(path: string): string {
  return isAbsolute(path) ? path : resolve(path);
}
