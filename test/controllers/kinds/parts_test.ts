import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import {
  anyFields,
  form,
  labelKey,
  labelKeyOrEmpty,
  labels,
  labelValue,
  list,
  listBy,
  mapOf,
  object,
  objectName,
  oneOf,
  optional,
  required,
  text,
  textSet,
  trueOrFalse,
  wholeNumber,
  withRules,
} from "../../../lib/controllers/kinds/parts.ts";

const PREFIX_OF_253 = `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(61)}`;

const CASES: readonly {
  readonly title: string;
  readonly schema: v.GenericSchema;
  readonly right: readonly unknown[];
  readonly wrong: readonly unknown[];
}[] = [
  {
    title: "wholeNumber()",
    schema: wholeNumber(1, 3),
    right: [1, 3],
    wrong: [0, 4, 1.5, "1", null, Number.NaN],
  },
  { title: "trueOrFalse()", schema: trueOrFalse(), right: [true, false], wrong: ["true", 1] },
  { title: "text()", schema: text(2), right: ["", "ab"], wrong: ["abc", 1] },
  { title: "form()", schema: form(/^a*$/, 2, "a"), right: ["", "aa"], wrong: ["aaa", "b"] },
  { title: "oneOf()", schema: oneOf(["a", "b"]), right: ["a"], wrong: ["c", 1, ""] },
  {
    title: "list()",
    schema: list(text(1), 2),
    right: [[], ["a", "b"]],
    wrong: [["a", "a", "a"], "a", [1]],
  },
  { title: "textSet()", schema: textSet(text(1), 2), right: [["a", "b"]], wrong: [["a", "a"]] },
  {
    title: "listBy()",
    schema: listBy("a", object<{ a: string }>({ a: required(text(1), "A.") }), 2),
    right: [[], [{ a: "a" }, { a: "b" }]],
    wrong: [[{ a: "a" }, { a: "a" }], [{}], [{ a: "a" }, { a: "b" }, { a: "c" }]],
  },
  {
    title: "anyFields()",
    schema: anyFields(1),
    right: [{}, { a: [{ b: 1 }] }],
    wrong: [{ a: 1, b: 2 }, "a", null],
  },
  {
    title: "mapOf()",
    schema: mapOf(text(1), 1),
    right: [{}, { a: "b" }],
    wrong: [{ a: "b", c: "d" }, { a: 1 }, "a"],
  },
  {
    title: "labelKey()",
    schema: labelKey(),
    right: ["a", "A_b.c-D", "a.b/c", `${PREFIX_OF_253}/${"n".repeat(63)}`],
    wrong: ["", "-a", "a-", "/a", "a/", "A.b/c", "a/b/c", "n".repeat(64), "a b", "a\n"],
  },
  {
    title: "labelKeyOrEmpty()",
    schema: labelKeyOrEmpty(),
    right: ["", "a.b/c"],
    wrong: ["-", "/"],
  },
  {
    title: "labelValue()",
    schema: labelValue(),
    right: ["", "a", "A_b.c-D", "v".repeat(63)],
    wrong: ["-a", "a/b", "v".repeat(64)],
  },
  {
    title: "labels()",
    schema: labels(),
    right: [{ "a.b/c": "d" }],
    wrong: [{ "a/b/c": "d" }, { a: "/" }],
  },
  {
    title: "objectName()",
    schema: objectName(),
    right: ["a", "a-1.b"],
    wrong: ["", "A", "a_b", "a.", "a".repeat(254)],
  },
  {
    title: "object()",
    schema: object<{ a: string; b?: string }>({
      a: required(text(1), "A."),
      b: optional(text(1), "B."),
    }),
    right: [{ a: "a" }, { a: "a", b: "b" }],
    wrong: [{}, { a: "a", b: null }, "a", null],
  },
  {
    title: "withRules()",
    schema: withRules(text(1), [
      { cel: "self != 'a'", message: "must not be a", holds: (one) => one !== "a" },
    ]),
    right: ["b"],
    wrong: ["a", "bb"],
  },
];

describe("parts of the schemas", () => {
  for (const { title, schema, right, wrong } of CASES) {
    test(`${title} accepts and refuses values`, () => {
      const accepts = (value: unknown): boolean => v.safeParse(schema, value).success;
      expect(right.filter((value) => !accepts(value))).toEqual([]);
      expect(wrong.filter(accepts)).toEqual([]);
    });
  }

  test("optional() leaves an absent field absent: the API server sets the default", () => {
    const schema = object<{ a?: number }>({ a: optional(wholeNumber(0, 1), "A.", 0) });
    expect(v.parse(schema, {})).toEqual({});
  });
});
