/**
 * Bearer tokens: reads them from files, and checks that a header can hold them.
 * @module
 */
import { type SettingPlace, type ReadFile, readNamedFile, toConfigError } from "./problem.ts";

/**
 * Reads a file with a token and perhaps a newline.
 *
 * @throws {ConfigError} if it is missing, empty, or has more than one word
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
 * Checks that a header can hold a token.
 *
 * @throws {ConfigError} without the token
 */
export function checkToken(token: string, place: SettingPlace): string {
  if (token === "") throw toConfigError(place, "the token is empty");
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw toConfigError(place, "the token contains white space or characters that are not ASCII");
  }
  return token;
}
