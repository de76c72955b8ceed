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
import { explainSecret } from "../../../cloud/settings/secret_file.ts";
import { trimSlashes } from "../../../core/http/connection.ts";
import { mustBe, parseList } from "../../../core/text/values.ts";

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
    case "array":
      // A key that occurs several times has several values.
      return [...(Array.isArray(before) ? before : []), ...parseList(value)];
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

/** The whole address without a slash at its end; `undefined` when it has another form. */
export function parseUrl(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url === null || explainUrl(text) !== undefined) return undefined;
  return url.origin + trimSlashes(url.pathname);
}

/** What is wrong with an address; `undefined` when nothing is. */
export function explainUrl(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed.startsWith("'")) return "begins with a single quote: use none, or double quotes";
  if (!/^(?:[a-z][a-z\d+.-]*:\/\/|https?:)/i.test(trimmed)) {
    return "has no scheme: begin it with https://";
  }
  const url = URL.parse(trimmed);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    return mustBe("an address, for example https://cloudstack.example.com/client/api");
  }
  if (url.username !== "" || url.password !== "") {
    return "holds a user or password (before the @): CloudStack takes only an API key and a secret key";
  }
  if (text.includes("?")) return "holds a query (from the ? on): remove it";
  if (text.includes("#")) {
    return "holds a fragment (from the # on), as in the address of the web page: remove it";
  }
  return undefined;
}

/** What is odd about the path of an address that can be used; `undefined` when nothing is. */
export function explainOddPath(url: string): string | undefined {
  return url.endsWith("/api")
    ? undefined
    : "does not end in /api; the address of the API usually ends in /client/api";
}

/** A key without blanks around it; `undefined` when it cannot be one. */
export function parseKey(text: string): string | undefined {
  return explainSecret(text) === undefined ? text.trim() : undefined;
}

/** One line that means something. */
type IniLine = IniSection | IniEntry;

/** `[Name]`. */
interface IniSection extends Position {
  readonly kind: "section";
  readonly name: string;
}

/** `key = value`, or `key` alone. */
interface IniEntry extends Position {
  readonly kind: "entry";
  readonly key: string;
  /** Absent if there is no `=`. */
  readonly value?: string;
}

/** The lines of a file, and what is wrong with others. */
interface IniLines {
  readonly lines: readonly IniLine[];
  readonly issues: readonly ConfigIssue[];
}

const NAME = /[\p{L}][\p{L}\p{N}-]*/u.source;
const SECTION = new RegExp(String.raw`^\[[ \t]*(${NAME})[ \t]*(?:(".*")[ \t]*)?\][ \t]*(.*)$`, "u");
const ENTRY = new RegExp(String.raw`^(${NAME})[ \t]*(?:=[ \t]*(.*))?$`, "su");
const ESCAPES: Readonly<Record<string, string>> = { '"': '"', "\\": "\\", n: "\n", t: "\t" };
const ISSUES_MAX = 50;
/** How many lines a value may have. */
const JOINED_MAX = 10;

/** Reads a text. A line that cannot be read is an issue, and the others still count. */
export function readIniLines(text: string): IniLines {
  const lines: IniLine[] = [];
  const issues: ConfigIssue[] = [];
  const rows = text.replace(/^\ufeff/, "").split(/\r?\n/);
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at] ?? "";
    const bare = row.trimStart();
    const position = { line: at + 1, column: row.length - bare.length + 1 };
    // An unquoted backslash at the end of a line joins it with the next.
    let whole = bare;
    for (
      let joined = 1;
      joined < JOINED_MAX && endsOpen(whole) && at + 1 < rows.length;
      joined += 1
    ) {
      at += 1;
      whole = `${whole.trimEnd().slice(0, -1)}\n${rows[at]}`;
    }
    const read = readLine(whole.trimEnd(), position);
    if (read === undefined) continue;
    if ("message" in read) issues.push(read);
    else lines.push(read);
  }
  return { lines, issues: issues.slice(0, ISSUES_MAX) };
}

/** Whether the line goes on in the next: it ends in a backslash outside of quotes and comments. */
function endsOpen(row: string): boolean {
  if (!row.trimEnd().endsWith("\\") || /^[[;#]/.test(row)) return false;
  const value = readValue(row.slice(row.indexOf("=") + 1).trimEnd());
  return "problem" in value && value.problem === LONE_BACKSLASH;
}

function readLine(row: string, position: Position): IniLine | ConfigIssue | undefined {
  if (row === "" || /^[;#]/.test(row)) return undefined;
  const refuse = (message: string): ConfigIssue => ({ ...position, message });
  if (row.startsWith("[")) {
    const [whole, name = "", more, rest = ""] = SECTION.exec(row) ?? [];
    if (whole === undefined) return refuse("a section must be a name in brackets: [Global]");
    if (more !== undefined) return refuse("a second name in quotes has no meaning here; remove it");
    if (!/^(?:[;#]|$)/.test(rest)) return refuse("after ] only a comment may follow on this line");
    return { ...position, kind: "section", name };
  }
  const [, key, written] = ENTRY.exec(withoutComment(row)) ?? [];
  if (key === undefined) return refuse(mustBe("key = value, a [Section] or a comment"));
  if (written === undefined) return { ...position, kind: "entry", key };
  const value = readValue(written);
  if ("problem" in value) return { ...refuse(value.problem), path: key };
  return { ...position, kind: "entry", key, value: value.text };
}

/** The line up to a comment, unless a value begins before it: that may hold the character in quotes. */
function withoutComment(row: string): string {
  const at = row.search(/[;#=]/);
  return at === -1 || row.charAt(at) === "=" ? row : row.slice(0, at).trimEnd();
}

const LONE_BACKSLASH = String.raw`a backslash stands for itself only in quotes and twice: "\\"`;

/** A value without its quotes, up to a comment. Blanks around it do not count, except in quotes. */
function readValue(written: string): { readonly text: string } | { readonly problem: string } {
  let text = "";
  /** Length of the text up to the last character that is no blank, or was quoted. */
  let kept = 0;
  let isQuoted = false;
  for (let at = 0; at < written.length; at += 1) {
    const one = written.charAt(at);
    if (one === '"') {
      isQuoted = !isQuoted;
      kept = text.length;
    } else if (!isQuoted && (one === ";" || one === "#")) break;
    else if (isQuoted && one === "\n")
      return { problem: "a quotation mark is not closed on its line" };
    else if (one !== "\\") {
      // The end of a line that a backslash joined with the next.
      if (one !== "\n") text += one;
      if (isQuoted || !/\s/.test(one)) kept = text.length;
    } else {
      at += 1;
      const escaped = isQuoted ? ESCAPES[written.charAt(at)] : undefined;
      if (escaped === undefined) {
        return {
          problem: isQuoted
            ? String.raw`after a backslash there must be one of " \ n t`
            : LONE_BACKSLASH,
        };
      }
      text += escaped;
      kept = text.length;
    }
  }
  return isQuoted ? { problem: "a quotation mark is not closed" } : { text: text.slice(0, kept) };
}
