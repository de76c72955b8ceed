/**
 * Refusals of the API server.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { isKubeError, KubeError } from "../../../lib/kube/api/errors.ts";

describe("KubeError", () => {
  test("keeps its details and its cause", () => {
    const cause = new Error("why");
    const error = new KubeError("throttled", "m", {
      code: 429,
      reason: "r",
      retryAfterMs: 5,
      cause,
    });
    const { name, kind, code, reason, retryAfterMs } = error;
    expect([name, kind, code, reason, retryAfterMs]).toEqual([
      "KubeError",
      "throttled",
      429,
      "r",
      5,
    ]);
    expect(error.cause).toBe(cause);
  });
});

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
