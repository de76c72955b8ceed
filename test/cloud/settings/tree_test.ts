/**
 * The settings as a tree.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { SettingDescription } from "../../../lib/cloud/provider_definition.ts";
import { type SettingTree, toSettingTree } from "../../../lib/cloud/settings/tree.ts";

const setting = (path: string): SettingDescription => ({
  path,
  form: "string",
  type: "text",
  description: "Some.",
});

/** Keys with the keys below them, and with `!` when a row describes them. */
function show(tree: SettingTree): object {
  return Object.fromEntries(
    [...tree].map(([key, { setting: row, children }]) => [row ? `${key}!` : key, show(children)]),
  );
}

describe("toSettingTree()", () => {
  test("puts keys below the block or list that holds them", () => {
    const paths = ["url", "addresses.exclude", "addresses.network", "instances", "instances.id"];
    expect(show(toSettingTree(paths.map(setting)))).toEqual({
      "url!": {},
      addresses: { "exclude!": {}, "network!": {} },
      "instances!": { "id!": {} },
    });
  });

  test("of no settings is empty", () => {
    expect(toSettingTree([]).size).toBe(0);
  });
});
