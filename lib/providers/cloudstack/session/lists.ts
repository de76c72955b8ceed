/**
 * Reads a whole list page by page. Recognises a list that is the same as before by its text, because CloudStack has no
 * ETag.
 * @module
 */
import { createHash } from "node:crypto";
import type { GenericSchema } from "valibot";
import { CloudError } from "../../../cloud/errors.ts";
import { decodeList, type ListReply } from "../../../cloud_http/decode.ts";
import { BUDGET } from "../../../core/budget.ts";
import { BodyError } from "../../../core/http/request.ts";
import { formatSize } from "../../../core/text/values.ts";
import { type Body, listUnreadable, parseBody } from "./reply.ts";
import type { Command } from "./request.ts";
import { ApiError } from "./errors.ts";

/** A question for objects of one kind, or a change that gives one. */
export interface Query<T> extends Command {
  /** The key of the objects in the answer: `virtualmachine`. */
  readonly key: string;
  /** Reads one object. */
  readonly schema: GenericSchema<unknown, T>;
}

/** A list, each object read by itself. */
export interface ObjectList<T> extends ListReply<T> {
  /** Why it may lack objects; absent when it is whole. No secret, no full stop. */
  readonly gap?: string;
  /** The objects that could not be read, as the server sent them; absent when there is none. */
  readonly unreadable?: readonly Body[];
}

/** What identifies a whole list: all that is kept of each page. */
export type ListVersion = readonly PageVersion[];

interface PageVersion {
  /** Of the text. */
  readonly digest: string;
  /** Number of its objects. */
  readonly length: number;
  /** How many objects the whole list has, if the server says so. */
  readonly count?: number;
}

/** A list, and how to recognise it. */
export interface VersionedList<T> {
  readonly list: ObjectList<T>;
  /** Absent if the list may lack objects. */
  readonly version?: ListVersion;
}

interface ListedPage extends PageVersion {
  readonly read: () => readonly unknown[];
}

/** How to read a list. */
interface ListOptions {
  readonly pages: PageReader;
  /**
   * Sends the command for one page.
   *
   * @param isKnown As in `CloudRequest`
   * @returns `undefined` for an answer that is known
   */
  readonly ask: (
    page: Readonly<Record<"page" | "pagesize", string>>,
    isKnown: (text: string) => boolean,
  ) => Promise<Body | undefined>;
  /** The version that the caller has. It identifies the content, for every user. */
  readonly known: ListVersion | undefined;
}

/**
 * Reads all pages of a list.
 *
 * @returns `unchanged` if every page has the same text as in the known version
 * @throws {CloudError} when a page has no usable answer
 */
export async function readList<T extends { readonly id: string }>(
  query: Query<T>,
  { pages: reader, ask, known }: ListOptions,
): Promise<VersionedList<T> | "unchanged"> {
  let length = 0;
  const { pages, gap } = await reader.readAll((page, size) => {
    const place = { page: String(page), pagesize: String(size) };
    const askCounted = (isKnown: (text: string) => boolean): Promise<Body | undefined> =>
      ask(place, (text) => {
        length += text.length;
        if (length <= BUDGET.replies) return isKnown(text);
        throw new BodyError(`the pages of the list are longer than ${formatSize(BUDGET.replies)}`);
      });
    return readPage(query, askCounted, known?.[page - 1]);
  });
  if (gap === undefined && isSame(pages, known)) return "unchanged";
  const objects = pages.flatMap(({ read }) => read());
  const decoded = decodeList(query.schema, objects);
  const unreadable = listUnreadable(objects, decoded.objects);
  const list = {
    ...decoded,
    ...(gap !== undefined && { gap: `${query.command}: ${gap}` }),
    ...(unreadable.length > 0 && { unreadable }),
  };
  return gap === undefined ? { list, version: pages.map(toVersion) } : { list };
}

/** A page that is known is parsed only if another page of its list turns out to be different. */
async function readPage(
  { key, command }: Query<unknown>,
  ask: (isKnown: (text: string) => boolean) => Promise<Body | undefined>,
  known: PageVersion | undefined,
): Promise<ListedPage> {
  let digest = "";
  let text = "";
  const body = await ask((answer) => {
    digest = createHash("sha256").update(answer).digest("base64");
    if (digest !== known?.digest) return false;
    text = answer;
    return true;
  });
  if (body === undefined && known !== undefined) {
    return { ...known, read: () => toObjects(parseBody(text), key, command) };
  }
  const objects = toObjects(body ?? {}, key, command);
  const count = toCount(body ?? {}, objects.length);
  const { length } = objects;
  return { digest, length, ...(count !== undefined && { count }), read: () => objects };
}

function isSame(pages: readonly ListedPage[], known: ListVersion | undefined): boolean {
  return (
    pages.length === known?.length && pages.every(({ digest }, at) => digest === known[at]?.digest)
  );
}

function toVersion({ digest, length, count }: ListedPage): PageVersion {
  return { digest, length, ...(count !== undefined && { count }) };
}

/** An empty list is an answer with nothing in it, or with a count alone. Anything else is no list. */
function toObjects(body: Body, key: string, command: string): readonly unknown[] {
  const objects = body[key];
  if (Array.isArray(objects)) return objects;
  const isEmpty = Object.keys(body).every((one) => one === "count");
  if (isEmpty) return [];
  throw new CloudError("protocol", `CloudStack did not answer ${command} with a list`);
}

function toCount({ count }: Body, length: number): number | undefined {
  if (count === undefined) return length === 0 ? 0 : undefined;
  const number = Number(count);
  return Number.isInteger(number) ? number : undefined;
}

/** One page of a list. */
export interface Page {
  /** Number of its objects. */
  readonly length: number;
  /** How many objects the whole list has, if the server says so. */
  readonly count?: number;
}

/** A list of which the pages were read one after another. */
export interface PagedList<P extends Page> {
  readonly pages: readonly P[];
  /** Why it may lack objects; absent when it is whole. Without full stop. */
  readonly gap?: string;
}

/** Sizes of a page, best first: the server may be set to allow fewer than its own default. */
const SIZES = [500, 200, 100, 50, 20] as const;
/** 100,000 objects with the largest size. */
const PAGES_MAX = 200;
/** The server's words about a size that it does not allow. */
const ABOUT_SIZE = /page ?size/i;

/** Reads lists. Remembers which size of a page the server allows. */
export class PageReader {
  #sizes: readonly [number, ...number[]] = SIZES;

  /**
   * Reads all pages of one list. An object may be skipped if the list changes between two pages: such a list is not
   * whole if its count changed, or if the pages do not have as many objects as they should.
   *
   * @param readPage Reads one page, from 1
   * @throws any error of `readPage`, except a refusal of the size while there is a smaller one
   */
  async readAll<P extends Page>(
    readPage: (page: number, size: number) => Promise<P>,
  ): Promise<PagedList<P>> {
    for (;;) {
      const [size, ...smaller] = this.#sizes;
      try {
        return await readPages((page) => readPage(page, size), size);
      } catch (error) {
        const [next, ...rest] = smaller;
        if (next === undefined || !isAboutSize(error)) throw error;
        this.#sizes = [next, ...rest];
      }
    }
  }
}

async function readPages<P extends Page>(
  readPage: (page: number) => Promise<P>,
  size: number,
): Promise<PagedList<P>> {
  const pages: P[] = [];
  let total = 0;
  let first: number | undefined;
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const read = await readPage(page);
    const { length, count } = read;
    pages.push(read);
    total += length;
    if (page === 1) first = count;
    if (count !== first) {
      return { pages, gap: "the list changed while it was read" };
    }
    const isLast = length < size || total === count;
    if (!isLast) continue;
    if (count === undefined || total === count) return { pages };
    return {
      pages,
      gap: `the list has ${total} objects, and the server counts ${count}`,
    };
  }
  return { pages, gap: `the list has more than ${PAGES_MAX} pages` };
}

function isAboutSize(error: unknown): boolean {
  return error instanceof ApiError && error.code === 431 && ABOUT_SIZE.test(error.message);
}
