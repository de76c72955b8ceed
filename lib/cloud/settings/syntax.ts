/**
 * How the text of a settings file becomes what it says: the word of the provider whose file it is.
 * @module
 */
import type { ConfigIssue } from "../../core/errors.ts";

/** Where something stands in a text, both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Finds a setting such as `addresses.exclude.0`, or the innermost part of its path that is there. */
export type FindPosition = (path: string) => Position | undefined;

/** What a text says. */
export interface ParsedText {
  /** Settings by key, blocks and lists nested; `undefined` when it says nothing. Means nothing if there are issues. */
  readonly raw: unknown;
  /** What is wrong with the text itself, with its position. Never repeats what it says: it may be a secret. */
  readonly issues: readonly ConfigIssue[];
  /** Looks up where settings stand. May cost time and memory: only when there is something to tell of one. */
  locate(): Promise<FindPosition>;
}

/** A syntax of settings files. */
export interface SettingSyntax {
  /** What people call it: `YAML`. */
  readonly name: string;
  /** Reads a text. Never rejects, whatever the text. */
  parse(text: string): Promise<ParsedText>;
}
