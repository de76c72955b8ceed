/**
 * Reads the body of a list object by object, as it arrives. Parsing thousands of Nodes as one text needs many times the
 * memory of the kept objects.
 * @module
 */
import { BodyError, parseReply, readPieces } from "../../core/http/request.ts";
import type { Kind } from "../kinds/kind.ts";
import type { KubeObject } from "../kinds/resource.ts";
import { formatSize, isFields, parseFields } from "../../core/text/values.ts";
import { findDamage } from "../kinds/shape.ts";
import { trimObject } from "../kinds/trim.ts";

const ITEMS = '"items":[';
/** How the API server begins an object: without blanks, with a key; custom resources with their kind. */
const FIRST_KEY = /^\{(?:"apiVersion":"[^"\\]{1,128}","kind":"[^"\\]{1,64}",)?"[^"\\]{1,64}":/;
const FIRST_KEY_CHARS = 300;
/** After this many false ends of one object, its brackets are counted: to parse it each time takes quadratic time. */
const MISTAKES_MAX = 3;
/** The API server stores no object of 2 MiB or more; each of its characters may need six in JSON. */
const OBJECT_CHARS_MAX = 12 * 1024 * 1024;

/**
 * Reads a list. Trims its objects. Damaged objects stay complete, so that the check for damage sees them. Any other
 * text than a list of the API server is parsed as JSON, if it is short.
 *
 * @returns The parsed value
 * @throws {SyntaxError} when it is not JSON, or ends early
 * @throws {BodyError} when it is too long
 */
export async function readListBody(
  resource: Kind<KubeObject>,
  reply: Pick<Response, "body">,
): Promise<unknown> {
  const list = new PartialList(resource);
  // Its deadline ends it. What is kept of it has limits.
  for await (const text of readPieces(reply, { bytesMax: Infinity })) list.add(text);
  return list.end();
}

/**
 * The text of a list. It yields whole objects as they arrive. An object ends where its text is complete JSON. The
 * beginning of the first object shows how to find such places.
 */
class PartialList {
  readonly #resource: Kind<KubeObject>;
  readonly #items: unknown[] = [];
  /** `head`: no object has begun yet · `objects`: objects are extracted · `rest`: the rest is parsed in one piece. */
  #phase: "head" | "objects" | "rest" = "head";
  /** Everything before the first object, once extraction has begun. */
  #head = "";
  /** The text between two objects: a comma, and the beginning of an object. */
  #border = "";
  /** The text that is not extracted yet. To join it for each piece would take quadratic time. */
  #pieces: string[] = [];
  /** How long that text is. */
  #length = 0;
  /** How much of that text was searched. */
  #searched = 0;
  /** The end of that text: a border may begin in it. */
  #tail = "";
  /** False ends of the object that the text begins with. */
  #mistakes = 0;
  #depth = new BracketDepth();

  constructor(resource: Kind<KubeObject>) {
    this.#resource = resource;
  }

  /** @throws {BodyError} when more text is left than one object has */
  add(text: string): void {
    this.#pieces.push(text);
    this.#length += text.length;
    if (this.#phase === "head") this.#setText(this.#begin(this.#pieces.join("")));
    if (this.#phase === "objects") {
      const near = this.#tail + text;
      if (near.includes(this.#border)) this.#setText(this.#take(this.#pieces.join("")));
      this.#searched = Math.max(0, this.#length - this.#border.length);
      this.#tail = near.slice(-this.#border.length);
    }
    if (this.#length <= OBJECT_CHARS_MAX) return;
    throw new BodyError(`more than ${formatSize(OBJECT_CHARS_MAX)} of it cannot be read in parts`);
  }

  #setText(text: string): void {
    this.#pieces = [text];
    this.#length = text.length;
  }

  /** @throws {SyntaxError} when it is not JSON */
  end(): unknown {
    // The rest is a list of its own: the last objects, and everything after them.
    const value = parseReply([this.#head, ...this.#pieces].join(""));
    if (!isFields(value) || !Array.isArray(value["items"])) return value;
    for (const item of value["items"]) this.#items.push(this.#shrink(item));
    return { ...value, items: this.#items };
  }

  /** Looks for the first object. @returns The text after it, or all text if there is none */
  #begin(text: string): string {
    const at = text.indexOf(ITEMS);
    if (at === -1) return text;
    const head = text.slice(0, at + ITEMS.length);
    const first = text.slice(head.length, head.length + FIRST_KEY_CHARS);
    if (first.length < FIRST_KEY_CHARS) return text;
    const [key] = FIRST_KEY.exec(first) ?? [];
    if (key === undefined || !isHead(head)) {
      this.#phase = "rest";
      return text;
    }
    this.#phase = "objects";
    this.#head = head;
    this.#border = `},${key}`;
    return text.slice(head.length);
  }

  /** Extracts all whole objects but the last. @returns The remaining text */
  #take(text: string): string {
    let startAt = 0;
    let searchAt = this.#searched;
    for (;;) {
      const at = text.indexOf(this.#border, searchAt);
      if (at === -1) break;
      searchAt = at + 1;
      const isCounted = this.#mistakes >= MISTAKES_MAX;
      if (isCounted && this.#depth.follow(text, startAt, at + 1) > 0) continue;
      const object = parseFields(text.slice(startAt, at + 1));
      if (object === undefined) {
        this.#mistakes += 1;
        continue;
      }
      this.#items.push(this.#shrink(object));
      startAt = at + 2;
      this.#mistakes = 0;
      this.#depth = new BracketDepth();
    }
    return text.slice(startAt);
  }

  /** The trimmed object; a damaged one stays complete. */
  #shrink(object: unknown): unknown {
    if (findDamage(this.#resource, object) !== undefined) return object;
    return trimObject(this.#resource, object as KubeObject);
  }
}

/** Counts the brackets of one object that are open at a place of its text. Reads each character once. */
class BracketDepth {
  #read = 0;
  #depth = 0;
  #isInString = false;

  /** @param startAt Where the object begins in the text. @param endAt Not before the place of the last call */
  follow(text: string, startAt: number, endAt: number): number {
    let at = startAt + this.#read;
    while (at < endAt) {
      const quote = text.indexOf('"', at);
      const stop = quote === -1 ? endAt : Math.min(quote, endAt);
      if (!this.#isInString) {
        for (let each = at; each < stop; each += 1) this.#depth += STEPS[text[each] ?? ""] ?? 0;
      }
      if (quote === stop && !(this.#isInString && isEscaped(text, quote))) {
        this.#isInString = !this.#isInString;
      }
      at = stop + 1;
    }
    this.#read = endAt - startAt;
    return this.#isInString ? Infinity : this.#depth;
  }
}

const STEPS: Readonly<Record<string, number>> = { "{": 1, "[": 1, "}": -1, "]": -1 };

/** Whether an odd number of backslashes is before a place. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === "\\") first -= 1;
  return (at - first) % 2 === 1;
}

/** Whether this is all text before the objects of a list. */
function isHead(text: string): boolean {
  return parseFields(`${text}]}`) !== undefined;
}
