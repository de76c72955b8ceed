import { expect, test } from "bun:test";
import { isIn } from "../../../../../lib/controllers/vino/addresses/pools/reshape.ts";

test("isIn() counts both ends", () => {
  const spans = [{ first: 5n, last: 9n }];
  expect([4n, 5n, 9n, 10n].map((address) => isIn(address, spans))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});
