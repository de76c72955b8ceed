/**
 * Who is to notice a deliberate break, and how to see that it did.
 * @module
 */
import type { Break } from "./break.ts";
import type { CommandResult } from "./work_copy.ts";

/** A command that succeeds with the whole program and fails with a broken one. */
export interface Catcher {
  /** A test file, or `simulation`. */
  readonly name: string;
  /** Arguments of the runtime. */
  readonly args: readonly string[];
}

/** Everybody who is to notice a break. */
export function listCatchers({ tests }: Break): readonly Catcher[] {
  return tests.map((file) => ({
    name: file,
    args: ["test", "--bail", "--timeout", "10000", `./${file}`],
  }));
}

/**
 * What noticed the break: the name of the first test that failed, or that the command did not end in time.
 *
 * @returns `undefined` when nothing did
 */
export function findCatch({ code, output }: CommandResult): string | undefined {
  if (code === 0) return undefined;
  const failed = /^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/m.exec(output)?.[1];
  return failed ?? "it did not end in time";
}
