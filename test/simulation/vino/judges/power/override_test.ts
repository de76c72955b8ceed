import { describe, expect, test } from "bun:test";
import { orderOf, type Override, parseOverride, waitsForStart } from "./override.ts";

const OVERRIDE: Override = { duration: "once", order: "ncd", before: "cd" };

function toSecret(text: string) {
  const annotations = { "landfall.dev/boot-override": text };
  const metadata = {
    name: "a",
    uid: "u",
    resourceVersion: "1",
    creationTimestamp: "",
    annotations,
  };
  return { apiVersion: "v1", kind: "Secret", metadata };
}

describe("parseOverride()", () => {
  test("reads what is written down", () => {
    const since = { isRunning: false };
    const record = { duration: "once", device: "network", before: ["disk", "cd"], since };
    expect(parseOverride(toSecret(JSON.stringify(record)))).toEqual({ ...OVERRIDE, since });
  });

  test("finds nothing in a Secret without a record", () => {
    expect(parseOverride(toSecret(""))).toBeUndefined();
  });
});

test.each<[string, Override["since"], object, boolean]>([
  ["which may not have its order yet", undefined, { power_state: "Halted" }, false],
  ["which is off as before", { isRunning: false }, { power_state: "Halted" }, true],
  ["which was off and runs", { isRunning: false }, { power_state: "Running" }, false],
  ["which runs as before", { isRunning: true, startedAtMs: 1_000 }, { startTime: 1 }, true],
  ["which was started again", { isRunning: true, startedAtMs: 1_000 }, { startTime: 2 }, false],
  ["whose start nobody knows", { isRunning: true }, { startTime: 2 }, true],
  ["whose last start nobody knows", { isRunning: true, startedAtMs: 1_000 }, {}, true],
])("waitsForStart() of a VM %s", (_what, since, vm, waits) => {
  const override = { ...OVERRIDE, ...(since && { since }) };
  expect(waitsForStart(override, { id: "a", ...vm })).toBe(waits);
});

test("orderOf() reads the order of a VM", () => {
  expect(orderOf({ id: "a", boot: { order: "cd" } })).toBe("cd");
  expect(orderOf({ id: "a" })).toBe("");
});
