import { expect, test } from "bun:test";
import { inPieces } from "../../lib/http/pieces.ts";

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
