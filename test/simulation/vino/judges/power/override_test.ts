import { expect, test } from "bun:test";
import { type Override, waitsForStart } from "./override.ts";

test.each<[string, Override["since"], object, boolean]>([
  ["which may not have its order yet", undefined, { power_state: "Halted" }, false],
  ["which is off as before", { isRunning: false }, { power_state: "Halted" }, true],
  ["which was off and runs", { isRunning: false }, { power_state: "Running" }, false],
  ["which runs as before", { isRunning: true, startedAtMs: 1_000 }, { startTime: 1 }, true],
  ["which was started again", { isRunning: true, startedAtMs: 1_000 }, { startTime: 2 }, false],
  ["whose start nobody knows", { isRunning: true }, { startTime: 2 }, true],
  ["whose last start nobody knows", { isRunning: true, startedAtMs: 1_000 }, {}, true],
])("waitsForStart() of a VM %s", (_what, since, vm, waits) => {
  const override = { duration: "once", order: "ncd", before: "cd", ...(since && { since }) };
  expect(waitsForStart(override, { id: "a", ...vm })).toBe(waits);
});
