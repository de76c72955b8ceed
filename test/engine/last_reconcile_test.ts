import { expect, test } from "bun:test";
import { toLastReconcile } from "../../lib/engine/last_reconcile.ts";

test("toLastReconcile() says when it ended, and how", () => {
  const at = Date.parse("2026-03-01T12:00:00Z");
  const time = "2026-03-01T12:00:00.000Z";
  expect(toLastReconcile({ at, outcome: "ok", nextAt: at + 1 })).toEqual({
    at: time,
    outcome: "ok",
  });
  expect(toLastReconcile({ at, outcome: "error", error: "no" })).toEqual({
    at: time,
    outcome: "error",
    error: "no",
  });
  expect(toLastReconcile(undefined)).toBeNull();
});
