import { expect, test } from "bun:test";
import { toShortName } from "../../../lib/cloud/fat/names.ts";

const SHORT_NAMES: readonly [name: string, short: string, ...taken: string[]][] = [
  ["README.TXT", "README  TXT"],
  ["latest", "LATEST     "],
  ["user-data", "USER-D~1   "],
  ["user-data", "USER-D~2   ", "USER-D~1   "],
  ["network_data.json", "NETWOR~1JSO"],
  ["a.b.c", "AB~1    C  "],
  ["a b", "AB~1       "],
  ["latest", "LATEST~1   ", "LATEST     "],
  ["++", "~1         "],
];
for (const [name, short, ...taken] of SHORT_NAMES) {
  test(`toShortName() makes "${short}" of "${name}" beside ${taken.length} others`, () => {
    expect(toShortName(name, new Set(taken))).toBe(short);
  });
}

test("toShortName() makes room for numbers of several digits", () => {
  const taken = new Set(Array.from({ length: 9 }, (_, at) => `USER-D~${at + 1}   `));
  expect(toShortName("user-data", taken)).toBe("USER-~10   ");
});
