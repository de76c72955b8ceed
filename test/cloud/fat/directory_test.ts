import { expect, test } from "bun:test";
import {
  countEntries,
  ENTRY_BYTES,
  formatDirectory,
  formatLabel,
  toAscii,
} from "../../../lib/cloud/fat/directory.ts";

const NAMES = ["a", "thirteen-char", "fourteen-chars", "x".repeat(200)];
for (const [at, count] of [2, 2, 3, 17].entries()) {
  const name = NAMES[at] ?? "";
  test(`formatDirectory() takes ${count} entries for ${name.length} characters`, () => {
    const entry = { name, isDirectory: false, firstCluster: 2, size: 1 };
    expect(countEntries(name)).toBe(count);
    expect(formatDirectory([entry])).toHaveLength(count * ENTRY_BYTES);
  });
}

test("formatDirectory() begins with the folder itself and the one that holds it", () => {
  const bytes = Buffer.from(formatDirectory([], { own: 7, parent: 0 }));
  expect(bytes.toString("latin1", 0, 11)).toBe(".          ");
  expect(bytes.toString("latin1", 32, 43)).toBe("..         ");
  expect([bytes.readUInt16LE(26), bytes.readUInt16LE(32 + 26)]).toEqual([7, 0]);
});

test("formatLabel() keeps lower case", () => {
  const label = formatLabel("cidata");
  expect(label.subarray(0, 12)).toEqual(Uint8Array.from([...toAscii("cidata     "), 0x08]));
});
