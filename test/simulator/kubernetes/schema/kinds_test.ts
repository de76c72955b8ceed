import { expect, test } from "bun:test";
import { apiVersionOf } from "../../../../lib/simulator/kubernetes/schema/kind.ts";
import { findKind, KINDS, listKinds } from "../../../../lib/simulator/kubernetes/schema/kinds.ts";
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
  ["nodes", { namespaced: false, hasStatus: true, createsOnUpdate: false }],
  ["namespaces", { namespaced: false, hasStatus: true, createsOnUpdate: false }],
  ["pods", { namespaced: true, hasStatus: true, createsOnUpdate: false }],
  ["events", { namespaced: true, hasStatus: false, createsOnUpdate: true }],
  ["leases", { namespaced: true, createsOnUpdate: true, needsVersionOnUpdate: true }],
  ["secrets", { namespaced: true, hasStatus: false, createsOnUpdate: false }],
  ["deployments", { namespaced: true, hasStatus: true, generations: "specAndAnnotations" }],
  ["poddisruptionbudgets", { version: "v1", hasStatus: true, generations: "spec" }],
  ["roles", { group: "rbac.authorization.k8s.io", hasStatus: false }],
])("KINDS says how %s behave: %p", (plural, expected) => {
  expect(kindOf(plural)).toMatchObject(expected);
});

test("KINDS has no two kinds at one path, and all have metadata", () => {
  const paths = KINDS.map((kind) => `${apiVersionOf(kind)}/${kind.plural}`);
  expect(new Set(paths).size).toBe(paths.length);
  for (const kind of KINDS) expect(kind.schema.fields).toHaveProperty("metadata");
});

test.each([
  [20, "v1beta1"],
  [21, "v1"],
])("listKinds() of 1.%p has PodDisruptionBudgets in version %s only", (minor, version) => {
  const budgets = listKinds(minor).filter(({ kind }) => kind === "PodDisruptionBudget");
  expect(budgets.map((kind) => kind.version)).toEqual([version]);
});
