/**
 * Applies deliberate breaks to texts.
 * @module
 */
import type { Edit } from "./break.ts";
import { OUTSIDE_MEMBERS, OUTSIDE_WORDS } from "./language.ts";
import { readTokens, renameTokens, type Token, unwrapReturns } from "./tokens.ts";

/** What a text has where a piece has its names, by {@linkcode toKey}. */
type Names = ReadonlyMap<string, Token>;

/** Where a text has the shape of a piece. */
interface Place {
  readonly start: number;
  readonly end: number;
  readonly names: Names;
}

/**
 * The text with the edit, in the names of the text.
 *
 * @throws {Error} when the shape of a piece does not occur exactly once, or when what takes its place has a name that
 *   the text may call something else
 */
export function applyEdit(code: string, { file, from, to, given }: Edit): string {
  const text = unwrapReturns(code);
  const tokens = readTokens(text);
  const { start, end, names } = findPlace(tokens, from, { file, known: new Map() });
  let known = names;
  for (const piece of given) known = findPlace(tokens, piece, { file, known }).names;
  return renameTokens(text.slice(0, start) + to + text.slice(end), (token) => {
    if (token.start < start || token.start >= start + to.length) return token.text;
    const name = known.get(toKey(token));
    if (name === undefined && !isFromOutside(token)) {
      throw new Error(`${file} may call "${token.text}" something else: widen ${from}`);
    }
    return name?.text ?? token.text;
  });
}

function findPlace(
  tokens: readonly Token[],
  piece: string,
  { file, known }: { readonly file: string; readonly known: Names },
): Place {
  const places = new Map<number, Place>();
  for (const within of ["{", "("] as const) {
    const wanted = readTokens(piece, within);
    for (const at of tokens.keys()) {
      const place = compare(tokens, at, { wanted, known });
      if (place) places.set(at, place);
    }
  }
  const [place, ...more] = places.values();
  if (place === undefined || more.length > 0) {
    throw new Error(`${file} has this shape ${places.size} times, not once: ${piece}`);
  }
  return place;
}

/** The place of what is wanted, from one of these tokens on; `undefined` when they differ in more than names. */
function compare(
  tokens: readonly Token[],
  first: number,
  { wanted, known }: { readonly wanted: readonly Token[]; readonly known: Names },
): Place | undefined {
  if (!hasShape(tokens, first, wanted)) return undefined;
  const names = new Map(known);
  const taken = new Set(Array.from(known.values(), toKey));
  for (const [at, token] of wanted.entries()) {
    const found = tokens[first + at];
    if (found === undefined || token.role === undefined) continue;
    const name = names.get(toKey(token));
    if (name === undefined ? taken.has(toKey(found)) : name.text !== found.text) return undefined;
    names.set(toKey(token), found);
    taken.add(toKey(found));
  }
  const start = tokens[first]?.start ?? 0;
  return { start, end: tokens[first + wanted.length - 1]?.end ?? start, names };
}

/** Whether there are the same tokens, whatever the names. This rules out nearly every place, and makes no objects. */
function hasShape(tokens: readonly Token[], first: number, wanted: readonly Token[]): boolean {
  return wanted.every(({ role, text }, at) => {
    const found = tokens[first + at];
    return found?.role === role && (role !== undefined || found?.text === text);
  });
}

/** Whether a name means the same whatever the file is like, so that what takes the place of a piece may bring it. */
function isFromOutside({ text, role }: Token): boolean {
  if (role === "member") return OUTSIDE_MEMBERS.has(text);
  return OUTSIDE_WORDS.has(text) || text.startsWith("_");
}

function toKey({ role, text }: Token): string {
  return `${role} ${text}`;
}
