/**
 * Says in our own words why a file could not be read, and which one.
 * @module
 */
import { isAbsolute, resolve } from "node:path";
import { findErrorCode } from "./net/connection_problem.ts";
import { UnfitFileError } from "./small_file.ts";

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
