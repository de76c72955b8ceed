/**
 * Reads a list page by page, and says whether it is whole.
 * @module
 */
import { ApiError } from "./errors.ts";

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
