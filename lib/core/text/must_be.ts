/**
 * The one form in which Landfall refuses a value: `must be true or false, but is "maybe"`. The name of the flag or
 * setting and a colon come before it.
 * @module
 */
import { quote } from "./printable.ts";

const NUMBER = String.raw`[+-]?\d{1,6}(?:\.\d{1,3})?`;
const DURATION = `(?:${NUMBER} ?(?:[mnu]?s|[dhm]|secs?|mins?)){1,3}`;
/** Numbers, durations and switches of usual length. No secret looks like this. */
const HARMLESS = new RegExp(`^(?:true|false|yes|no|${NUMBER}|${DURATION})$`, "i");

/**
 * Says what a value must be, and what it is.
 *
 * @param what What is accepted: `a duration from 1s to 1h, for example "30s"`
 * @param found What was given, as a noun or in quotes. @default {only what is accepted}
 */
export function mustBe(what: string, found?: string): string {
  return found === undefined ? `must be ${what}` : `must be ${what}, but is ${found}`;
}

/** The same for the value of a flag. It shows the value: flags contain no secrets. */
export function mustBeText(what: string, text: string): string {
  return mustBe(what, text === "" ? "empty" : quote(text));
}

/**
 * The same for a value from a settings file. Any text there may be a secret on the wrong line, so only short numbers,
 * durations and switches are shown. Of anything else Landfall says only the kind.
 */
export function mustBeSetting(what: string, value: unknown): string {
  const isShown = ["boolean", "number", "string"].includes(typeof value);
  if (isShown && HARMLESS.test(String(value))) return mustBe(what, JSON.stringify(value));
  return mustBe(what, typeof value === "string" && value !== "" ? undefined : nameKind(value));
}

/** Refuses a value that is no text. Never shows it: what should be text may be a secret. */
export function mustBeQuoted(value: unknown): string {
  const message = mustBe("text", nameKind(value));
  return ["boolean", "number"].includes(typeof value) ? `${message}; write it in quotes` : message;
}

function nameKind(value: unknown): string {
  if (value === undefined || value === null || value === "") return "empty";
  if (typeof value === "object") return Array.isArray(value) ? "a list" : "a block (key: value)";
  return typeof value === "string" ? "text" : `a ${typeof value}`;
}
