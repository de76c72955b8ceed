/**
 * Says in our own words why a file could not be read.
 * @module
 */
import { findErrorCode } from "./connection_problem.ts";

const WORDS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "there is no such file"],
  ["ENOTDIR", "there is no such file"],
  ["EISDIR", "it is a folder"],
  ["EACCES", "this process may not read it"],
  ["EPERM", "this process may not read it"],
  ["ENAMETOOLONG", "the path is too long"],
]);

/** What a failed read of a file means, to follow its name and a colon. */
export function describeFileProblem(error: unknown): string {
  const code = findErrorCode(error);
  return WORDS.get(code) ?? `reading it failed${code === "" ? "" : ` (${code})`}`;
}
