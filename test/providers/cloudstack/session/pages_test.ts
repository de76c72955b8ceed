/**
 * Lists of several pages: whether they are whole.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../../lib/providers/cloudstack/session/errors.ts";
import {
  type Page,
  type PagedList,
  PageReader,
} from "../../../../lib/providers/cloudstack/session/pages.ts";

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}

interface NumberPage extends Page {
  readonly objects: readonly number[];
}

function toPage(objects: readonly number[], count?: number): Promise<NumberPage> {
  return Promise.resolve({
    objects,
    length: objects.length,
    ...(count !== undefined && { count }),
  });
}

function listObjects({ pages }: PagedList<NumberPage>): number[] {
  return pages.flatMap(({ objects }) => objects);
}

/** A server with so many objects. */
function createList(total: number, asked: string[] = []) {
  return (page: number, size: number): Promise<NumberPage> => {
    asked.push(`${page}/${size}`);
    const from = Math.min((page - 1) * size, total);
    return toPage(range(from, Math.min(from + size, total)), total);
  };
}

function refuseSize(): Promise<never> {
  const text = "Page size can not exceed max allowed page size value: 100";
  return Promise.reject(new ApiError({ code: 431, text }, { command: "listX", secrets: [] }));
}

describe("PageReader", () => {
  test.each([
    [0, ["1/500"]],
    [1, ["1/500"]],
    [499, ["1/500"]],
    [500, ["1/500"]],
    [501, ["1/500", "2/500"]],
    [1_000, ["1/500", "2/500"]],
    [1_001, ["1/500", "2/500", "3/500"]],
  ])("reads %i objects by the fewest pages", async (total, pages) => {
    const asked: string[] = [];
    const list = await new PageReader().readAll(createList(total, asked));
    expect([listObjects(list), list.gap]).toEqual([range(0, total), undefined]);
    expect(asked).toEqual(pages);
  });

  test("a list without a count is whole when its last page is not full", async () => {
    const pages = [range(0, 500), range(500, 700)];
    const list = await new PageReader().readAll((page) => toPage(pages[page - 1] ?? []));
    expect([listObjects(list), list.gap]).toEqual([range(0, 700), undefined]);
  });

  test("a list that never ends is cut", async () => {
    let asked = 0;
    const list = await new PageReader().readAll(() => {
      asked += 1;
      return toPage([1, 2, 3, ...range(3, 500)], 10 ** 9);
    });
    expect([asked, list.gap]).toEqual([200, "the list has more than 200 pages"]);
  });

  test("a size that the server refuses shrinks, and the server is not asked for it again", async () => {
    const asked: string[] = [];
    const reader = new PageReader();
    const readPage = (page: number, size: number): Promise<NumberPage> => {
      if (size <= 100) return createList(150, asked)(page, size);
      asked.push(`${page}/${size}`);
      return refuseSize();
    };
    expect(listObjects(await reader.readAll(readPage))).toHaveLength(150);
    expect(asked).toEqual(["1/500", "1/200", "1/100", "2/100"]);
    await reader.readAll(readPage);
    expect(asked.slice(4)).toEqual(["1/100", "2/100"]);
  });

  test("a server that refuses every size, or refuses for another reason, is believed", async () => {
    await expect(new PageReader().readAll(refuseSize)).rejects.toThrow("Page size");
    let asked = 0;
    const other = new ApiError({ code: 431, text: "zoneid" }, { command: "x", secrets: [] });
    const refuse = (): Promise<never> => {
      asked += 1;
      return Promise.reject(other);
    };
    await expect(new PageReader().readAll(refuse)).rejects.toBe(other);
    expect(asked).toBe(1);
  });
});
