import * as v from "valibot";
import { describe, expect, test } from "bun:test";
import {
  type ConditionContext,
  findCondition,
  type Finding,
  toConditions,
  toFinding,
} from "../../../lib/controllers/kinds/conditions.ts";
import { no, yes } from "../../../lib/controllers/kinds/words.ts";
import {
  checkBySchema,
  checkNamed,
  conditions,
  list,
  mapOf,
  object,
  optional,
  required,
  STATUS_NUMBER,
  STATUS_TEXT,
  wholeNumber,
} from "../../../lib/controllers/kinds/parts.ts";
import { describeProblems, joinSome, nameSome } from "../../../lib/controllers/kinds/problems.ts";
import { toCrd } from "../../../lib/controllers/kinds/crd.ts";
import { findFixed, isAsWanted, pickWanted } from "../../../lib/controllers/kinds/compare.ts";
import type { KubeObject } from "../../../lib/kube/kinds/resource.ts";

const NOW = "2026-01-01T12:00:00Z";
const THEN = "2025-01-01T00:00:00Z";

describe("toConditions()", () => {
  const ready: Finding<string> = { type: "Ready", status: "True", reason: "A", message: "a" };
  const before = { ...ready, lastTransitionTime: THEN, observedGeneration: 1 };
  const context: ConditionContext = {
    nowMs: Date.UTC(2026, 0, 1, 12, 0, 0, 123),
    order: ["Ready", "Blocked"],
  };

  test("keeps the time while the status stays, and follows reason, message and generation", () => {
    const next = { ...ready, reason: "B", message: "b" };
    expect(toConditions([next], [before], { ...context, generation: 2 })).toEqual([
      { ...next, lastTransitionTime: THEN, observedGeneration: 2 },
    ]);
  });

  test("notes the time of a new status, without fractions of a second", () => {
    const next: Finding<string> = { ...ready, status: "False" };
    expect(toConditions([next], [before], context)).toEqual([{ ...next, lastTransitionTime: NOW }]);
  });

  test("keeps conditions without a finding, in the order of the kind, foreign ones last", () => {
    const foreign = { ...before, type: "Other" };
    const blocked = { ...before, type: "Blocked" };
    const found = toConditions([ready], [foreign, blocked], context);
    expect(found.map(({ type, lastTransitionTime }) => `${type} ${lastTransitionTime}`)).toEqual([
      `Ready ${NOW}`,
      `Blocked ${THEN}`,
      `Other ${THEN}`,
    ]);
  });
});

test("toFinding() leaves out the meaning, which is for the reference page", () => {
  expect(toFinding("Ready", yes("A", "It is."), "a")).toEqual({
    type: "Ready",
    status: "True",
    reason: "A",
    message: "a",
  });
  expect(toFinding("Ready", no("B", "It is not."), "b\u202e\u2028")).toMatchObject({
    status: "False",
    message: "b\\u202e\\u2028",
  });
});

test("findCondition() finds a condition by its type", () => {
  const ready = { ...toFinding("Ready", yes("A", "It is."), "a"), lastTransitionTime: THEN };
  expect(findCondition({ conditions: [ready] }, "Ready")).toBe(ready);
  expect(findCondition({ conditions: [ready] }, "Blocked")).toBeUndefined();
  expect(findCondition(undefined, "Ready")).toBeUndefined();
});

interface Part {
  readonly count: number;
}

const SCHEMA = object<{ parts?: readonly Part[]; named?: Record<string, Part> }>({
  parts: optional(list(object<Part>({ count: required(wholeNumber(0, 2), "C.") }), 2), "P."),
  named: optional(mapOf(object<Part>({ count: required(wholeNumber(0, 2), "C.") }), 2), "N."),
});

test("checkBySchema() returns the value without fields that the schema does not have", () => {
  const checked: unknown = checkBySchema(SCHEMA, { parts: [{ count: 1, other: 2 }], more: 3 });
  expect(checked).toEqual({ isValid: true, spec: { parts: [{ count: 1 }] } });
});

test("checkBySchema() names every problem with its path", () => {
  const list = (spec: unknown): string[] => {
    const checked = checkBySchema(SCHEMA, spec);
    return checked.isValid ? [] : checked.problems.map((one) => `${one.path}: ${one.message}`);
  };
  expect(list({ parts: [{ count: 3 }, {}], named: { a: "b" } })).toEqual([
    "spec.parts[0].count: must be a whole number from 0 to 2, but is 3",
    "spec.parts[1].count: must be set",
    "spec.named.a: must be a map",
  ]);
  expect(list(undefined)).toEqual(["spec: must be set"]);
});

test("checkNamed() refuses a name that is too long for a label, before the problems of the spec", () => {
  const list = (name: string, spec: unknown): string[] => {
    const checked = checkNamed(SCHEMA, { metadata: { name }, spec });
    return checked.isValid ? [] : checked.problems.map(({ path }) => path);
  };
  expect(list("a".repeat(63), {})).toEqual([]);
  expect(list("a".repeat(64), {})).toEqual(["metadata.name"]);
  expect(list("a".repeat(64), { parts: [{}] })).toEqual(["metadata.name", "spec.parts[0].count"]);
});

test("describeProblems() names twenty problems, and counts the others", () => {
  const problems = Array.from({ length: 23 }, (_, at) => ({ path: `p${at}`, message: "m" }));
  const text = describeProblems(problems);
  expect(text).toStartWith("p0: m; p1: m; ");
  expect(text).toEndWith("p19: m; and 3 more");
});

test.each([
  [["one"], 10, "one"],
  [["one. Do it"], 10, "one. Do it"],
  [["network a is full", "network b is full"], 10, "network a is full; network b is full"],
  [["one", "two", "three"], 1, "one; and 2 more"],
  [
    ["network a is full. Widen it", "network b is full. Widen it"],
    10,
    "network a is full. Widen it. Network b is full. Widen it",
  ],
  [
    ["a-0: no room", "a-1: has it. Move it", "b"],
    2,
    "a-0: no room. a-1: has it. Move it. And 1 more",
  ],
])("joinSome() of %j, at most %d, is %j", (sentences, max, text) => {
  expect(joinSome(sentences, max)).toBe(text);
});

test("nameSome() names ten, and counts the others", () => {
  const names = Array.from({ length: 12 }, (_, at) => `h${at}`);
  expect(nameSome(names)).toBe("h0, h1, h2, h3, h4, h5, h6, h7, h8, h9 and 2 more");
});

interface Status {
  readonly count: number;
  readonly name: string;
  readonly conditions: readonly object[];
}

test("a status has numbers and texts without limits, and one condition of each type", () => {
  const schema = object<Status>({
    count: required(STATUS_NUMBER, "A count."),
    name: required(STATUS_TEXT, "A name."),
    conditions: required(conditions("Ready or Blocked"), "Conditions."),
  });
  const part = { schema, description: "A part." };
  const { spec } = toCrd({
    resource: { apiVersion: "example.org/v1", kind: "Thing", plural: "things", namespaced: true },
    shortNames: [],
    columns: [],
    description: "A thing.",
    spec: part,
    status: part,
  });
  expect(spec.versions[0].schema.openAPIV3Schema.properties?.["status"]).toMatchObject({
    properties: {
      count: { type: "integer", format: "int64" },
      name: { type: "string" },
      conditions: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        items: {
          required: ["type", "status", "reason", "message", "lastTransitionTime"],
          properties: {
            type: { description: "Ready or Blocked." },
            lastTransitionTime: { format: "date-time" },
          },
        },
      },
    },
  });
});

test("conditions() accepts what we write", () => {
  const condition = {
    type: "Ready",
    status: "Unknown",
    reason: "A",
    message: "a",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  expect(v.is(conditions("Ready"), [condition])).toBe(true);
  expect(v.is(conditions("Ready"), [{ ...condition, status: "Maybe" }])).toBe(false);
});

function toObject(fields: object): KubeObject {
  return { ...fields, metadata: { name: "a" } };
}

describe("isAsWanted()", () => {
  const cases: readonly (readonly [what: string, live: object, wanted: object, isSame: boolean])[] =
    [
      ["defaults beside it", { spec: { a: 1, b: 2 }, status: {} }, { spec: { a: 1 } }, true],
      ["another value", { spec: { a: 1 } }, { spec: { a: 2 } }, false],
      ["a missing field", { spec: {} }, { spec: { a: 1 } }, false],
      ["a missing field that says nothing", { spec: {} }, { spec: { a: "", b: [], c: {} } }, true],
      ["a field that says nothing, and is set", { spec: { a: "x" } }, { spec: { a: "" } }, false],
      ["defaults in items", { ports: [{ a: 1, b: 2 }] }, { ports: [{ a: 1 }] }, true],
      ["an item more", { ports: [{ a: 1 }, { a: 2 }] }, { ports: [{ a: 1 }] }, false],
      ["other types", { data: { a: "1" } }, { data: { a: 1 } }, false],
      ["another order", { data: { a: "1", b: "2" } }, { data: { b: "2", a: "1" } }, true],
    ];
  test.each(cases)("of an object with %s", (_what, live, wanted, isSame) => {
    expect(isAsWanted(toObject(live), toObject(wanted))).toBe(isSame);
  });
});

test("pickWanted() takes of an object only what is wanted", () => {
  const live = { a: { b: 1, c: 2 }, d: [{ e: 1, f: 2 }], g: 3 };
  const wanted = { a: { b: 0 }, d: [{ e: 0 }], h: 1 };
  expect(pickWanted(live, wanted)).toEqual({ a: { b: 1 }, d: [{ e: 1 }], h: undefined });
});

test.each<[what: string, kind: string, live: object, wanted: object, field: string | undefined]>([
  [
    "another selector",
    "Deployment",
    { spec: { selector: { matchLabels: { a: "b", c: "d" } } } },
    { spec: { selector: { matchLabels: { a: "b" } } } },
    "spec.selector",
  ],
  ["other replicas", "Deployment", { spec: { replicas: 1 } }, { spec: { replicas: 2 } }, undefined],
  ["any address", "Service", { spec: { clusterIP: "10.0.0.1" } }, { spec: {} }, undefined],
  [
    "another address",
    "Service",
    { spec: { clusterIP: "10.0.0.1" } },
    { spec: { clusterIP: "10.0.0.2" } },
    "spec.clusterIP",
  ],
  [
    "another role",
    "RoleBinding",
    { roleRef: { name: "a" } },
    { roleRef: { name: "b" } },
    "roleRef",
  ],
  ["another type", "Secret", { type: "Opaque" }, { type: "kubernetes.io/tls" }, "type"],
  ["other data", "ConfigMap", { data: { a: "1" } }, { data: { a: "2" } }, undefined],
])("findFixed() with %s for a %s", (_what, kind, live, wanted, field) => {
  expect(findFixed(toObject(live), toObject({ kind, ...wanted }))).toBe(field);
});
