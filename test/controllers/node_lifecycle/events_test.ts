import { expect, test } from "bun:test";
import { LifecycleEvents } from "../../../lib/controllers/node_lifecycle/events.ts";
import { createLifecycleWorld } from "../../support/nodes/lifecycle_rig.ts";

test("LifecycleEvents reports a blocked deletion once in five minutes, until the reason is another", async () => {
  const { context, clock, events, lines, add } = createLifecycleWorld();
  const lifecycle = new LifecycleEvents(context);
  const node = add("n0");
  const told: readonly (readonly [afterMs: number, why: string, message: string])[] = [
    [0, "fleetLimit", "3 are gone"],
    [5_000, "fleetLimit", "4 are gone"],
    [5_000, "notCovered", "pool p is lost"],
    [300_000, "notCovered", "pool p is lost"],
  ];
  for (const [afterMs, why, message] of told) {
    await clock.advance(afterMs);
    lifecycle.reportBlocked(node, why, message);
  }
  const messages = ["3 are gone", "pool p is lost", "pool p is lost"];
  expect(events.map(({ message }) => message)).toEqual(messages);
  const records = lines.map((line): Record<string, unknown> => JSON.parse(line));
  expect(records.map((record) => [record["node"], record["explanation"]])).toEqual(
    messages.map((message) => ["n0", message]),
  );
  lifecycle.forget("n0");
  lifecycle.reportBlocked(node, "notCovered", "pool p is lost");
  expect([events.length, lines.length]).toEqual([4, 4]);
});
