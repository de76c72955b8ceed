/**
 * Breaks texts into lines of a given width.
 * @module
 */

/** A longer word is broken after one of these, if one is near its end. */
const BREAKS = "/,=&?";
/** Narrower lines would be harder to read than lines that the terminal breaks. */
const WIDTH_MIN = 16;

/**
 * Breaks a text at its blanks. A word that is longer than a line is broken, too.
 *
 * @param text One line
 * @param width Most characters of a line, 16 at least; `Infinity`: the text stays one line
 * @returns Lines without newlines; one empty line for an empty text
 */
export function wrapText(text: string, width: number): string[] {
  const most = Math.max(width, WIDTH_MIN);
  if (text.length <= most) return [text];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const joined = line === "" ? word : `${line} ${word}`;
    if (joined.length <= most) {
      line = joined;
      continue;
    }
    if (line !== "") lines.push(line);
    const pieces = breakWord(word, most);
    line = pieces.pop() ?? "";
    lines.push(...pieces);
  }
  return [...lines, line];
}

/** How {@linkcode wrapAfter} wraps. */
interface WrapOptions {
  /** Most characters of a line, its prefix included. */
  readonly width: number;
  /** Stands before each line but the first. @default {as many blanks as the prefix has characters} */
  readonly indent?: string;
}

/**
 * Wraps a text behind a prefix, and indents its further lines.
 *
 * @returns Lines, each ending in a newline
 */
export function wrapAfter(
  prefix: string,
  text: string,
  { width, indent = " ".repeat(prefix.length) }: WrapOptions,
): string {
  const lines = wrapText(text, width - Math.max(prefix.length, indent.length));
  return lines.map((line, at) => `${at === 0 ? prefix : indent}${line}\n`).join("");
}

function breakWord(word: string, most: number): string[] {
  const pieces: string[] = [];
  let rest = word;
  while (rest.length > most) {
    const fits = rest.slice(0, most);
    const cut = 1 + Math.max(...[...BREAKS].map((mark) => fits.lastIndexOf(mark)));
    // Halves of a character stay together.
    const piece = (cut > most / 2 ? fits.slice(0, cut) : fits).replace(/[\ud800-\udbff]$/, "");
    pieces.push(piece);
    rest = rest.slice(piece.length);
  }
  return [...pieces, rest];
}
