import { expect, test } from "bun:test";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/patches/json.ts";
import {
  isQualifiedName,
  validate,
} from "../../../../lib/simulator/kubernetes/schema/validation.ts";
import { kindOf } from "../../../support/kube/kinds/simulator_kinds.ts";

function find(plural: string, object: JsonObject, before?: JsonObject): readonly string[] {
  const whole = { metadata: { name: "a" }, ...object };
  const problems = validate(kindOf(plural), whole, before);
  return problems.map((problem) => `${problem.field} ${problem.reason}`);
}

test.each([
  ["a", true],
  ["A_b.c-1", true],
  ["example.com/a", true],
  ["a".repeat(63), true],
  [`${"a".repeat(253)}/a`, true],
  ["", false],
  ["-a", false],
  ["a-", false],
  ["example.com/", false],
  ["/a", false],
  ["Example.com/a", false],
  ["a/b/c", false],
  ["a".repeat(64), false],
  [`${"a".repeat(254)}/a`, false],
])("isQualifiedName() of %p is %p", (text, expected) => {
  expect(isQualifiedName(text)).toBe(expected);
});

test.each<[JsonObject, readonly string[]]>([
  [{ name: "a.b-c" }, []],
  [{ name: "a".repeat(253) }, []],
  [{ name: "" }, ["metadata.name FieldValueInvalid"]],
  [{ name: "a".repeat(254) }, ["metadata.name FieldValueInvalid"]],
  [{ name: "A" }, ["metadata.name FieldValueInvalid"]],
  [{ name: "a..b" }, ["metadata.name FieldValueInvalid"]],
  [{ name: "a", labels: { "x.y/z": "", k: "V_1" } }, []],
  [{ name: "a", labels: { k: "a".repeat(64) } }, ["metadata.labels FieldValueInvalid"]],
  [{ name: "a", labels: { k: "a b" } }, ["metadata.labels FieldValueInvalid"]],
  [{ name: "a", labels: { "k k": "v" } }, ["metadata.labels FieldValueInvalid"]],
  [{ name: "a", annotations: { "Example.com/K": "any text" } }, []],
  [{ name: "a", annotations: { "a/b/c": "" } }, ["metadata.annotations FieldValueInvalid"]],
])("validate() of metadata %j finds %j", (metadata, expected) => {
  expect(find("configmaps", { metadata })).toEqual(expected);
});

test.each<[readonly JsonObject[], readonly string[]]>([
  [[{ key: "k", effect: "NoSchedule" }], []],
  [
    [
      { key: "k", effect: "NoSchedule" },
      { key: "k", effect: "NoExecute" },
    ],
    [],
  ],
  [
    [
      { key: "k", effect: "NoSchedule" },
      { key: "k", value: "v", effect: "NoSchedule" },
    ],
    ["metadata.taints[1] FieldValueDuplicate"],
  ],
  [[{ effect: "NoSchedule" }], ["metadata.taints[0].key FieldValueInvalid"]],
  [[{ key: "k", effect: "Never" }], ["metadata.taints[0].effect FieldValueNotSupported"]],
])("validate() of taints %j finds %j", (taints, expected) => {
  expect(find("nodes", { spec: { taints } })).toEqual(expected);
});

test.each<[JsonObject, JsonObject, readonly string[]]>([
  [{}, { providerID: "p://1", podCIDR: "10.0.0.0/24" }, []],
  [{ providerID: "p://1" }, { providerID: "p://1" }, []],
  [{ providerID: "p://1" }, { providerID: "p://2" }, ["spec.providerID FieldValueForbidden"]],
  [{ providerID: "p://1" }, {}, ["spec.providerID FieldValueForbidden"]],
  [{ podCIDRs: ["a"] }, { podCIDRs: ["a"] }, []],
  [{ podCIDRs: ["a"] }, { podCIDRs: ["a", "b"] }, ["spec.podCIDRs FieldValueForbidden"]],
  [{ unschedulable: true }, {}, []],
])("validate() of a node's spec %j that becomes %j finds %j", (before, after, expected) => {
  expect(find("nodes", { spec: after }, { spec: before })).toEqual(expected);
});

test.each([
  ["default", "default", []],
  ["default", "", []],
  ["other", "other", []],
  ["other", "", ["involvedObject.namespace FieldValueInvalid"]],
  ["default", "other", ["involvedObject.namespace FieldValueInvalid"]],
])("validate() of an event in %p about an object in %p finds %p", (own, involved, expected) => {
  const metadata = { name: "a", namespace: own };
  expect(find("events", { metadata, involvedObject: { namespace: involved } })).toEqual(expected);
});

test.each<[JsonObject, readonly string[]]>([
  [{ leaseDurationSeconds: 1, leaseTransitions: 0 }, []],
  [{}, []],
  [{ leaseDurationSeconds: 0 }, ["spec.leaseDurationSeconds FieldValueInvalid"]],
  [{ leaseTransitions: -1 }, ["spec.leaseTransitions FieldValueInvalid"]],
])("validate() of a lease's spec %j finds %j", (spec, expected) => {
  expect(find("leases", { spec })).toEqual(expected);
});
