import { expect, test } from "bun:test";
import { no, yes } from "../../../lib/controllers/kinds/words.ts";

test("yes() and no() create the reasons of a condition", () => {
  expect(yes("A", "It is.")).toEqual({ status: "True", reason: "A", meaning: "It is." });
  expect(no("B", "It is not.")).toEqual({ status: "False", reason: "B", meaning: "It is not." });
});
