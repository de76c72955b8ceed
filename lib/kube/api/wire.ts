/**
 * The formats of the API server: queries of requests, and bodies of answers. A body is an object, a list that is read
 * object by object, or the lines of a watch. Sends nothing.
 * @module
 */
import type {
  DeleteOptions,
  ListPage,
  ListQuery,
  Patch,
  WatchEvent,
  WatchQuery,
} from "./client.ts";
import { EVENTS } from "../kinds/event.ts";
import {
  findDamage,
  type Kind,
  type KubeObject,
  type ObjectPath,
  type Resource,
  trimObject,
} from "../kinds/resource.ts";
import { formatSize, isFields, parseFields } from "../../core/text/values.ts";
import {
  BodyError,
  parseBytes,
  parseReply,
  readBytes,
  readChunks,
  readPieces,
  readText,
} from "../../core/http/request.ts";

/** Longest answer that is no list, after unpacking: etcd stores no object over 2 MiB. */
const OBJECT_BYTES_MAX = 16 * 1024 * 1024;

/** The content type of each kind of patch. */
export const PATCH_CONTENT_TYPES: Readonly<Record<Patch["type"], string>> = {
  // JSON is YAML, too.
  apply: "application/apply-patch+yaml",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

/** Whether only the leader may write objects of a kind. Events describe the past, and reviews change nothing. */
export function isFenced(resource: Resource<KubeObject>): boolean {
  const { apiVersion, kind } = resource;
  return !isReview(resource) && !(apiVersion === EVENTS.apiVersion && kind === EVENTS.kind);
}

/** Whether the API server only answers questions of this kind, and stores none. */
export function isReview({ apiVersion, kind }: Resource<KubeObject>): boolean {
  return /^auth\w+\.k8s\.io\//.test(apiVersion) && kind.endsWith("Review");
}

/** Path of the objects of a kind; without a namespace, of those in the whole cluster. */
export function toCollection(namespace: string | undefined): ObjectPath {
  return namespace === undefined ? {} : { namespace };
}

/**
 * Reads a JSON body. Another type, for example that of `/healthz`, becomes text.
 *
 * @param unread Names of lists to leave empty
 * @throws {SyntaxError} if the body claims to be JSON and is not
 * @throws {BodyError} if it is too long
 */
export async function readBody(reply: Response, unread?: readonly string[]): Promise<unknown> {
  const isJson = (reply.headers.get("content-type") ?? "").includes("json");
  if (!isJson) return await readText(reply, { bytesMax: OBJECT_BYTES_MAX });
  return parseBytes(await readBytes(reply, { bytesMax: OBJECT_BYTES_MAX }), unread);
}

/**
 * Checks that the answer is the object of the request. A proxy on the way may answer 200 with anything.
 *
 * @param name Required name; absent accepts any: reviews have no name
 * @throws {BodyError} if it is another object, or none
 */
export function toObject<T extends KubeObject>(
  value: unknown,
  { apiVersion, kind }: Resource<T>,
  name?: string,
): T {
  const isOne = isFields(value) && value["kind"] === kind && value["apiVersion"] === apiVersion;
  const metadata = isOne ? (value["metadata"] ?? {}) : undefined;
  if (isFields(metadata) && (name === undefined || metadata["name"] === name)) return value as T;
  const wanted = name === undefined ? kind : `${kind} of that name`;
  throw new BodyError(`the answer is not a ${wanted}`);
}

/**
 * The query of a deletion, and whether it can be repeated: not without a precondition, or it may delete another object.
 */
export function toDeletion({ uid, resourceVersion, propagationPolicy }: DeleteOptions): {
  readonly body: object;
  readonly repeatable: boolean;
} {
  const preconditions = {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  const repeatable = Object.keys(preconditions).length > 0;
  const body = {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...(repeatable && { preconditions }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
  };
  return { body, repeatable };
}

/**
 * Reads the answer to a deletion: a Status of success, or the object. For some kinds, as Services, that is its last
 * state.
 *
 * @returns The object if it is being deleted, and still there
 * @throws {BodyError} if the answer is something else
 */
export function toDeleted<T extends KubeObject>(
  value: unknown,
  resource: Resource<T>,
): T | undefined {
  const { kind, status, metadata } = isFields(value) ? value : {};
  if (kind === "Status" && status === "Success") return undefined;
  if (kind !== resource.kind) throw new BodyError("the answer does not come from Kubernetes");
  const isLeft = isFields(metadata) && typeof metadata["deletionTimestamp"] === "string";
  return isLeft ? toObject(value, resource) : undefined;
}

/** Whether sending a patch or an object twice has the same effect as once, because the second one meets a conflict. */
export function hasPrecondition(body: object): boolean {
  const metadata: unknown = "metadata" in body ? body.metadata : undefined;
  return isFields(metadata) && typeof metadata["resourceVersion"] === "string";
}

/**
 * Reads one page of a list.
 *
 * @throws {BodyError} if the answer is not a list of this kind, or an object in it is damaged. An object
 * that a list lacks counts as gone, so only a complete list counts
 */
export function toPage<T extends KubeObject>(value: unknown, resource: Kind<T>): ListPage<T> {
  const { kind, items, metadata } = isFields(value) ? value : {};
  const { resourceVersion, continue: next } = isFields(metadata) ? metadata : {};
  const isOther = kind !== undefined && kind !== `${resource.kind}List`;
  if (isOther || typeof resourceVersion !== "string" || !(Array.isArray(items) || items === null)) {
    throw new BodyError("the answer is not a list");
  }
  // An empty list is `null` in some versions.
  const objects: readonly unknown[] = items ?? [];
  for (const [at, object] of objects.entries()) {
    // A frozen object was checked when it arrived.
    if (isFields(object) && Object.isFrozen(object)) continue;
    const damage = findDamage(resource, object);
    if (damage === undefined) continue;
    throw new BodyError(`object ${at} is damaged: ${damage}`);
  }
  return {
    items: objects as readonly T[],
    resourceVersion,
    ...(typeof next === "string" && next !== "" && { continue: next }),
  };
}

/** Query string of one page, with its question mark. */
export function toListSearch(query: ListQuery): string {
  const { limit, continue: next, labelSelector, fieldSelector } = query;
  return toSearch({ limit, continue: next, labelSelector, fieldSelector });
}

/** Query string of a patch, with its question mark; empty without parameters. */
export function toPatchSearch(patch: Patch): string {
  if (patch.type !== "apply") return "";
  return toSearch({ fieldManager: patch.fieldManager, force: "true" });
}

/** Query string of a watch, with its question mark. Always asks for bookmarks. */
export function toWatchSearch(query: WatchQuery): string {
  const { resourceVersion, timeoutSeconds, labelSelector, fieldSelector } = query;
  const version = { watch: 1, allowWatchBookmarks: "true", resourceVersion, timeoutSeconds };
  return toSearch({ ...version, labelSelector, fieldSelector });
}

function toSearch(fields: Readonly<Record<string, string | number | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== "") search.set(name, String(value));
  }
  return search.size === 0 ? "" : `?${search}`;
}

const ITEMS = '"items":[';
/** How the API server begins an object: without blanks, with a key; custom resources with their kind. */
const FIRST_KEY = /^\{(?:"apiVersion":"[^"\\]{1,128}","kind":"[^"\\]{1,64}",)?"[^"\\]{1,64}":/;
const FIRST_KEY_CHARS = 300;
/** After this many false ends of one object, its brackets are counted: to parse it each time takes quadratic time. */
const MISTAKES_MAX = 3;
/** The API server stores no object of 2 MiB or more; each of its characters may need six in JSON. */
const OBJECT_CHARS_MAX = 12 * 1024 * 1024;
/** A whole list as one text needs several times its size in memory. */
const PIECE_BYTES_MAX = 65_536;

/**
 * Reads a list object by object, as it arrives: parsing thousands of Nodes as one text needs many times the memory of
 * the kept objects. Trims its objects. Damaged objects stay complete, so that the check for damage sees them. Any other
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
  const options = { bytesMax: Infinity, pieceBytesMax: PIECE_BYTES_MAX };
  for await (const text of readPieces(reply, options)) list.add(text);
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

/** Longest line; the API server keeps objects below 2 MiB. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;
const NEWLINE = 10;
/** Blank, tabulator, carriage return. */
const BLANKS: ReadonlySet<number> = new Set([32, 9, 13]);

/**
 * Yields the events of a watch until the server ends it. Ending the iteration closes the connection.
 *
 * @param unread Names of lists to leave empty
 * @throws {BodyError} when a line is not an event, or the stream ends within one; it does not show the line, which may
 * contain anything
 * @throws the error of a broken connection
 */
export async function* readWatchEvents(
  reply: Pick<Response, "body">,
  unread?: readonly string[],
): AsyncGenerator<WatchEvent, void> {
  // The pieces of an incomplete line. Searching it again with each chunk would take quadratic time.
  let pieces: Uint8Array[] = [];
  let length = 0;
  // One loop: a generator for the lines would cost a microsecond for each event.
  for await (const chunk of readChunks(reply, { bytesMax: Infinity })) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const last = chunk.subarray(start, end);
      const line = pieces.length === 0 ? last : Buffer.concat([...pieces, last]);
      if (!isBlank(line)) yield parseEvent(line, unread);
      pieces = [];
      length = 0;
      start = end + 1;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > LINE_BYTES_MAX) throw new BodyError("a line is longer than 16 MiB");
  }
  if (!pieces.every(isBlank)) throw new BodyError("the stream ended within an event");
}

function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => BLANKS.has(byte));
}

function parseEvent(line: Uint8Array, unread?: readonly string[]): WatchEvent {
  let value: unknown;
  try {
    value = parseBytes(line, unread);
  } catch (cause) {
    throw cause instanceof BodyError ? cause : new BodyError("a line is not JSON", { cause });
  }
  const { type, object } = isFields(value) ? value : {};
  if (typeof type === "string" && object !== undefined) return { type, object };
  throw new BodyError("a line is not a watch event");
}
