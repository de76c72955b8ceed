import { expect, test } from "bun:test";
import * as v from "valibot";
import {
  idOrName,
  ipAddress,
  macAddress,
  namePart,
  size,
  subnet,
} from "../../../../../lib/controllers/vino/resource/schema/fields.ts";

const CASES: readonly [
  title: string,
  schema: v.GenericSchema,
  right: readonly unknown[],
  wrong: readonly unknown[],
][] = [
  ["ipAddress()", ipAddress(), ["192.0.2.1", "2001:db8::1"], ["", "192.0.2.01", "192.0.2.0/24", 1]],
  [
    "subnet()",
    subnet(),
    ["192.0.2.0/24", "192.0.2.77/24", "2001:db8::/64", "::/0", "192.0.2.1/32"],
    ["192.0.2.0", "192.0.2.0/", "192.0.2.0/33", "2001:db8::/129", "x/24"],
  ],
  [
    "macAddress()",
    macAddress(),
    ["02:00:00:00:00:01", "52:54:00:AB:cd:eF"],
    [
      "a:b",
      "02:00:00:00:00",
      "03:00:00:00:00:01",
      "020000000001",
      "02:00:00:00:00:0g",
      "02:00:00:00:00:01:00",
    ],
  ],
  ["namePart()", namePart(3), ["a", "a-1"], ["", "-a", "a-", "A", "a.b", "abcd"]],
  ["idOrName()", idOrName(), ["a b", "0"], ["", " ", "a".repeat(257)]],
  ["size()", size("1Ki", "1Mi"), ["1Ki", "1024", "1Mi"], ["1023", "1.1Mi", "1 Ki", 1024]],
];

test.each(CASES)("%s accepts and refuses values", (_title, schema, right, wrong) => {
  expect(right.filter((value) => !v.is(schema, value))).toEqual([]);
  expect(wrong.filter((value) => v.is(schema, value))).toEqual([]);
});
