/**
 * Scenarios as tests. Each group has a file of its own, so that groups run at the same time.
 * @module
 */
import { expect, test } from "bun:test";
import { isOfTurn, readExtent } from "../../support/extent.ts";
import { describeFailure } from "../ending.ts";
import type { Telling } from "./scenario.ts";

/** Of one scenario with all its crash points, on a busy machine. After one cut off, no other can start. */
const TIMEOUT_MS = 300_000;

/** On a developer's machine, one of so many is told. */
const SHARE = 40;

/** Defines the tests of a group: all of them in CI, else a share of those that are not of CI alone. */
export function tellAll(tellings: readonly Telling[]): void {
  const usual = tellings.filter(({ isOfCi }) => !isOfCi);
  const some = usual.filter((_one, at) => isOfTurn(at, SHARE));
  test.each(readExtent() === "all" ? tellings : some)(
    "$name",
    async ({ tell }) => {
      expect(describeFailure(await tell())).toBe("");
    },
    TIMEOUT_MS,
  );

  test("each scenario has a name of its own", () => {
    const names = tellings.map(({ name }) => name);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });
}
