/**
 * Reads the lines of an INI file as the Apache provider's parser does: sections, keys, quotes, comments.
 *
 * Nothing here repeats the content, since it may be a secret.
 * @module
 */
import type { Position } from "../../../cloud/settings/schema.ts";
import type { ConfigIssue } from "../../../core/errors.ts";
import { mustBe } from "../../../core/text/values.ts";

/** One line that means something. */
type IniLine = IniSection | IniEntry;

/** `[Name]`. */
export interface IniSection extends Position {
  readonly kind: "section";
  readonly name: string;
}

/** `key = value`, or `key` alone. */
export interface IniEntry extends Position {
  readonly kind: "entry";
  readonly key: string;
  /** Absent if there is no `=`. */
  readonly value?: string;
}

/** The lines of a file, and what is wrong with others. */
export interface IniLines {
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
