/**
 * The reference pages against the program.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { listOutdatedPages } from "../docs/generate.ts";
import { toTable } from "../docs/markdown.ts";
import { renderPages } from "../docs/pages.ts";
import { FLAGS } from "../lib/cli/flag_table.ts";

describe("docs/reference", () => {
  test("docs/reference is up to date; else run npm run docs", async () => {
    expect(await listOutdatedPages()).toEqual([]);
  });

  test("docs/reference/flags.md has every flag", () => {
    const page = renderPages().get("flags.md") ?? "";
    expect(FLAGS.filter(({ name }) => !page.includes(`\`--${name}`))).toEqual([]);
  });

  test("docs/reference/metrics.md has the metrics of every part", () => {
    const page = renderPages().get("metrics.md") ?? "";
    const wanted = [
      "workqueue_depth",
      "rest_client_requests_total",
      "node_controller_initial_node_sync_delay_seconds",
      "landfall_cloud_requests_total",
      "landfall_inventory_age_seconds",
      "landfall_watch_restarts_total",
    ];
    expect(wanted.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

test("toTable() keeps a cell in its cell", () => {
  expect(toTable(["a"], [["x | y\n z"]])).toBe("| a        |\n| -------- |\n| x \\| y z |\n");
});
