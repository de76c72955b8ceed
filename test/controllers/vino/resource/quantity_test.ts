import { expect, test } from "bun:test";
import { toBytes } from "../../../../lib/controllers/vino/resource/quantity.ts";

test.each([
  ["0", 0],
  ["8589934592", 8_589_934_592],
  ["1k", 1000],
  ["500G", 500_000_000_000],
  ["8Gi", 8 * 2 ** 30],
  ["1.5Ti", 1.5 * 2 ** 40],
  ["0.5", 1],
  ["0.0001Ki", 1],
  ["2Pi", 2 * 2 ** 50],
])("toBytes() reads %s", (size, bytes) => {
  expect(toBytes(size)).toBe(bytes);
});

test.each(["", "Gi", "8 Gi", "8GiB", "8g", "8K", "-1", "+1", "1e3", ".5", "1.", "999999P", "８"])(
  "toBytes() refuses %s",
  (size) => {
    expect(toBytes(size)).toBeUndefined();
  },
);
