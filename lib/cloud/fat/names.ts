/**
 * Names of files on FAT volumes: which names a long entry can hold, and the short name that each file has, too.
 * @module
 */

/** What Windows and Linux accept in a path on a FAT volume, for plain ASCII. */
const LONG_NAME = /^(?![ .])[\w !#$%&'()+,.;=@^`{}~-]{1,200}(?<![ .])$/;
const SHORT_NAME = /^[A-Z0-9!#$%&'()@^_`{}~-]{1,8}(\.[A-Z0-9!#$%&'()@^_`{}~-]{1,3})?$/;
const BASE_LENGTH = 8;
const EXTENSION_LENGTH = 3;

/** Whether a file can have this name: ASCII without the characters that Windows reserves. */
export function isFatName(name: string): boolean {
  return LONG_NAME.test(name);
}

/**
 * The short name of a file as a directory holds it: eleven characters in upper case, filled with blanks. Programs that
 * know long names never show it.
 *
 * @param taken Short names in the same directory
 */
export function toShortName(name: string, taken: ReadonlySet<string>): string {
  const upper = name.toUpperCase();
  const whole = pad(...split(upper));
  if (SHORT_NAME.test(upper) && !taken.has(whole)) return whole;
  const [base, extension] = split(upper).map((part) => part.replaceAll(/[^A-Z0-9_-]/g, ""));
  for (let number = 1; ; number++) {
    const tail = `~${number}`;
    const short = pad(`${base?.slice(0, BASE_LENGTH - tail.length)}${tail}`, extension);
    if (!taken.has(short)) return short;
  }
}

function split(name: string): [base: string, extension: string] {
  const dot = name.lastIndexOf(".");
  return dot === -1 ? [name, ""] : [name.slice(0, dot), name.slice(dot + 1)];
}

function pad(base: string, extension = ""): string {
  const end = extension.slice(0, EXTENSION_LENGTH).padEnd(EXTENSION_LENGTH);
  return `${base.slice(0, BASE_LENGTH).padEnd(BASE_LENGTH)}${end}`;
}
