/**
 * The text of a settings file, or why it cannot be one.
 * @module
 */
import { ConfigError } from "../core/errors.ts";
import { describeFileProblem, readSmallFile, toTriedPath } from "../core/small_file.ts";

/**
 * Reads a file of settings.
 *
 * @throws {ConfigError} when it cannot be one: not a file, too large, or not text
 */
export async function readConfigText(path: string): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await readSmallFile(path);
  } catch (error) {
    const tried = toTriedPath(path);
    const where = tried === path ? "" : `${tried}: `;
    throw toReadError(path, `${where}${describeFileProblem(error)}`, error);
  }
  return decodeConfigText(bytes, path);
}

/**
 * Decodes the content of a settings file. Never returns replacement characters: a password with them would be refused
 * for no visible reason.
 *
 * @throws {ConfigError} when it is not text
 */
export function decodeConfigText(bytes: Uint8Array, path: string): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw toReadError(path, "it is not UTF-8 text");
  }
  if (text.includes("\0")) throw toReadError(path, "it is not UTF-8 text");
  return text;
}

function toReadError(path: string, problem: string, cause?: unknown): ConfigError {
  return new ConfigError([{ source: path, message: `Cannot read the file: ${problem}` }], {
    cause,
  });
}
