/**
 * Where things are in an invalid YAML file. Loads the `yaml` package, so call it only then.
 *
 * Nothing here repeats the content, since it may be a secret; the messages of the parser do.
 * @module
 */
import type { FindPosition, Position } from "../cloud/settings/schema.ts";
import type { ConfigIssue } from "../core/errors.ts";
import type { Document, ErrorCode, LineCounter, Node } from "yaml";

/** The problems of a YAML text itself, and the places of its settings. */
export interface YamlPlaces {
  /** Syntax errors, repeated keys and aliases without an anchor, each with its place; at most ten. */
  readonly issues: readonly ConfigIssue[];
  /** Finds the key or list item of a setting; `undefined` when not even the first part of its path exists. */
  readonly find: FindPosition;
}

const ISSUES_MAX = 10;
/** Nesting of open collections and texts, as the parser counts it; settings have six. */
const PARSER_DEPTH_MAX = 250;
const TOO_DEEP: ConfigIssue = { message: "brackets or lists are nested too deeply" };

const MESSAGES: Partial<Record<ErrorCode, string>> = {
  BAD_ALIAS: "an alias (*name) refers to no anchor; quote the text if it is not an alias",
  BAD_INDENT: "the indentation does not match the lines above, or a bracket there is not closed",
  BAD_DQ_ESCAPE: "an escape sequence in a double-quoted text is not valid; use single quotes",
  BAD_SCALAR_START: "a text cannot start with this character; quote it",
  BLOCK_AS_IMPLICIT_KEY: "there is a second `:` on this line; quote the text if it contains one",
  DUPLICATE_KEY: "this key occurs twice; remove one",
  MISSING_CHAR: "something is not closed or separated: a bracket, a comma or a `:`",
  MULTILINE_IMPLICIT_KEY: "a `:` is missing after a key",
  MULTIPLE_DOCS: "the file must be one YAML document, but another one begins here",
  TAB_AS_INDENT: "tabs cannot be used for indentation; use spaces",
  UNEXPECTED_TOKEN: "this is not expected here",
};

const OPEN_QUOTE = "the quote that begins here is not closed; close it, or remove it";
const NEXT_LINE_DEEPER =
  "the next line is indented further, so it continues this value; indent both lines alike";
/** Most lines to search for the next one with a setting: the others are empty or comments. */
const NEXT_LINES_MAX = 100;

/** Reads a text a second time, to find the places of its settings. */
export async function findYamlPlaces(text: string): Promise<YamlPlaces> {
  if (await isNestedTooDeeply(text)) return { issues: [TOO_DEEP], find: () => undefined };
  const { LineCounter, parseDocument, isMap, isSeq, isScalar } = await import("yaml");
  const counter = new LineCounter();
  // The parser's own search for repeated keys compares each key with all others: 90,000 took more than a minute.
  const settings = { lineCounter: counter, prettyErrors: false, uniqueKeys: false };
  const document = parseDocument(text, settings);
  const find: FindPosition = (path) => {
    let found: number | undefined;
    const walk = (node: unknown, keys: readonly string[]): void => {
      if (keys.length === 0) return;
      if (isSeq<Node>(node)) {
        const item = node.items[Number(keys[0])];
        if (item === undefined) return;
        found = item.range?.[0] ?? found;
        walk(item, keys.slice(1));
      }
      if (!isMap<Node, Node>(node)) return;
      // A key may contain dots itself, so the longest match is used.
      for (let count = keys.length; count > 0; count -= 1) {
        const name = keys.slice(0, count).join(".");
        const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === name);
        if (pair === undefined) continue;
        found = pair.key.range?.[0] ?? found;
        walk(pair.value, keys.slice(count));
        return;
      }
    };
    walk(document.contents, path.split("."));
    return found === undefined ? undefined : toPosition(counter, found);
  };
  const problems = [
    ...(await listSyntaxProblems(document, counter)),
    ...(await listProblems(document)),
  ];
  problems.sort((one, other) => one.offset - other.offset);
  return {
    issues: problems.slice(0, ISSUES_MAX).map((problem) => toIssue(problem, text, counter)),
    find,
  };
}

interface Problem {
  readonly code: ErrorCode;
  readonly offset: number;
  /** @default {what is said of the code} */
  readonly message?: string;
}

/** Checked first: the parser's time grows so fast with the depth that 8 KiB of `a: a: a: …` took 10 s. */
async function isNestedTooDeeply(text: string): Promise<boolean> {
  const { Lexer, Parser } = await import("yaml");
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    Array.from(parser.next(lexeme));
    if (parser.stack.length > PARSER_DEPTH_MAX) return true;
  }
  return false;
}

/** Problems that the parser is not asked for, or that would cost it a walk through the whole document per alias. */
async function listProblems(document: Document.Parsed): Promise<Problem[]> {
  const { isMap, isScalar, visit } = await import("yaml");
  const problems: Problem[] = [];
  const anchors = new Set<string>();
  visit(document, {
    Alias: (_key, alias) => {
      if (!anchors.has(alias.source)) problems.push(toProblem("BAD_ALIAS", alias));
    },
    Value: (_key, node) => {
      if (node.anchor !== undefined) anchors.add(node.anchor);
      if (!isMap<unknown>(node)) return;
      const keys = new Set<unknown>();
      for (const { key } of node.items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value)) problems.push(toProblem("DUPLICATE_KEY", key));
        keys.add(key.value);
      }
    },
  });
  return problems;
}

/** What the parser reports, in better words. It repeats some problems on the lines below, where they are none. */
async function listSyntaxProblems(
  document: Document.Parsed,
  counter: LineCounter,
): Promise<Problem[]> {
  const openQuotes = await findOpenQuotes(document);
  const listOffsets = (wanted: ErrorCode): ReadonlySet<number> =>
    new Set(document.errors.flatMap(({ code, pos: [at] }) => (code === wanted ? [at] : [])));
  const continued = listOffsets("MULTILINE_IMPLICIT_KEY");
  const nested = listOffsets("BLOCK_AS_IMPLICIT_KEY");
  let lastLine = -1;
  return document.errors.flatMap(({ code, pos: [offset], message }): Problem[] => {
    const { line } = counter.linePos(offset);
    const isBelow = line === lastLine + 1;
    lastLine = line;
    if (code === "BLOCK_AS_IMPLICIT_KEY" && continued.has(offset) && isBelow) return [];
    if (code === "MULTILINE_IMPLICIT_KEY" && nested.has(offset)) return [];
    if (code !== "MISSING_CHAR") return [{ code, offset }];
    const start = openQuotes.get(offset);
    if (start !== undefined) return [{ code, offset: start, message: OPEN_QUOTE }];
    return [{ code: message.startsWith("Sequence item") ? "BAD_INDENT" : code, offset }];
  });
}

/** Where quoted texts begin, by where they end: the parser reports an open quote at the end of its text. */
async function findOpenQuotes(document: Document.Parsed): Promise<ReadonlyMap<number, number>> {
  const { visit } = await import("yaml");
  const starts = new Map<number, number>();
  visit(document, {
    Scalar: (_key, { type = "", range }) => {
      if (type.startsWith("QUOTE") && range) starts.set(range[1], range[0]);
    },
  });
  return starts;
}

function toProblem(code: ErrorCode, { range }: Pick<Node, "range">): Problem {
  return { code, offset: range?.[0] ?? 0 };
}

function toIssue(problem: Problem, text: string, counter: LineCounter): ConfigIssue {
  const { code, offset } = problem;
  const message =
    problem.message ??
    (code === "BLOCK_AS_IMPLICIT_KEY" && isNextLineDeeper(text, offset)
      ? NEXT_LINE_DEEPER
      : (MESSAGES[code] ?? "cannot read this as YAML"));
  return { message, ...toPosition(counter, offset) };
}

/** Whether the value at `offset` has no `:` of its own, but the next line is indented further and so continues it. */
function isNextLineDeeper(text: string, offset: number): boolean {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const [line = "", ...rest] = text.slice(start).split("\n", NEXT_LINES_MAX);
  if (/:(?:\s|$)/.test(line.slice(offset - start))) return false;
  const next = rest.find((one) => /^\s*[^\s#]/.test(one)) ?? "";
  return next.search(/\S/) > line.search(/\S/);
}

function toPosition(counter: LineCounter, offset: number): Position {
  const { line, col } = counter.linePos(offset);
  return { line, column: col };
}
