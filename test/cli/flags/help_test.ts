/**
 * The text of `--help`.
 * @module
 */
import { expect, test } from "bun:test";
import { FLAGS } from "../../../lib/cli/flags/table.ts";
import { formatFlagHelp, formatHelp } from "../../../lib/cli/flags/help.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { galleryController } from "../../support/galleries/definition.ts";

test("formatFlagHelp() has one line for each flag that applies, and no other", () => {
  const applied = FLAGS.filter(({ effect }) => effect === "applies");
  const lines = formatFlagHelp().trimEnd().split("\n");
  expect(lines).toHaveLength(applied.length);
  applied.forEach(({ name, help }, at) => {
    expect(lines[at]).toContain(`--${name}`);
    expect(lines[at]).toEndWith(help);
  });
});

test("formatHelp() names the controllers that --controllers takes, and none that Landfall lacks", () => {
  const last = formatHelp([...CONTROLLERS, galleryController])
    .trimEnd()
    .split("\n")
    .at(-1);
  for (const { name } of [...CONTROLLERS, galleryController]) expect(last).toContain(name);
  expect(last).not.toContain("route");
});
