import { expect, test } from "bun:test";
import {
  AGE_COLUMN,
  listConditionWords,
  toCrd,
  toReadyColumns,
} from "../../../lib/controllers/kinds/crd.ts";
import {
  anyFields,
  list,
  object,
  oneOf,
  optional,
  required,
  text,
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
