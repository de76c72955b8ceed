import { expect, test } from "bun:test";
import fc from "fast-check";
import { toBytes } from "../../../lib/controllers/vino/resource/quantity.ts";
import { formatAbout, formatSize } from "../../../lib/core/text/size.ts";

test.each([
  [8 * 1024 ** 3, "8Gi"],
  [1536 * 1024 ** 2, "1536Mi"],
  [2 * 1024 ** 4, "2Ti"],
  [10_000_000_000, "10G"],
  [1_500_000, "1500k"],
  [8_589_934_593, "8589934593 bytes"],
  [7, "7 bytes"],
  [0, "0 bytes"],
])("formatSize() writes %i as %s", (bytes, text) => {
  expect(formatSize(bytes)).toBe(text);
});

test("formatSize() loses nothing: what it writes means the same size in a spec", () => {
  const sizes = fc.oneof(
    fc.nat(),
    fc.nat(4096).map((count) => count * 1024 ** 3),
    fc.nat(99_999).map((count) => count * 1000 ** 2),
  );
  fc.assert(
    fc.property(sizes, (bytes) => {
      expect(toBytes(formatSize(bytes).replace(" bytes", ""))).toBe(bytes);
    }),
  );
});

test.each([
  [8.39 * 1024 ** 3, "8.3Gi"],
  [20 * 1024 ** 3, "20Gi"],
  [1023, "1023 bytes"],
  [0, "0 bytes"],
])("formatAbout() writes %d as %s", (bytes, text) => {
  expect(formatAbout(bytes)).toBe(text);
});
