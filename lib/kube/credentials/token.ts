/**
 * Bearer tokens: from a file, and whether a header can carry one.
 * @module
 */
import { type SettingPlace, type ReadFile, readNamedFile, toConfigError } from "./problem.ts";

/**
 * Reads a file that holds a token and perhaps a newline.
 *
 * @throws {ConfigError} when it is missing, empty, or no single word
 */
export async function readToken(
  readFile: ReadFile,
  file: string,
  place: SettingPlace,
): Promise<string> {
  const token = (await readNamedFile(readFile, file, place)).trim();
  return checkToken(token, place);
}

/**
 * Checks that a token can stand in a header.
 *
 * @throws {ConfigError} which does not show the token
 */
export function checkToken(token: string, place: SettingPlace): string {
  if (token === "") throw toConfigError(place, "the token is empty");
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw toConfigError(place, "the token holds white space or characters that are not ASCII");
  }
  return token;
}
