/**
 * Fields as servers of different versions write them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { array, assert, constantFrom, integer, ipV4, property, tuple } from "fast-check";
import { object } from "valibot";
import { decode } from "../../../../lib/cloud_http/decode.ts";
import {
  CIDRS,
  type Field,
  FLAG,
  ID,
  NAME,
  PORT,
  REFERENCE,
  TEXT,
  WHOLE_NUMBER,
} from "../../../../lib/providers/cloudstack/wire/fields.ts";

const UUID = "aaaaaaaa-1111-4111-8111-aaaaaaaaaaaa";

/** Reads a field of an object. */
function read<T>(field: Field<T>, body: object): unknown {
  const decoded = decode(object({ one: field }), body);
  return "value" in decoded ? decoded.value.one : "unreadable";
}

describe("a field", () => {
  test.each<[string, Field<unknown>, unknown, unknown]>([
    ["ID", ID, UUID.toUpperCase(), UUID],
    ["ID", ID, "17", "unreadable"],
    ["REFERENCE", REFERENCE, UUID.toUpperCase(), UUID],
    ["REFERENCE", REFERENCE, "", undefined],
    ["REFERENCE", REFERENCE, null, undefined],
    ["REFERENCE", REFERENCE, 7, "unreadable"],
    ["NAME", NAME, null, ""],
    ["NAME", NAME, "Name", "Name"],
    ["TEXT", TEXT, null, null],
    ["FLAG", FLAG, "true", true],
    ["FLAG", FLAG, "yes", "unreadable"],
    ["WHOLE_NUMBER", WHOLE_NUMBER, "12", 12],
    ["WHOLE_NUMBER", WHOLE_NUMBER, 1.5, "unreadable"],
    ["PORT", PORT, "80", 80],
    ["PORT", PORT, 65_535, 65_535],
    ["PORT", PORT, 65_536, "unreadable"],
    ["PORT", PORT, -1, "unreadable"],
    ["PORT", PORT, "http", "unreadable"],
    ["CIDRS", CIDRS, "", []],
    ["CIDRS", CIDRS, null, []],
    ["CIDRS", CIDRS, "10.1.2.3", ["10.1.2.3/32"]],
    ["CIDRS", CIDRS, "10.0.0.0/8,x", undefined],
    ["CIDRS", CIDRS, ["10.0.0.0/8"], "unreadable"],
  ])("%s: %#", (_name, field, value, expected) => {
    expect(read(field, { one: value })).toEqual(expected);
  });

  test("that is missing is empty, or unreadable if it must be there", () => {
    const fields = [NAME, REFERENCE, TEXT, CIDRS, ID, PORT, FLAG];
    const found = fields.map((field: Field<unknown>) => read(field, {}));
    const empty = ["", undefined, undefined, []];
    expect(found).toEqual([...empty, ...Array<string>(3).fill("unreadable")]);
  });
});

test("CIDRS are the same in any order, with any separators, with host bits or without, once or twice", () => {
  const block = tuple(ipV4(), integer({ min: 0, max: 32 })).map(
    ([ip, prefix]) => `${ip}/${prefix}`,
  );
  const separator = constantFrom(" ", ",", ", ", " , ");
  assert(
    property(array(block, { minLength: 1, maxLength: 5 }), separator, (blocks, between) => {
      const canonical = read(CIDRS, { one: blocks.join(",") });
      const turned = [...blocks.toReversed(), ...blocks].join(between);
      expect(read(CIDRS, { one: turned })).toEqual(canonical);
      const again = Array.isArray(canonical) ? canonical.join(between) : "";
      expect(read(CIDRS, { one: again })).toEqual(canonical);
    }),
  );
});
