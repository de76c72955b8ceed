import { expect, test } from "bun:test";
import { Recovery } from "../../lib/kube/recovery.ts";

test("Recovery tells everybody who listens, and nobody who has left", () => {
  const recovery = new Recovery();
  const told: string[] = [];
  const leave = recovery.subscribe(() => told.push("one"));
  recovery.subscribe(() => told.push("two"));
  recovery.tell();
  leave();
  recovery.tell();
  expect(told).toEqual(["one", "two", "two"]);
});
