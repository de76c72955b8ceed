/**
 * The Helm chart as an archive, and as an OCI artifact for registries.
 * @module
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { parse } from "yaml";
import { type ArchiveFile, createArchive, readFolder } from "./archive.ts";
import { Layout, MEDIA_TYPES } from "./oci.ts";

const About = v.looseObject({
  name: v.string(),
  version: v.string(),
  appVersion: v.string(),
  description: v.string(),
});

/** Packs the chart as `helm package` does: all files below the chart's name. */
export async function createChart(
  root: string,
  version: string,
  epochSeconds: number,
): Promise<Buffer> {
  const about = await readAbout(root);
  for (const key of ["version", "appVersion"] as const) {
    if (about[key] !== version) {
      throw new Error(`${key} in Chart.yaml is not that of package.json: run npm run deploy`);
    }
  }
  const files = await readFolder(join(root, "deploy", "chart"), about.name);
  return createArchive(files, epochSeconds);
}

/**
 * The layout of a packed chart, as `helm push` stores it in a registry.
 *
 * https://helm.sh/docs/topics/registries/#helm-chart-manifest
 */
export async function createChartLayout(
  root: string,
  chart: Buffer,
  epochSeconds: number,
): Promise<ArchiveFile[]> {
  const about = await readAbout(root);
  const layout = new Layout();
  const manifest = layout.addJson(MEDIA_TYPES.manifest, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: layout.addJson("application/vnd.cncf.helm.config.v1+json", about),
    layers: [layout.add("application/vnd.cncf.helm.chart.content.v1.tar+gzip", chart)],
    annotations: {
      "org.opencontainers.image.created": new Date(epochSeconds * 1_000).toISOString(),
      "org.opencontainers.image.description": about.description,
      "org.opencontainers.image.title": about.name,
      "org.opencontainers.image.version": about.version,
    },
  });
  return layout.finish(manifest, about.version);
}

async function readAbout(root: string): Promise<v.InferOutput<typeof About>> {
  const path = join(root, "deploy", "chart", "Chart.yaml");
  return v.parse(About, parse(await readFile(path, "utf8")));
}
