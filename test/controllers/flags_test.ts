import { expect, test } from "bun:test";
import { type ControllerFlag, readFlag } from "../../lib/controllers/flags.ts";

const PERIOD: ControllerFlag = {
  name: "period",
  type: "duration",
  default: "1m30s",
  help: "How often",
  range: [0, 100_000],
};
const COUNT: ControllerFlag = {
  ...PERIOD,
  name: "count",
  type: "int",
  default: "7",
};

test("readFlag() gives the value of a flag, else its default", () => {
  expect(readFlag({ period: 5, count: 0 }, PERIOD)).toBe(5);
  expect(readFlag({ period: 5, count: 0 }, COUNT)).toBe(0);
  expect(readFlag({}, PERIOD)).toBe(90_000);
  expect(readFlag({}, COUNT)).toBe(7);
});
