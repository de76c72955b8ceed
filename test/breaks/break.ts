/**
 * What a deliberate break is: a small edit of the program that must not go unnoticed.
 * @module
 */

/** A piece of a file and what takes its place. */
export interface Edit {
  /** Path from the root, below `lib/`. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly from: string;
  readonly to: string;
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
  /** Whether the simulation finds it, too, within its first seeds. @default {false} */
  readonly simulated?: true;
}

/** A break of one file by one edit. */
export function edit(file: string, from: string, to: string): readonly [Edit] {
  return [{ file, from, to }];
}
