/**
 * Reads the body of a list object by object, as it arrives. Parsing thousands of Nodes as one text needs many times the
 * memory of the kept objects.
 * @module
 */
import { BodyError, readPieces } from "../../core/net/body.ts";
import { KubeError } from "./errors.ts";
import type { Kind } from "../kinds/kind.ts";
import type { KubeObject } from "../kinds/resource.ts";
import { isFields, parseFields } from "../../core/text/json.ts";
import { findDamage } from "../kinds/shape.ts";
import { toTransportError } from "./transport.ts";
import { trimObject } from "../kinds/trim.ts";

/** Longest list after unpacking: some 15,000 Nodes in one reply. */
const LIST_BYTES_MAX = 256 * 1024 * 1024;
const ITEMS = '"items":[';
/** How the API server begins an object: without blanks, with a key. */
const FIRST_KEY = /^\{"[^"\\]{1,64}":/;
const FIRST_KEY_CHARS = 70;
/** After this many false ends, beyond one for each object, the rest is parsed in one piece. */
const MISTAKES_MAX = 100;
/** The API server stores no object of 2 MiB or more. */
const OBJECT_CHARS_MAX = 4 * 1024 * 1024;

/**
 * Reads a list. Trims its objects. Damaged objects stay complete, so that the check for damage sees them. Any other
 * text than a list of the API server is parsed as JSON.
 *
 * @param what The request, as `list "/api/v1/nodes"`, for errors
 * @param signal Ends it with its reason
 * @returns The parsed value
 * @throws {KubeError} `unavailable` when it is not JSON, too long, or ends early
 */
export async function readListBody(
  resource: Kind<KubeObject>,
  reply: Pick<Response, "body">,
  what: string,
  signal: AbortSignal,
): Promise<unknown> {
  const list = new PartialList(resource);
  try {
    for await (const text of readPieces(reply, { bytesMax: LIST_BYTES_MAX })) list.add(text);
    return list.end();
  } catch (error) {
    if (error instanceof SyntaxError) throw toError(what, "the answer is not JSON", error);
    if (error instanceof BodyError) throw toError(what, error.message, error);
    throw toTransportError(error, signal);
  }
}

function toError(what: string, message: string, cause?: unknown): KubeError {
  return new KubeError("unavailable", `Cannot ${what}: ${message}`, { cause });
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
  /** The text that is not extracted yet. */
  #pieces: string[] = [];
  /** How much of that text was searched. */
  #searched = 0;
  #mistakes = 0;

  constructor(resource: Kind<KubeObject>) {
    this.#resource = resource;
  }

  add(text: string): void {
    this.#pieces.push(text);
    if (this.#phase === "rest") return;
    const whole = this.#pieces.join("");
    const left = this.#phase === "head" ? this.#begin(whole) : whole;
    this.#pieces = [this.#phase === "objects" ? this.#take(left) : left];
    if (left.length > OBJECT_CHARS_MAX) this.#phase = "rest";
  }

  /** @throws {SyntaxError} when it is not JSON */
  end(): unknown {
    // The rest is a list of its own: the last objects, and everything after them.
    const value: unknown = JSON.parse([this.#head, ...this.#pieces].join(""));
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
      const object = parseFields(text.slice(startAt, at + 1));
      if (object !== undefined) {
        this.#items.push(this.#shrink(object));
        startAt = at + 2;
      } else if ((this.#mistakes += 1) > MISTAKES_MAX + this.#items.length) {
        this.#phase = "rest";
        break;
      }
    }
    const left = text.slice(startAt);
    // Only a part of the border may have arrived.
    this.#searched = Math.max(0, left.length - this.#border.length, searchAt - startAt);
    return left;
  }

  /** The trimmed object; a damaged one stays complete. */
  #shrink(object: unknown): unknown {
    if (findDamage(this.#resource, object) !== undefined) return object;
    return trimObject(this.#resource, object as KubeObject);
  }
}

/** Whether this is all text before the objects of a list. */
function isHead(text: string): boolean {
  return parseFields(`${text}]}`) !== undefined;
}
