/**
 * The text of `--help`.
 * @module
 */
import { expect, test } from "bun:test";
import { FLAGS } from "../../../lib/cli/flags/table.ts";
import { formatFlagHelp } from "../../../lib/cli/flags/help.ts";

test("formatFlagHelp() has one line for each flag that applies, and no other", () => {
  const applied = FLAGS.filter(({ effect }) => effect === "applies");
  const lines = formatFlagHelp().trimEnd().split("\n");
  expect(lines).toHaveLength(applied.length);
  applied.forEach(({ name, help }, at) => {
    expect(lines[at]).toContain(`--${name}`);
    expect(lines[at]).toEndWith(help);
  });
});
