import { expect, test } from "bun:test";
import { Completion } from "../../../lib/simulator/kubernetes/completion.ts";
import type { JsonObject } from "../../../lib/simulator/kubernetes/mod.ts";
import { defineCustomKind } from "../../../lib/simulator/kubernetes/schema/kind.ts";
import { Collection, VersionCounter } from "../../../lib/simulator/kubernetes/store.ts";
import { kindOf } from "../../support/kube/kinds/simulator_kinds.ts";

const PATH = { namespace: "default", name: "a", subresource: "" };
const METADATA = { name: "a", namespace: "default" };

function createCompletion(): Completion {
  return new Completion(new Collection(new VersionCounter(), 10), {});
}

/** A kind, what is written, and what of it is stored. */
const CASES: readonly (readonly [string, JsonObject, object])[] = [
  ["configmaps", { data: { a: "1" } }, { data: { a: "1" } }],
  ["secrets", { stringData: { a: "1" } }, { data: { a: "MQ==" }, type: "Opaque" }],
  ["services", { spec: { ports: [{ port: 80 }] } }, { spec: { type: "ClusterIP" } }],
];

test.each(CASES)("complete() stores of %s %j at least %j", (plural, object, expected) => {
  const target = { ...PATH, kind: kindOf(plural) };
  const whole = { metadata: METADATA, ...object };
  expect(createCompletion().complete(target, whole, undefined)).toMatchObject(expected);
});

test("complete() takes no status with a new object of a kind that counts generations", () => {
  const names = { apiVersion: "example.org/v1", kind: "Service", plural: "services" };
  const target = { ...PATH, kind: defineCustomKind({ ...names, namespaced: true }) };
  const object = { metadata: METADATA, spec: { ports: 1 }, status: { open: true } };
  const completion = createCompletion();
  expect(completion.complete(target, object, undefined)).toEqual({
    metadata: METADATA,
    spec: { ports: 1 },
  });
  expect(completion.complete(target, object, object)).toEqual(object);
});

test.each(["deployments", "rolebindings"])("complete() refuses wrong %s", (plural) => {
  const target = { ...PATH, kind: kindOf(plural) };
  const [before, after] = ["a", "b"].map((name) => ({ metadata: METADATA, roleRef: { name } }));
  expect(() => createCompletion().complete(target, after ?? {}, before)).toThrow("is invalid");
});
