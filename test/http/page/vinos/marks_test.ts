import { expect, test } from "bun:test";
import {
  MachineBar,
  MachineMark,
  MachineTally,
  VinoMark,
} from "../../../../lib/http/page/vinos/marks.tsx";

test("VinoMark() and MachineMark() show a state by shape and word", () => {
  expect(String(VinoMark({ state: "deleting" }))).toBe(
    '<span class="mark s-outOfService">being deleted</span>',
  );
  expect(String(MachineMark({ look: "stray" }))).toContain("without a Vino");
});

test("MachineTally() and MachineBar() show how many machines are in each state", () => {
  const counts = [
    ["blocked", 1],
    ["ready", 1_200],
  ] as const;
  expect(String(MachineTally({ counts }))).toContain("1,200 ready");
  expect(String(MachineBar({ counts })).match(/<rect/g)).toHaveLength(2);
  expect(MachineBar({ counts: [] })).toBeNull();
});
