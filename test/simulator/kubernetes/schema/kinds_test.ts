import { expect, test } from "bun:test";
import {
  apiVersionOf,
  defineCustomKind,
  findKind,
  KINDS,
} from "../../../../lib/simulator/kubernetes/schema/kinds.ts";
import { kindOf } from "../../../support/kube/kinds/simulator_kinds.ts";

test.each([
  ["", "v1", "nodes", "Node"],
  ["", "v1", "events", "Event"],
  ["coordination.k8s.io", "v1", "leases", "Lease"],
  ["", "v1", "leases", undefined],
  ["coordination.k8s.io", "v1beta1", "leases", undefined],
  ["", "v1", "Node", undefined],
  ["", "", "nodes", undefined],
])("findKind() of %p, %p and %p is %p", (group, version, plural, expected) => {
  expect(findKind(group, version, plural)?.kind).toBe(expected);
});

test.each([
  ["nodes", "v1"],
  ["leases", "coordination.k8s.io/v1"],
])("apiVersionOf() %s is %s", (plural, expected) => {
  expect(apiVersionOf(kindOf(plural))).toBe(expected);
});

test.each([
  ["nodes", { namespaced: false, hasStatus: true, createsOnUpdate: false }],
  ["namespaces", { namespaced: false, hasStatus: true, createsOnUpdate: false }],
  ["pods", { namespaced: true, hasStatus: true, createsOnUpdate: false }],
  ["events", { namespaced: true, hasStatus: false, createsOnUpdate: true }],
  ["leases", { namespaced: true, createsOnUpdate: true, needsVersionOnUpdate: true }],
  ["secrets", { namespaced: true, hasStatus: false, createsOnUpdate: false }],
])("KINDS says how %s behave: %p", (plural, expected) => {
  expect(kindOf(plural)).toMatchObject(expected);
});

test("KINDS has no two kinds at one path, and all have metadata", () => {
  const paths = KINDS.map((kind) => `${apiVersionOf(kind)}/${kind.plural}`);
  expect(new Set(paths).size).toBe(paths.length);
  for (const kind of KINDS) expect(kind.schema.fields).toHaveProperty("metadata");
});

test("defineCustomKind() gives a kind with a status, which takes any spec", () => {
  const names = { apiVersion: "example.org/v1", kind: "Gallery", plural: "galleries" };
  const kind = defineCustomKind({ ...names, namespaced: false });
  expect(kind).toMatchObject({ group: "example.org", version: "v1", singular: "gallery" });
  expect([kind.namespaced, kind.hasStatus, kind.isCustom]).toEqual([false, true, true]);
  expect(kind.schema.fields).toMatchObject({ spec: "any", status: "any" });
});
