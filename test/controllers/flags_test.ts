import { expect, test } from "bun:test";
import {
  type NumberFlag,
  readFlag,
  readTextFlag,
  type TextFlag,
} from "../../lib/controllers/flags.ts";

const PERIOD: NumberFlag = {
  name: "period",
  type: "duration",
  default: "1m30s",
  help: "How often",
  range: [0, 100_000],
};
const COUNT: NumberFlag = {
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

test("readTextFlag() gives the text of a flag, else its default", () => {
  const flag: TextFlag = {
    name: "class",
    type: "string",
    default: "standard",
    help: "Which class",
    findProblem: () => undefined,
  };
  expect(readTextFlag({ class: "" }, flag)).toBe("");
  expect(readTextFlag({ class: "a/b" }, flag)).toBe("a/b");
  expect(readTextFlag({}, flag)).toBe("standard");
});
