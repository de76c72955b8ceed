/**
 * How to read the text of a settings file; the provider chooses the syntax.
 * @module
 */
import type { ConfigIssue } from "../../core/errors.ts";
import type { SettingDescription } from "./description.ts";

/** Where something stands in a text, both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Finds a setting such as `addresses.exclude.0`, or the innermost part of its path that exists. */
export type FindPosition = (path: string) => Position | undefined;

/** The content of a text. */
export interface ParsedText {
  /** Settings by key, blocks and lists nested; `undefined` for an empty text. Has no meaning if there are issues. */
  readonly raw: unknown;
  /** The problems of the text itself, with their positions. Never repeats its content: it may be a secret. */
  readonly issues: readonly ConfigIssue[];
  /** Looks up where settings stand. May cost time and memory: call it only to report a problem. */
  locate(): Promise<FindPosition>;
  /** How this text writes the path of a setting. @default {as it is} */
  readonly spell?: ((path: string) => string) | undefined;
}

/** A syntax of settings files. */
export interface SettingSyntax {
  /** Its name for operators: `YAML`. */
  readonly name: string;
  /** Whether a text is in this syntax; a text that is not is YAML. @default {any text is} */
  accepts?(text: string): boolean;
  /**
   * Reads any text. Never rejects.
   *
   * @param settings All that the file may have: a syntax without types needs their forms. @default {none}
   */
  parse(text: string, settings?: readonly SettingDescription[]): Promise<ParsedText>;
}
