import { expect, test } from "bun:test";
import {
  apiVersionOf,
  defineCustomKind,
} from "../../../../lib/simulator/kubernetes/schema/kind.ts";
import { kindOf } from "../../../support/kube/kinds/simulator_kinds.ts";

test.each([
  ["nodes", "v1"],
  ["leases", "coordination.k8s.io/v1"],
])("apiVersionOf() %s is %s", (plural, expected) => {
  expect(apiVersionOf(kindOf(plural))).toBe(expected);
});

test("defineCustomKind() gives a kind with a status, which takes any spec", () => {
  const names = { apiVersion: "example.org/v1", kind: "Gallery", plural: "galleries" };
  const kind = defineCustomKind({ ...names, namespaced: false });
  expect(kind).toMatchObject({
    group: "example.org",
    version: "v1",
    singular: "gallery",
    generations: "spec",
  });
  expect([kind.namespaced, kind.hasStatus, kind.isCustom]).toEqual([false, true, true]);
  expect(kind.schema.fields).toMatchObject({ spec: "any", status: "any" });
});
