import { expect, test } from "bun:test";
import { Recovery } from "../../../lib/kube/api/recovery.ts";

test("Recovery tells everybody who listens, and nobody who has left", () => {
  const recovery = new Recovery();
  const told: string[] = [];
  const leave = recovery.subscribe((news) => told.push(`one: ${news}`));
  recovery.subscribe((news) => told.push(`two: ${news}`));
  recovery.tell();
  leave();
  recovery.tell("reconnected");
  expect(told).toEqual(["one: answers", "two: answers", "two: reconnected"]);
});
