import { expect, test } from "bun:test";
import {
  secretProblems,
  withSecretData,
} from "../../../../lib/simulator/kubernetes/workloads/secrets.ts";

test("withSecretData() writes text over data, and sets the type", () => {
  const secret = { data: { a: "MQ==", b: "Mg==" }, stringData: { b: "ü" } };
  expect(withSecretData(secret)).toEqual({ type: "Opaque", data: { a: "MQ==", b: "w7w=" } });
  expect(withSecretData({ type: "example.org/t" })).toEqual({ type: "example.org/t" });
});

test("secretProblems() lets no type change", () => {
  expect(secretProblems({ type: "a" }, { type: "a" })).toEqual([]);
  expect(secretProblems({ type: "a" }, undefined)).toEqual([]);
  expect(secretProblems({ type: "a" }, { type: "b" })).toMatchObject([{ field: "type" }]);
});
