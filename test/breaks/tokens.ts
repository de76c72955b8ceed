/**
 * Code as a row of tokens, in which names are told from everything else.
 *
 * White space, comments and a comma before a closing bracket are no tokens: a formatter may change them.
 * @module
 */
import jsTokens from "js-tokens";
import { FIXED_WORDS } from "./language.ts";

/** What a name is a name of. Two things of different roles may share a name, and be renamed one by one. */
export type Role = "member" | "variable";

/** A piece of code that has a meaning of its own. */
export interface Token {
  readonly text: string;
  /** `undefined` for what is no name: punctuation, literals, words of the language. */
  readonly role: Role | undefined;
  /** Where it stands in the text: the first character, and the one after its last. */
  readonly start: number;
  readonly end: number;
}

/** The bracket that a piece of code stands in: braces make an object of names with commas between them. */
export type Bracket = "{" | "(";

const OPENING = /^[([{]$|`.*\$\{$/s;
const CLOSING = /^[)\]}]$|^\}.*`$/s;

/**
 * The tokens of some code. The short form of an object's member, `{ name }`, gives those of the long form,
 * `{ name: name }`, all in the same place: who renames one of the two writes the long form.
 *
 * @param within What the code stands in, for code that begins or ends in the middle of something. @default {"("}
 */
export function readTokens(code: string, within: Bracket = "("): readonly Token[] {
  const words = readWords(code);
  const open: string[] = [];
  return words.flatMap(({ type, text, start, end }, at): readonly Token[] => {
    const before = words[at - 1]?.text ?? ",";
    const after = words[at + 1]?.text ?? ",";
    if (CLOSING.test(text)) open.pop();
    const inBraces = (open.at(-1) ?? within) === "{";
    if (OPENING.test(text)) open.push(text);

    const token = (role: Role | undefined): Token => ({ text, role, start, end });
    if (type === "PrivateIdentifier") return [token("member")];
    if (type !== "IdentifierName") return [token(undefined)];
    if (before === "." || before === "?.") return [token("member")];
    const isInList = inBraces && (before === "{" || before === ",");
    if (isInList && after === ":") return [token("member")];
    if (FIXED_WORDS.has(text)) return [token(undefined)];
    if (!isInList || (after !== "," && after !== "}")) return [token("variable")];
    return [token("member"), { text: ":", role: undefined, start, end }, token("variable")];
  });
}

/** Code whose names are replaced. */
export function renameTokens(code: string, toName: (name: Token) => string): string {
  const names = new Map<number, { readonly end: number; readonly texts: string[] }>();
  for (const token of readTokens(code)) {
    if (token.role === undefined) continue;
    const { start, end } = token;
    const known = names.get(start);
    if (known) known.texts.push(toName(token));
    else names.set(start, { end, texts: [toName(token)] });
  }
  let renamed = "";
  let doneTo = 0;
  for (const [start, { end, texts }] of names) {
    renamed += code.slice(doneTo, start) + [...new Set(texts)].join(": ");
    doneTo = end;
  }
  return renamed + code.slice(doneTo);
}

/** Code without the brackets that a formatter puts around what is returned when it takes more than one line. */
export function unwrapReturns(code: string): string {
  const words = readWords(code);
  const open: number[] = [];
  const gaps: { readonly start: number; readonly end: number }[] = [];
  for (const [at, { text }] of words.entries()) {
    if (OPENING.test(text)) open.push(at);
    if (!CLOSING.test(text)) continue;
    const first = open.pop() ?? 0;
    const [before, bracket, inner] = words.slice(first - 1, first + 2);
    const [last, , after] = words.slice(at - 1, at + 2);
    if (before?.text !== "return" || bracket?.text !== "(" || after?.text !== ";") continue;
    if (inner) gaps.push({ start: bracket.start, end: inner.start });
    if (last) gaps.push({ start: last.end, end: after.start });
  }
  return gaps
    .toSorted((a, b) => b.start - a.start)
    .reduce((kept, { start, end }) => kept.slice(0, start) + kept.slice(end), code);
}

interface Word {
  readonly type: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const NO_WORD = /^(?:WhiteSpace|LineTerminatorSequence|(?:Multi|Single)LineComment)$/;

function readWords(code: string): readonly Word[] {
  const words: Word[] = [];
  let end = 0;
  for (const { type, value } of jsTokens(code)) {
    const start = end;
    end += value.length;
    if (NO_WORD.test(type)) continue;
    if (/^[)\]}]$/.test(value) && words.at(-1)?.text === ",") words.pop();
    words.push({ type, text: value, start, end });
  }
  return words;
}
