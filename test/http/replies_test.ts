import { expect, test } from "bun:test";
import { Hono } from "hono";
import { inPieces, showEither, wantsHtml } from "../../lib/http/replies.ts";

const CHROME =
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

test.each([
  [CHROME, true],
  ["text/html", true],
  ["Text/HTML ; q=0.5", true],
  ["application/json;q=0.5, text/html", true],
  ["application/json, text/html;q=0.9", false],
  ["text/plain, text/html;q=0.9", false],
  ["text/html;q=0, */*", false],
  ["text/html;q=soon", false],
  ["*/*", false],
  ["text/*", false],
  ["application/json", false],
  ["", false],
  [undefined, false],
])("wantsHtml() takes %p as %p", (accept, expected) => {
  expect(wantsHtml(accept)).toBe(expected);
});

const ROUTES = new Hono().get("/", (context) =>
  showEither(context, {
    toPage: async () => context.text("page"),
    toData: () => new Response("data"),
  }),
);

test.each([
  ["/", "text/html", "page"],
  ["/?format=json", "text/html", "data"],
  ["/", "application/json", "data"],
])("showEither() of %s with %s gives the %s", async (path, accept, expected) => {
  const response = await ROUTES.request(path, { headers: { accept } });
  expect(await response.text()).toBe(expected);
});

test("showEither() tells caches that the answer depends on the header", async () => {
  const response = await ROUTES.request("/", { headers: { accept: "application/json" } });
  expect(response.headers.get("vary")).toBe("Accept");
});

async function collect<T>(pieces: AsyncIterable<readonly T[]>): Promise<T[][]> {
  const all: T[][] = [];
  for await (const piece of pieces) all.push([...piece]);
  return all;
}

test.each([0, 1, 49, 50, 51, 1_000])(
  "inPieces() gives all of %p items, in order",
  async (count) => {
    const items = Array.from({ length: count }, (_, at) => at);
    const pieces = await collect(inPieces(items));
    expect(pieces.flat()).toEqual(items);
    expect(pieces.every(({ length }) => length > 0 && length <= 50)).toBe(true);
  },
);

test("inPieces() lets others have their turn between two pieces", async () => {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  await collect(inPieces(Array.from({ length: 1_000 })));
  clearImmediate(timer);
  expect(turns).toBeGreaterThanOrEqual(18);
});
