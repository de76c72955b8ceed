/**
 * What a flag is: the shape of a row in the flag tables.
 * @module
 */

/** How the value of a flag is written. `list` is separated by commas; repeats of the flag add to it. */
export type FlagType = "string" | "int" | "number" | "bool" | "duration" | "list";

/**
 * What Landfall does with a flag.
 *
 * - `applies`: it does what its help says
 * - `inapplicable`: accepted, with one warning line that says why it has no effect
 * - `silent`: accepted without a warning, since leaving it out changes nothing anywhere
 * - `removed`: an error that names the replacement
 */
export type FlagEffect = "applies" | "inapplicable" | "silent" | "removed";

/** The heading of a flag in `--help`. */
export type FlagGroup =
  | "Cloud"
  | "Kubernetes"
  | "Controllers"
  | "Leader election"
  | "HTTP"
  | "Log"
  | "Report"
  | "Permissions"
  | "Other";

/** One flag. */
export interface FlagSpec {
  /** Long name without dashes, in kebab case. */
  readonly name: string;
  /** One-letter form. */
  readonly short?: string;
  readonly type: FlagType;
  /** Default, as a user writes it after `=`. */
  readonly default: string;
  /** What it does, why it does nothing, or what replaces it. One line, without full stop. */
  readonly help: string;
  readonly effect: FlagEffect;
  /** @default {"Other"} */
  readonly group?: FlagGroup;
  /** The accepted values. @default {any} */
  readonly choices?: readonly string[];
  /** Values that a shell offers. Others may be accepted, too. */
  readonly suggestions?: readonly string[];
  /** The smallest accepted number. @default {any} */
  readonly least?: number;
  /** Whether the value is the path of a file, which shells then complete. @default {false} */
  readonly isFile?: boolean;
}
