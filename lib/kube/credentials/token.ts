/**
 * Bearer tokens.
 * @module
 */
import { type SettingPlace, toConfigError } from "./problem.ts";

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
