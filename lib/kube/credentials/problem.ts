/**
 * Errors about one setting, which name the file and the field.
 * @module
 */
import { findErrorCode } from "../../core/http/connection.ts";
import { ConfigError } from "../../core/errors.ts";
import { describeFileProblem, toTriedPath } from "../../core/small_file.ts";

/** Reads a text file; rejects as `node:fs/promises` does. */
export type ReadFile = (path: string) => Promise<string>;

/** The place of a setting. */
export interface SettingPlace {
  /** File, flag or environment variable. */
  readonly source: string;
  /** Path of the field in the source. Absent: the source as a whole. */
  readonly path?: string;
  /** Line in the source, from 1. */
  readonly line?: number;
}

/** An error about one setting. Its message never contains the setting's value if that may be secret. */
export function toConfigError(place: SettingPlace, message: string): ConfigError {
  return new ConfigError([{ ...place, message }]);
}

/**
 * Reads a file that a setting names.
 *
 * @throws {ConfigError} with the setting and the file
 */
export async function readNamedFile(
  readFile: ReadFile,
  file: string,
  place: SettingPlace,
): Promise<string> {
  try {
    return await readFile(file);
  } catch (error) {
    const tried = toTriedPath(file);
    const named = place.source === tried ? "" : ` "${tried}"`;
    throw toConfigError(place, `cannot read the file${named}: ${describeFileProblem(error)}`);
  }
}

/** Whether reading failed because the file does not exist. */
export function isMissingFile(error: unknown): boolean {
  return findErrorCode(error) === "ENOENT";
}
