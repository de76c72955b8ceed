/**
 * The INI file of the Apache provider as a syntax of settings.
 *
 * `[Global]` holds the settings at the top of a YAML file, and another section a block: `[Deletion]` is `deletion`.
 * A key is written with dashes: `api-url` is `apiUrl`. Upper and lower case are the same.
 * @module
 */
import {
  type FindPosition,
  type ParsedText,
  type Position,
  type SettingDescription,
  type SettingForm,
  type SettingSyntax,
  type SettingTree,
  toSettingTree,
} from "../../../cloud/settings/schema.ts";
import type { ConfigIssue } from "../../../core/errors.ts";
import { findClosest } from "../../../core/text/edit_distance.ts";
import { type IniEntry, type IniLines, type IniSection, readIniLines } from "./ini_lines.ts";

/** INI, unless the content of a file is YAML. */
export const INI_SYNTAX: SettingSyntax = {
  name: "INI",
  accepts: isIni,
  parse: (text, settings) => Promise.resolve(parseIni(text, settings)),
};

const GLOBAL = "global";
/** How gcfg writes booleans, in lower case. */
const BOOLS: ReadonlyMap<string, boolean> = new Map([
  ...["true", "yes", "on", "1"].map((word) => [word, true] as const),
  ...["false", "no", "off", "0"].map((word) => [word, false] as const),
]);
const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/**
 * Whether a text is INI: its first line that is no comment is a section, or has `=` before any colon. A text without
 * such a line is INI, too.
 */
function isIni(text: string): boolean {
  for (const row of text.replace(/^\ufeff/, "").split(/\r?\n/, LOOKED_AT_MAX)) {
    const line = row.trim();
    if (line.startsWith(";")) return true;
    if (line === "" || line.startsWith("#")) continue;
    return line.startsWith("[") || /^[\p{L}\p{N}-]+\s*=/u.test(line);
  }
  return true;
}

/** How many lines of comments may come first. */
const LOOKED_AT_MAX = 10_000;

function parseIni(text: string, settings: readonly SettingDescription[] = []): ParsedText {
  const read = readIniLines(text);
  const issues = [...read.issues, ...listHomeless(read)];
  const content = new Content(settings);
  for (const line of read.lines) {
    if (line.kind === "section") content.open(line);
    else content.add(line);
  }
  issues.push(...content.issues);
  issues.sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
  return {
    raw: content.raw,
    issues,
    notes: content.notes,
    locate: () => Promise.resolve(content.find),
    spell: (path) => content.spell(path),
  };
}

/** Keys above the first section. */
function listHomeless({ lines }: IniLines): ConfigIssue[] {
  const first = lines.findIndex(({ kind }) => kind === "section");
  const above = first === -1 ? lines : lines.slice(0, first);
  const [one] = above;
  if (one === undefined) return [];
  const message = "a key must stand below a section; write [Global] above it";
  return [{ message, line: one.line, column: one.column }];
}

interface Place extends Position {
  readonly written: string;
}

/** What the lines say, as YAML would have it. */
class Content {
  readonly raw: Record<string, unknown> = {};
  readonly issues: ConfigIssue[] = [];
  /** What does not keep the rest from being read. */
  readonly notes: ConfigIssue[] = [];
  readonly #tree: SettingTree;
  /** Of sections and keys, by their path in `raw`; of a key that occurs twice, the last. */
  readonly #places = new Map<string, Place>();
  #section = GLOBAL;

  constructor(settings: readonly SettingDescription[]) {
    this.#tree = toSettingTree(settings);
  }

  readonly find: FindPosition = (path) => {
    const parts = path.split(".");
    for (let count = parts.length; count > 0; count -= 1) {
      const place = this.#places.get(parts.slice(0, count).join("."));
      if (place !== undefined) return { line: place.line, column: place.column };
    }
    return undefined;
  };

  /** How this file writes a setting, or would write it. */
  spell(path: string): string {
    const written = this.#places.get(path)?.written;
    if (written !== undefined) return written;
    const [first = "", second] = path.split(".");
    if (!this.#isBlock(first)) return toDashes(first);
    const section = `[${toTitle(first)}]`;
    return second === undefined ? section : `${section} ${toDashes(second)}`;
  }

  open({ name, line, column }: IniSection): void {
    const written = `[${name}]`;
    this.#section = name.toLowerCase() === GLOBAL ? GLOBAL : toBlock(name, this.#tree);
    if (this.#isGlobalMisspelt(name)) {
      const message = `unknown section; did you mean [${toTitle(GLOBAL)}]?`;
      this.notes.push({ path: written, message, line, column });
      this.#section = GLOBAL;
    }
    if (this.#section === GLOBAL || this.#isBlock(this.#section)) {
      if (this.#section !== GLOBAL) this.raw[this.#section] ??= {};
    } else {
      // Unknown: reported as one key that no setting has.
      this.#section = written;
      this.raw[written] = null;
    }
    this.#places.set(this.#section, { line, column, written });
  }

  add(entry: IniEntry): void {
    if (this.#section.startsWith("[")) return;
    const isGlobal = this.#section === GLOBAL;
    const level = isGlobal ? this.#tree : this.#tree.get(this.#section)?.children;
    const known = toName(entry.key, level ?? new Map());
    // A key with the name of a block, such as `deletion`, would hide the block.
    const name = isGlobal && this.#isBlock(known) ? `${entry.key} (key)` : known;
    const path = isGlobal ? name : `${this.#section}.${name}`;
    const { line, column } = entry;
    const written = isGlobal ? entry.key : `[${toTitle(this.#section)}] ${entry.key}`;
    const form = level?.get(name)?.setting?.form;
    this.#noteRepetition(path, { line, column, written }, form);
    this.#places.set(path, { line, column, written });
    if (form !== undefined && /^'.*'$/s.test(entry.value ?? "")) {
      const message = "single quotes are part of the value: use none, or double quotes";
      this.notes.push({ path: written, message, line, column, isWarning: true });
    }
    const block = isGlobal ? this.raw : this.#readBlock();
    if (entry.value === undefined && form !== "boolean") {
      // Of an unknown key the name is the problem.
      if (form === undefined) block[name] = null;
      else
        this.issues.push({
          path: written,
          message: "must have = and a value after it",
          line,
          column,
        });
      return;
    }
    block[name] = toValue(entry, form, block[name]);
  }

  /** Then its keys are read as those of `[Global]`: else every required key would be missing. */
  #isGlobalMisspelt(name: string): boolean {
    if (this.#section === GLOBAL || this.#isBlock(this.#section)) return false;
    const blocks = [...this.#tree.keys()].filter((key) => this.#isBlock(key)).map(toDashes);
    return findClosest(name.toLowerCase(), [GLOBAL, ...blocks]) === GLOBAL;
  }

  /** Only a list takes the values of several lines. */
  #noteRepetition(
    path: string,
    { line, column, written }: Place,
    form: SettingForm | undefined,
  ): void {
    const before = this.#places.get(path);
    if (before === undefined || form === undefined || form === "array") return;
    const message = `set more than once: this line counts, and line ${before.line} does not`;
    this.notes.push({ path: written, message, line, column, isWarning: true });
  }

  #readBlock(): Record<string, unknown> {
    const block: Record<string, unknown> = {};
    const known = this.raw[this.#section];
    if (typeof known === "object" && known !== null) Object.assign(block, known);
    this.raw[this.#section] = block;
    return block;
  }

  #isBlock(name: string): boolean {
    return (this.#tree.get(name)?.children.size ?? 0) > 0;
  }
}

/** A value in the form of its setting; text that does not fit stays text, and the schema reports it. */
function toValue({ value }: IniEntry, form: SettingForm | undefined, before: unknown): unknown {
  if (value === undefined) return true;
  switch (form) {
    case "boolean":
      return BOOLS.get(value.toLowerCase()) ?? value;
    case "number":
      return NUMBER.test(value) ? Number(value) : value;
    case "array": {
      const items = value.split(",").map((item) => item.trim());
      // A key that occurs several times has several values.
      return [...(Array.isArray(before) ? before : []), ...items.filter((item) => item !== "")];
    }
    default:
      return value;
  }
}

/** The name of a setting that is written with dashes and in any case; for an unknown one, what it would be called. */
function toName(written: string, tree: SettingTree): string {
  const lower = written.toLowerCase();
  for (const name of tree.keys()) if (toDashes(name) === lower) return name;
  return lower.replaceAll(/-(.)/g, (_, one: string) => one.toUpperCase());
}

/** The block of a section: `[OutOfService]` and `[out-of-service]` are `outOfService`. */
function toBlock(written: string, tree: SettingTree): string {
  const lower = written.toLowerCase();
  return [...tree.keys()].find((name) => name.toLowerCase() === lower) ?? toName(written, tree);
}

/** `apiUrl` is `api-url`, and `externalCIDRs` is `external-cidrs`. */
function toDashes(name: string): string {
  return name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, "-").toLowerCase();
}

function toTitle(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
