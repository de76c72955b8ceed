/**
 * CustomResourceDefinitions that are made of parts.
 * @module
 */
import * as v from "valibot";
import { describe, expect, test } from "bun:test";
import {
  AGE_COLUMN,
  listConditionWords,
  toCrd,
  toReadyColumns,
} from "../../../lib/controllers/kinds/crd.ts";
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
import { no, yes } from "../../../lib/controllers/kinds/words.ts";

interface Spec {
  readonly names: readonly string[];
  readonly kind?: "a" | "b";
}

const outline = {
  resource: { apiVersion: "example.org/v1", kind: "Thing", plural: "things", namespaced: true },
  shortNames: ["th"],
  columns: [AGE_COLUMN],
  description: "A thing.",
  spec: {
    schema: withRules(
      object<Spec>({
        names: required(list(text(8), 2), "Names."),
        kind: optional(oneOf(["a", "b"]), "Kind.", "a"),
      }),
      [{ cel: "size(self.names) > 0", message: "needs names", holds: () => true }],
    ),
    description: "What it wants.",
  },
} as const;

test("toCrd() writes types, limits, rules and defaults", () => {
  const { spec, metadata } = toCrd(outline);
  expect(metadata).toEqual({ name: "things.example.org" });
  expect(spec).toMatchObject({
    group: "example.org",
    names: { kind: "Thing", listKind: "ThingList", plural: "things", singular: "thing" },
  });
  const [version] = spec.versions;
  expect(version).toMatchObject({ name: "v1", subresources: {} });
  const schema: unknown = version.schema.openAPIV3Schema;
  expect(schema).toEqual({
    type: "object",
    description: "A thing.",
    required: ["spec"],
    properties: {
      spec: {
        type: "object",
        description: "What it wants.",
        required: ["names"],
        properties: {
          names: {
            type: "array",
            description: "Names.",
            maxItems: 2,
            items: { type: "string", maxLength: 8 },
          },
          kind: { type: "string", description: "Kind.", enum: ["a", "b"], default: "a" },
        },
        "x-kubernetes-validations": [{ rule: "size(self.names) > 0", message: "needs names" }],
      },
    },
  });
});

test("toCrd() gives a kind with a status a subresource for it", () => {
  const schema = object<{ text?: string }>({ text: optional(text(8), "A text.") });
  const [version] = toCrd({ ...outline, status: { schema, description: "What it has." } }).spec
    .versions;
  expect(version.subresources).toEqual({ status: {} });
  expect(version.schema.openAPIV3Schema.properties?.["status"]).toMatchObject({
    description: "What it has.",
    properties: { text: { type: "string" } },
  });
});

test("toCrd() keeps fields with any values as they are", () => {
  const schema = object<{ any?: Readonly<Record<string, unknown>> }>({
    any: optional(anyFields(2), "Anything."),
  });
  const { spec } = toCrd({ ...outline, spec: { schema, description: "What it wants." } });
  const found: unknown = spec.versions[0].schema.openAPIV3Schema.properties?.["spec"];
  expect(found).toEqual({
    type: "object",
    description: "What it wants.",
    properties: {
      any: {
        type: "object",
        description: "Anything.",
        maxProperties: 2,
        "x-kubernetes-preserve-unknown-fields": true,
      },
    },
  });
});

test("listConditionWords() lists each reason with its condition, in order", () => {
  const words = {
    Ready: { done: yes("A", "a."), late: no("B", "b.") },
    Other: { c: no("C", "c.") },
  };
  expect(listConditionWords(words)).toEqual([
    { type: "Ready", status: "True", reason: "A", meaning: "a." },
    { type: "Ready", status: "False", reason: "B", meaning: "b." },
    { type: "Other", status: "False", reason: "C", meaning: "c." },
  ]);
});

test("toReadyColumns() shows the condition Ready, and why", () => {
  expect(toReadyColumns("Whether it rings.").map(({ jsonPath }) => jsonPath)).toEqual([
    '.status.conditions[?(@.type=="Ready")].status',
    '.status.conditions[?(@.type=="Ready")].reason',
  ]);
});

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
