import { describe, expect, test } from "bun:test";
import { findFixed, isAsWanted, pickWanted } from "../../../lib/controllers/kinds/compare.ts";
import type { KubeObject } from "../../../lib/kube/kinds/resource.ts";

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
