import { expect, test } from "bun:test";
import { readExtent } from "../../support/extent.ts";
import { describeFailure } from "../ending.ts";
import { TELLINGS } from "./mod.ts";

/** Of one scenario with all its crash points, on a busy machine. After one cut off, no other can start. */
const TIMEOUT_MS = 300_000;
const IS_ALL = readExtent() === "all";

test.each(TELLINGS.filter(({ isOfCi }) => IS_ALL || !isOfCi))(
  "$name",
  async ({ tell }) => {
    expect(describeFailure(await tell())).toBe("");
  },
  TIMEOUT_MS,
);

test("each scenario has a name of its own", () => {
  const names = TELLINGS.map(({ name }) => name);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});
