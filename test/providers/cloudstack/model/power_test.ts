import { expect, test } from "bun:test";
import {
  isDead,
  isGone,
  toInstanceState,
} from "../../../../lib/providers/cloudstack/model/power.ts";

test.each([
  ["Running", "running"],
  ["Starting", "running"],
  ["Stopping", "running"],
  ["Migrating", "running"],
  ["Stopped", "stopped"],
  ["Shutdown", "stopped"],
  ["Destroyed", "stopped"],
  ["Error", "unknown"],
  ["Unknown", "unknown"],
  ["Expunging", "unknown"],
  ["Restoring", "unknown"],
  [undefined, "unknown"],
  [null, "unknown"],
] as const)("toInstanceState() of %p is %p", (state, expected) => {
  expect(toInstanceState(state)).toBe(expected);
});

test("only a VM that is expunged is gone, and a destroyed one or one never made is dead", () => {
  const states = ["Running", "Stopped", "Destroyed", "Expunging", "Expunged", "Error", undefined];
  expect(states.filter(isGone)).toEqual(["Expunging", "Expunged"]);
  expect(states.filter(isDead)).toEqual(["Destroyed", "Error"]);
});
