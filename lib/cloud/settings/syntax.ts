/**
 * The syntax of a settings file; each provider chooses its own.
 * @module
 */
import type { ConfigIssue } from "../../core/errors.ts";
import type { SettingDescription } from "./description.ts";

/** A place in a text; both numbers begin with 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Finds the position of a setting such as `addresses.exclude.0`, or of the innermost part of its path that exists. */
export type FindPosition = (path: string) => Position | undefined;

/** The content of a text. */
export interface ParsedText {
  /**
   * Settings by key, with nested blocks and lists; `undefined` for an empty text. Do not use it if there are issues.
   */
  readonly raw: unknown;
  /** Syntax errors with their positions. They never repeat the content, because it may be a secret. */
  readonly issues: readonly ConfigIssue[];
  /** What to report besides, with positions: unlike `issues`, they do not keep Landfall from reading the rest. */
  readonly notes?: readonly ConfigIssue[];
  /** Prepares a search for positions. May cost time and memory: call it only to report a problem. */
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
