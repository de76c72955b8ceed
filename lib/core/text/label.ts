/**
 * Syntax of Kubernetes labels.
 * @module
 */
import { isSubdomain } from "../net/subdomain.ts";

const NAME = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)$/;

/** Longest label value, and longest name part of a key, in characters. */
export const LABEL_LENGTH_MAX = 63;

/** What the API server accepts as a label value, in words. */
export const LABEL_VALUE_FORM =
  'a label value: at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends';

/** Whether the API server accepts this as a label key: an optional DNS subdomain, a slash, a name. */
export function isLabelKey(key: string): boolean {
  const slash = key.indexOf("/");
  const name = key.slice(slash + 1);
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  if (name.length > LABEL_LENGTH_MAX || !NAME.test(name)) return false;
  return prefix === undefined || isSubdomain(prefix);
}

/** Whether the API server accepts this as a label value; the empty string is one. */
export function isLabelValue(value: string): boolean {
  return value === "" || (value.length <= LABEL_LENGTH_MAX && NAME.test(value));
}

/**
 * Turns any text into a label value: everything but ASCII letters, digits, `-`, `_` and `.` becomes `-`, the rest is
 * cut to 63 characters, and then trimmed at both ends to a letter or digit. May be empty.
 */
export function toLabelValue(text: string): string {
  return text
    .replaceAll(/[^-A-Za-z0-9_.]/gu, "-")
    .replace(/^[-_.]+/, "")
    .slice(0, LABEL_LENGTH_MAX)
    .replace(/[-_.]+$/, "");
}
