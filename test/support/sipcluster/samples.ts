/**
 * The samples in deploy/manifests/sipcluster/samples.
 * @module
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Manifest, readManifests } from "../deploy/deploy_tools.ts";
import { ROOT } from "../sources.ts";

/** Names of the samples, in an order in which they can be applied. */
export const SAMPLES = ["hosts", "cluster", "tenant", "all-fields"] as const;

/** The file of a sample. */
export function toSamplePath(name: (typeof SAMPLES)[number]): string {
  return join(ROOT, "deploy/manifests/sipcluster/samples", `${name}.yaml`);
}

/** The objects of a sample. */
export async function readSample(name: (typeof SAMPLES)[number]): Promise<Manifest[]> {
  return readManifests(await readFile(toSamplePath(name), "utf8"));
}
