/**
 * What a deliberate break is: a small edit of the program that must not go unnoticed.
 * @module
 */

/**
 * A piece of a file and what takes its place. A piece is found by its shape: its tokens, in which a name stands for any
 * name, and the same name for the same name. So it is found after a rename, too, and what takes its place is written in
 * the names that are then in the file.
 */
export interface Edit {
  /** Path from the root, of a `.ts` file below `lib/`. */
  readonly file: string;
  /** Whole tokens whose shape occurs exactly once in the file. */
  readonly from: string;
  /**
   * Has no names but those of `from` and `given`, what everybody knows (see `language.ts`), and names of its own, which
   * begin with `_`.
   */
  readonly to: string;
  /** Pieces elsewhere in the file, for names that `from` lacks. Each occurs once with the names known by then. */
  readonly given: readonly string[];
}

/** One way to break the program, and who notices. */
export interface Break {
  /** In kebab-case, for `--only` and the list in the documentation. */
  readonly id: string;
  /** What holds in the program and not in the broken one: a clause for people, without a full stop. */
  readonly invariant: string;
  readonly edits: readonly [Edit, ...Edit[]];
  /** Test files of which at least one test fails. */
  readonly tests: readonly [string, ...string[]];
  /** The simulation that finds it, too, within its first seeds. @default {none} */
  readonly simulated?: "nodes" | "vinos";
}

/** A break of one file by one edit. */
export function edit(
  file: string,
  from: string,
  to: string,
  ...given: readonly string[]
): readonly [Edit] {
  return [{ file, from, to, given }];
}
