/**
 * The reference pages against the program.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { listOutdatedPages } from "../docs/generate.ts";
import { toTable } from "../docs/markdown.ts";
import { renderPages } from "../docs/pages.ts";
import { FLAGS } from "../lib/cli/flag_table.ts";
import { listSources, readSource } from "./support/sources.ts";

describe("docs/reference", () => {
  test("docs/reference is up to date; else run npm run docs", async () => {
    expect(await listOutdatedPages()).toEqual([]);
  });

  test("docs/reference/flags.md has every flag", () => {
    const page = renderPages().get("flags.md") ?? "";
    expect(FLAGS.filter(({ name }) => !page.includes(`\`--${name}`))).toEqual([]);
  });

  test("docs/reference/metrics.md has every metric that lib registers", async () => {
    const page = renderPages().get("metrics.md") ?? "";
    const names: string[] = [];
    for (const file of await listSources("lib")) {
      const text = await readSource(file);
      const found = text.matchAll(/\.(?:counter|gauge|histogram)\(\{\s*name: "(\w+)"/g);
      names.push(...[...found].map(([, name = ""]) => name));
    }
    expect(names.length).toBeGreaterThan(15);
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

test("toTable() keeps a cell in its cell", () => {
  expect(toTable(["a"], [["x | y\n z"]])).toBe("| a        |\n| -------- |\n| x \\| y z |\n");
});
