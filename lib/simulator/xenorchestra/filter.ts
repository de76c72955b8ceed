/**
 * The filter language of Xen Orchestra's lists, as far as clients use it.
 *
 * Terms separated by blanks must all match; `|(a b)` one of them, `!a` not, `(a b)` a group; `property:term`,
 * `property?` (set and not empty), `/regexp/flags`, `>4`, `>=4`, `<4`, `<=4`, `*` as a wildcard. A word without a
 * property is searched in every value. Strings match as substrings in any case: also quoted ones and UUIDs.
 * @module
 */

/** Whether a value (an object, or a part of one) matches. */
type Matcher = (value: unknown) => boolean;

/** The error for an invalid filter; the server answers 400 with this message. */
export class FilterError extends Error {
  override readonly name = "FilterError";
}

const RAW = /[\w.$*-]+/y;
const COMPARE = /(>=|<=|>|<)(-?\d+(?:\.\d+)?)/y;
const REGEXP = /\/((?:[^/\\]|\\.)+)\/([a-z]*)/y;

/**
 * Reads a filter.
 *
 * An unclosed quote is not an error: it matches nothing, as on the real server.
 *
 * @throws {FilterError} when it cannot be read
 */
export function parseFilter(text: string): Matcher {
  const parser = new Parser(text);
  return parser.parse();
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): Matcher {
    if (isUnclosed(this.#text)) return () => false;
    const terms = this.#terms();
    if (this.#at < this.#text.length) {
      throw new FilterError(`parse error: expected end of input at position ${this.#at}`);
    }
    return every(terms);
  }

  #terms(): Matcher[] {
    const terms: Matcher[] = [];
    for (;;) {
      const start = this.#at;
      this.#blanks();
      const term = this.#term();
      if (term === undefined) {
        this.#at = start;
        this.#trailingBlanks();
        return terms;
      }
      terms.push(term);
    }
  }

  #term(): Matcher | undefined {
    const start = this.#at;
    const forms = [
      () => this.#group(),
      () => this.#not(),
      () => this.#regexp(),
      () => this.#compare(),
      () => this.#words(),
    ];
    for (const form of forms) {
      const term = form();
      if (term !== undefined) return term;
      this.#at = start;
    }
    return undefined;
  }

  #group(): Matcher | undefined {
    const either = this.#take("|");
    if (!this.#take("(")) return undefined;
    const terms = this.#terms();
    this.#blanks();
    if (!this.#take(")")) return undefined;
    return either ? (value) => terms.some((term) => term(value)) : every(terms);
  }

  #not(): Matcher | undefined {
    if (!this.#take("!")) return undefined;
    const term = this.#term();
    return term && ((value) => !term(value));
  }

  #regexp(): Matcher | undefined {
    const found = this.#match(REGEXP);
    if (found === undefined) return undefined;
    const [, source = "", flags = ""] = found;
    const pattern = toRegExp(source, flags);
    return matchLeaves((leaf) => pattern.test(leaf));
  }

  #compare(): Matcher | undefined {
    const found = this.#match(COMPARE);
    if (found === undefined) return undefined;
    const wanted = Number(found[2]);
    return (value) => typeof value === "number" && compare(value, found[1] ?? "", wanted);
  }

  #words(): Matcher | undefined {
    const word = this.#word();
    if (word === undefined) return undefined;
    if (this.#take("?")) return (value) => isTruthy(readProperty(value, word));
    if (this.#take(":")) {
      const term = this.#term();
      return term && ((value) => term(readProperty(value, word)));
    }
    return matchText(word);
  }

  #word(): string | undefined {
    if (!this.#take('"')) return this.#match(RAW)?.[0];
    let word = "";
    while (this.#at < this.#text.length && !this.#take('"')) {
      if (this.#text[this.#at] === "\\") this.#at += 1;
      word += this.#text[this.#at] ?? "";
      this.#at += 1;
    }
    return word;
  }

  #take(sign: string): boolean {
    if (this.#text[this.#at] !== sign) return false;
    this.#at += 1;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    const sticky = new RegExp(pattern);
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#text);
    if (found === null) return undefined;
    this.#at += found[0].length;
    return found;
  }

  #blanks(): void {
    while (this.#take(" ")) {
      // Blanks only separate.
    }
  }

  #trailingBlanks(): void {
    if (this.#text.slice(this.#at).trim() === "") this.#at = this.#text.length;
  }
}

/** Whether a quote is left open; quotes inside a regular expression do not occur in practice. */
function isUnclosed(text: string): boolean {
  const quotes = text.replaceAll(/\\./g, "").split('"').length - 1;
  return quotes % 2 === 1;
}

function toRegExp(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags.replace("g", ""));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const detail = why.replace(/^Invalid regular expression: /, "");
    throw new FilterError(`Invalid regular expression: /${source}/: ${detail}`);
  }
}

function every(terms: readonly Matcher[]): Matcher {
  return (value) => terms.every((term) => term(value));
}

function matchText(word: string): Matcher {
  if (word.includes("*")) {
    const parts = word.split("*").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const glob = new RegExp(parts.join(".*"), "i");
    return matchLeaves((leaf) => glob.test(leaf));
  }
  const lower = word.toLowerCase();
  const number = word.trim() === "" ? Number.NaN : Number(word);
  const inStrings = matchLeaves((leaf) => leaf.toLowerCase().includes(lower));
  return (value) => (typeof value === "number" ? value === number : inStrings(value));
}

/** Matches strings anywhere below a value. */
function matchLeaves(test: (leaf: string) => boolean): Matcher {
  const match: Matcher = (value) => {
    if (typeof value === "string") return test(value);
    return typeof value === "object" && value !== null && Object.values(value).some(match);
  };
  return match;
}

function compare(value: number, sign: string, wanted: number): boolean {
  if (sign === ">") return value > wanted;
  if (sign === ">=") return value >= wanted;
  return sign === "<" ? value < wanted : value <= wanted;
}

function isTruthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

function readProperty(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}
