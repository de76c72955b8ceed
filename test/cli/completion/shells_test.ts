import { expect, test } from "bun:test";
import { listForms, listValues } from "../../../lib/cli/completion/shells.ts";
import { COMPLETED } from "../../support/completed.ts";

const [run, show] = COMPLETED;
const flags = [...(run?.flags ?? []), ...(show?.flags ?? [])];

test("listForms() has what can be typed", () => {
  expect(flags.map((flag) => listForms(flag).join(" "))).toEqual([
    "--log",
    "--output -o",
    "--once",
    "--file",
    "-v",
  ]);
});

test("listValues() has the choices, else suggestions", () => {
  expect(flags.map((flag) => listValues(flag).join(" "))).toEqual([
    "loud",
    "text json",
    "",
    "",
    "",
  ]);
});
