/**
 * The chart as an OCI artifact.
 * @module
 */
import { expect, test } from "bun:test";
import { createChart, createChartLayout } from "../../release/chart.ts";
import { VERSION } from "../../lib/cli/version.ts";
import { LayoutReader } from "../support/deploy/layouts.ts";
import { ROOT } from "../support/sources.ts";

const EPOCH = 1_700_000_000;

test("createChartLayout() stores the packed chart as helm push does", async () => {
  const chart = await createChart(ROOT, VERSION, EPOCH);
  const reader = new LayoutReader(await createChartLayout(ROOT, chart, EPOCH));
  const { config, layers, annotations } = reader.readManifest(reader.readRoot(VERSION));
  expect(config.mediaType).toBe("application/vnd.cncf.helm.config.v1+json");
  expect(reader.readJson(config)).toMatchObject({ apiVersion: "v2", name: "landfall" });
  expect(layers.map(({ mediaType }) => mediaType)).toEqual([
    "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
  ]);
  expect(layers.map((layer) => reader.readBlob(layer).equals(chart))).toEqual([true]);
  expect(annotations).toMatchObject({
    "org.opencontainers.image.title": "landfall",
    "org.opencontainers.image.version": VERSION,
  });
  expect(reader.listUnread()).toEqual([]);
});

test("createChart() refuses a chart of another version than the program", async () => {
  await expect(createChart(ROOT, "9.9.9", EPOCH)).rejects.toThrow("run npm run deploy");
});
