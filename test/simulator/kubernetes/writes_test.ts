import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../lib/simulator/kubernetes/patches/json.ts";
import {
  carryOver,
  checkIdentity,
  checkPrecondition,
  finalizersOf,
  isDeleting,
  keyOf,
  requireObject,
  subjectOf,
  toKept,
  toTime,
  withMetadata,
  type Target,
} from "../../../lib/simulator/kubernetes/writes.ts";
import { kindOf } from "../../support/kube/kinds/simulator_kinds.ts";

const NODE: Target = { kind: kindOf("nodes"), namespace: "", name: "n", subresource: "" };
const LEASE: Target = { kind: kindOf("leases"), namespace: "ns", name: "l", subresource: "" };
const OWN = { name: "n", uid: "u", resourceVersion: "7", creationTimestamp: "t" };

test.each([
  ["", "n", "n"],
  ["ns", "n", "ns/n"],
])("keyOf() namespace %p and name %p is %p", (namespace, name, expected) => {
  expect(keyOf({ namespace, name })).toBe(expected);
});

test("subjectOf() names group, plural, kind and name", () => {
  const expected = { group: "coordination.k8s.io", resource: "leases", kind: "Lease", name: "l" };
  expect(subjectOf(LEASE)).toEqual(expected);
});

describe("toKept()", () => {
  test.each<[JsonObject, JsonObject, Target]>([
    [{}, { metadata: { name: "n" } }, NODE],
    [{ kind: "Node", apiVersion: "v1" }, { metadata: { name: "n" } }, NODE],
    [{ metadata: { name: "other" } }, { metadata: { name: "n" } }, NODE],
    [{ metadata: { managedFields: [{}] } }, { metadata: { name: "n" } }, NODE],
    [{ metadata: { namespace: "x" } }, { metadata: { name: "l", namespace: "ns" } }, LEASE],
    [{ spec: { providerID: "", nope: 1 } }, { spec: {}, metadata: { name: "n" } }, NODE],
  ])("keeps of %j only %j", (body, expected, target) => {
    expect(toKept(target, body, {})).toEqual(expected);
  });

  test.each<[JsonObject, Target]>([
    [{ kind: "Lease" }, NODE],
    [{ apiVersion: "v2" }, NODE],
    [{ kind: "Lease", apiVersion: "v1" }, LEASE],
  ])("refuses %j where another kind belongs", (body, target) => {
    expect(() => toKept(target, body, {})).toThrow("is unrecognized");
  });

  test("tells which fields are unknown, and lets that refuse the write", () => {
    const onUnknown = (paths: readonly string[]): void => {
      throw new TypeError(paths.join());
    };
    expect(() => toKept(NODE, { spec: { nope: 1 }, no: 2 }, { onUnknown })).toThrow("spec.nope,no");
  });
});

test.each([[{}], [{ resourceVersion: "7", uid: "u" }], [{ resourceVersion: "", uid: "" }]])(
  "checkIdentity() lets %j pass",
  (proposed: JsonObject) => {
    expect(() => checkIdentity(NODE, { metadata: OWN }, proposed)).not.toThrow();
  },
);

test.each([
  ["has been modified", { resourceVersion: "6" }],
  ["has been modified", { resourceVersion: "8", uid: "v" }],
  ['metadata.uid: Invalid value: "v": field is immutable', { resourceVersion: "7", uid: "v" }],
])("checkIdentity() says %p of %j", (message, proposed) => {
  expect(() => checkIdentity(NODE, { metadata: OWN }, proposed)).toThrow(message);
});

describe("carryOver()", () => {
  const before = { metadata: OWN, spec: { old: 1 }, status: { old: 1 } };
  const proposed = { metadata: { name: "n" }, spec: { new: 1 }, status: { new: 1 } };

  test.each([
    ["", { spec: { new: 1 }, status: { old: 1 } }],
    ["status", { spec: { old: 1 }, status: { new: 1 } }],
  ])("of a write to %p takes only its own half", (subresource, expected) => {
    const target = { ...NODE, subresource };
    expect(carryOver(target, before, proposed)).toEqual({ metadata: OWN, ...expected });
  });

  test("takes all of a kind without status", () => {
    expect(carryOver(LEASE, before, proposed)).toEqual({ ...proposed, metadata: OWN });
  });

  test("drops a status where there was none", () => {
    const after = carryOver(NODE, { metadata: OWN }, proposed);
    expect(after).toStrictEqual({ metadata: OWN, spec: { new: 1 } });
  });

  test("keeps what belongs to the server, whatever the write says", () => {
    const mark = { deletionTimestamp: "d", deletionGracePeriodSeconds: 0, generateName: "n-" };
    const forged = { uid: "x", creationTimestamp: "x", resourceVersion: "x", generateName: "x" };
    const labels = { a: "b" };
    const after = carryOver(
      NODE,
      { metadata: { ...OWN, ...mark } },
      { metadata: { name: "n", labels, ...forged } },
    );
    expect(after["metadata"]).toEqual({ ...OWN, ...mark, labels });
  });
});

test("withMetadata() overwrites what is the server's and fills in what is absent", () => {
  const object = { metadata: { name: "n", uid: "x", labels: {} }, spec: {} };
  expect<unknown>(withMetadata(object, { uid: "u" })).toEqual({
    metadata: { name: "n", uid: "u", labels: {}, resourceVersion: "", creationTimestamp: "" },
    spec: {},
  });
});

test("checkPrecondition() refuses only what is wanted and is not", () => {
  expect(() => checkPrecondition(NODE, "UID", [undefined, "u"])).not.toThrow();
  expect(() => checkPrecondition(NODE, "UID", ["u", "u"])).not.toThrow();
  expect(() => checkPrecondition(NODE, "UID", ["v", "u"])).toThrow(
    "Precondition failed: UID in precondition: v, UID in object meta: u",
  );
});

test.each<[JsonObject, boolean]>([
  [{ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }, true],
  [{ metadata: {} }, false],
  [{}, false],
])("isDeleting() of %j is %p", (object, expected) => {
  expect(isDeleting(object)).toBe(expected);
});

test.each<[JsonObject, readonly string[]]>([
  [{ metadata: { finalizers: ["a", "b"] } }, ["a", "b"]],
  [{ metadata: { finalizers: null } }, []],
  [{}, []],
])("finalizersOf() %j are %j", (object, expected) => {
  expect<unknown>(finalizersOf(object)).toEqual(expected);
});

test("toTime() has whole seconds in UTC", () => {
  expect(toTime(Date.UTC(2026, 0, 2, 3, 4, 5, 999))).toBe("2026-01-02T03:04:05Z");
});

test("requireObject() gives the object back", () => {
  expect(requireObject({ a: 1 })).toEqual({ a: 1 });
});

test.each([[null], [[]], ["text"], [1], [true]])("requireObject() refuses %j", (body) => {
  expect(() => requireObject(body)).toThrow("must be a JSON object");
});
