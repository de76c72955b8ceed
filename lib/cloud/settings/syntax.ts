/**
 * The syntax of a settings file; each provider chooses its own.
 * @module
 */
import { assert, type ConfigIssue } from "../../core/errors.ts";

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

/** One setting: for the reference page, for the chart, and to find unknown keys. */
export interface SettingDescription {
  /** Key in the file, nested ones with dots: `addresses.exclude`; those of list items without an index. */
  readonly path: string;
  /** Form of its value. An `array` is of texts, or of blocks if keys stand below it; an `object` has free keys. */
  readonly form: SettingForm;
  /** The values that it accepts, in words for operators: `duration`, `list of CIDRs`. */
  readonly type: string;
  /** What it does, in whole sentences. */
  readonly description: string;
  /** Its default, as an operator would write it. Absent: nothing. */
  readonly default?: string;
  /** Environment variable that is read when the file does not set it. */
  readonly variable?: string;
}

/** The form of a setting's value, as JSON Schema names it. */
export type SettingForm = "array" | "boolean" | "number" | "object" | "string";

const FORMS: Readonly<Record<string, SettingForm>> = {
  array: "array",
  boolean: "boolean",
  number: "number",
  picklist: "string",
  record: "object",
  string: "string",
};

/** Returns the form for a kind of valibot schema. An unknown kind is a bug. */
export function toSettingForm(kind: string): SettingForm {
  const form = FORMS[kind];
  assert(form !== undefined, `no setting can have the form of ${kind}`);
  return form;
}

/** A key, and the keys below it. */
export interface SettingBranch {
  /** Absent for a block without a row of its own, such as `deletion`. */
  readonly setting?: SettingDescription;
  /** Keys of the block, or of each item of the list; empty for a single value and for a map of free keys. */
  readonly children: SettingTree;
}

/** Branches by key, in the order of the table. */
export type SettingTree = ReadonlyMap<string, SettingBranch>;

/** Builds the tree of all settings: `deletion.enabled` becomes `enabled` below `deletion`. */
export function toSettingTree(settings: readonly SettingDescription[]): SettingTree {
  const root: MutableTree = new Map();
  for (const setting of settings) {
    let level = root;
    let branch: MutableBranch | undefined;
    for (const key of setting.path.split(".")) {
      branch = level.get(key) ?? { children: new Map() };
      level.set(key, branch);
      level = branch.children;
    }
    if (branch) branch.setting = setting;
  }
  return root;
}

type MutableTree = Map<string, MutableBranch>;

interface MutableBranch {
  setting?: SettingDescription;
  readonly children: MutableTree;
}
