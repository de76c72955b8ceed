/**
 * What a deliberate break is, how it is made, and how to see that a test noticed it.
 * @module
 */

/** One mistake that destroys something, lets somebody in or loses something, and the test that notices it. */
export interface Break {
  /** In kebab-case, for `--only`. */
  readonly id: string;
  /** What holds in the program and not in the broken one: a clause for people, without a full stop. */
  readonly rule: string;
  /** Path from the root, of a file below `lib/`. */
  readonly file: string;
  /** Text that occurs once in the file. A space stands for any white space, which a formatter may change. */
  readonly from: string;
  /** What takes its place. */
  readonly to: string;
  /** The test file that fails. */
  readonly caughtBy: string;
}

/** A text with a break. @throws {Error} when what the break replaces does not occur exactly once */
export function applyBreak(text: string, { file, from, to }: Break): string {
  const words = from.split(/\s+/).map((word) => word.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&"));
  const places = [...text.matchAll(new RegExp(words.join("\\s+"), "g"))];
  const [place] = places;
  if (place === undefined || places.length > 1) {
    throw new Error(`${file} has this text ${places.length} times, not once: ${from}`);
  }
  return text.slice(0, place.index) + to + text.slice(place.index + place[0].length);
}

/** Which test failed first, or that the tests did not end; `undefined` when nothing noticed the break. */
export function findCatch(code: number | undefined, output: string): string | undefined {
  if (code === undefined) return "it did not end in time";
  return /^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/m.exec(output)?.[1];
}
