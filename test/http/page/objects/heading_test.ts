import { expect, test } from "bun:test";
import { toHeading } from "../../../../lib/http/page/objects/heading.ts";

test.each([
  [0, 0, "No Vinos yet"],
  [1, 0, "The only Vino is well"],
  [1_200, 0, "All 1,200 Vinos are well"],
  [2, 1, "1 of 2 Vinos needs attention"],
  [2, 2, "2 of 2 Vinos need attention"],
])("toHeading() of %d objects with %d in trouble is %p", (total, troubled, expected) => {
  expect(toHeading("Vino", { total, troubled })).toBe(expected);
});

test.each([
  [3, 0, 1, "1 of 3 Vinos is not ready yet"],
  [3, 0, 2, "2 of 3 Vinos are not ready yet"],
  [3, 1, 2, "1 of 3 Vinos needs attention"],
])(
  "toHeading() of %d objects, %d in trouble, %d not ready",
  (total, troubled, unready, expected) => {
    expect(toHeading("Vino", { total, troubled, unready })).toBe(expected);
  },
);
