/**
 * What a flag is: the shape of a row in the flag tables.
 * @module
 */

/** How the value of a flag is written. `list` is comma separated and adds up over repeats. */
export type FlagType = "string" | "int" | "number" | "bool" | "duration" | "list";

/**
 * What Landfall does with a flag.
 *
 * - `applies`: it does what its help says
 * - `inapplicable`: accepted, with one warning line that says why it has no effect
 * - `silent`: accepted without a word, since leaving it out changes nothing anywhere
 * - `removed`: an error that says what took its place
 */
export type FlagEffect = "applies" | "inapplicable" | "silent" | "removed";

/** One flag. */
export interface FlagSpec {
  /** Long name without dashes, in kebab case. */
  readonly name: string;
  /** One-letter form. */
  readonly short?: string;
  readonly type: FlagType;
  /** Default as it would be written after `=`. */
  readonly default: string;
  /** What it does; why it does nothing; or what took its place. One line, without full stop. */
  readonly help: string;
  readonly effect: FlagEffect;
  /** The only values that are accepted, when not any will do. */
  readonly choices?: readonly string[];
  /** The least whole number that is accepted, when not any will do. */
  readonly least?: number;
}
