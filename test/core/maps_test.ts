import { expect, test } from "bun:test";
import { remember } from "../../lib/core/maps.ts";

test("remember() drops the entry that was set the longest ago, once there is one too many", () => {
  const map = new Map<string, number>();
  for (const key of ["a", "b", "a", "c"]) remember(map, key, map.size, 2);
  expect([...map.keys()]).toEqual(["a", "c"]);
});
