/**
 * Refusals of the API server.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { isKubeError, KubeError } from "../../../lib/kube/api/errors.ts";

describe("isKubeError()", () => {
  test.each([
    [new KubeError("gone", "m"), true],
    [new KubeError("conflict", "m"), false],
    [Object.assign(new Error("m"), { kind: "gone" }), false],
    [undefined, false],
  ])("tells an error of a kind from all else, case %#", (error, expected) => {
    expect(isKubeError(error, "gone")).toBe(expected);
  });
});
