/**
 * The samples in deploy/manifests/vino/samples.
 * @module
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Manifest, readManifests } from "../deploy/deploy_tools.ts";
import { ROOT } from "../sources.ts";

/** Names of the samples. */
export const VINO_SAMPLES = ["cluster", "tenant", "all-fields"] as const;

/** The file of a sample. */
export function toVinoSamplePath(name: (typeof VINO_SAMPLES)[number]): string {
  return join(ROOT, "deploy/manifests/vino/samples", `${name}.yaml`);
}

/** The objects of a sample. */
export async function readVinoSample(name: (typeof VINO_SAMPLES)[number]): Promise<Manifest[]> {
  return readManifests(await readFile(toVinoSamplePath(name), "utf8"));
}
