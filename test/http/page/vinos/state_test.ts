import { expect, test } from "bun:test";
import {
  isTroubled,
  judgeMachine,
  MACHINE_LOOK_NAMES,
  MACHINE_LOOKS,
  type MachineLook,
  VINO_STATES,
} from "../../../../lib/http/page/vinos/state.ts";
import type { VinoMachineView } from "../../../../lib/http/vinos/views.ts";
import { toVinoMachine } from "../../../support/page/vino_views.ts";

test.each<[MachineLook, Partial<VinoMachineView>, string]>([
  ["ready", {}, "running"],
  ["ready", {}, "unknown"],
  ["off", {}, "stopped"],
  ["off", {}, "suspended"],
  ["differs", { parts: [{ name: "CPUs", wanted: "4", actual: "2" }] }, "stopped"],
  ["differs", { parts: [{ name: "disk data", wanted: "9 GiB" }] }, "running"],
  ["making", { state: "Creating" }, "running"],
  ["making", { state: "Unfinished" }, "running"],
  ["waiting", { state: "Absent" }, "running"],
  ["blocked", { state: "Blocked" }, "running"],
  ["blocked", { state: "Blocked", isWanted: false }, "running"],
  ["unknown", { state: "Unknown", isWanted: false }, "running"],
  ["removing", { state: "Removing", isWanted: false }, "running"],
  ["unwanted", { isWanted: false }, "running"],
  ["unwanted", { state: "Unfinished", isWanted: false }, "running"],
  ["unwanted", { state: "Absent", isWanted: false }, "running"],
])("judgeMachine() is %p for %j that is %s", (expected, fields, power) => {
  expect(judgeMachine(toVinoMachine("a", 0, fields), { power })).toBe(expected);
});

test("judgeMachine() of a machine that the cloud does not show goes by its Vino", () => {
  expect(judgeMachine(toVinoMachine("a", 0), undefined)).toBe("ready");
});

test("every state of a machine has words, the worst first", () => {
  expect(MACHINE_LOOK_NAMES[0]).toBe("blocked");
  const words = Object.values(MACHINE_LOOKS).map(({ word }) => word);
  expect(new Set(words).size).toBe(MACHINE_LOOK_NAMES.length);
});

test("isTroubled() is true for a Vino that fails or waits, and for no other", () => {
  const states = ["failing", "waiting", "deleting", "working", "ready"] as const;
  expect(states.filter(isTroubled)).toEqual(["failing", "waiting"]);
  expect(Object.keys(VINO_STATES)).toEqual([...states]);
});
