/**
 * Booleans, as Go reads them.
 * @module
 */
import { expect, test } from "bun:test";
import { parseBool } from "../../../lib/core/text/bool.ts";

test("parseBool() reads the twelve forms of Go and nothing else", () => {
  const yes = ["1", "t", "T", "true", "TRUE", "True"];
  const no = ["0", "f", "F", "false", "FALSE", "False"];
  expect(yes.map(parseBool)).toEqual(yes.map(() => true));
  expect(no.map(parseBool)).toEqual(no.map(() => false));
  expect(["", "yes", "tRUE", "on", "2"].map(parseBool).some((one) => one !== undefined)).toBe(
    false,
  );
});
