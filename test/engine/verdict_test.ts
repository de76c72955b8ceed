import { expect, test } from "bun:test";
import { type Absence, toVerdict } from "../../lib/engine/verdict.ts";
import { KubeError } from "../../lib/kube/api/errors.ts";

test.each<[Absence, string]>([
  ["gone", "notFound change debug"],
  ["maybe", "notFound backoff debug"],
  ["exists", "error backoff warn"],
])("toVerdict() of a 404 for an object that is %s", (absence, wanted) => {
  const { outcome, retry, level } = toVerdict(new KubeError("notFound", "404"), absence);
  expect(`${outcome} ${retry} ${level}`).toBe(wanted);
});

test("toVerdict() asks nothing about the object for other errors", () => {
  for (const absence of ["gone", "maybe", "exists"] as const) {
    const error = new KubeError("forbidden", "403");
    expect(toVerdict(error, absence)).toEqual({
      outcome: "error",
      retry: "backoff",
      level: "warn",
      error,
    });
  }
});
