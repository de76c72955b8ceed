/**
 * Samples of a controller's kinds, in the folder `samples` of its manifests.
 * @module
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Manifest, readManifests } from "../deploy/deploy_tools.ts";
import { ROOT } from "../sources.ts";

/** The samples of a controller. */
interface Samples<Name extends string> {
  /** In an order in which they can be applied. */
  readonly names: readonly Name[];
  /** The file of a sample. */
  toPath(name: Name): string;
  /** The objects of a sample. */
  read(name: Name): Promise<Manifest[]>;
}

/** Samples of SIPClusters. */
export const SIP_CLUSTER_SAMPLES: Samples<"all-fields" | "cluster" | "hosts" | "tenant"> =
  createSamples("sipcluster", ["hosts", "cluster", "tenant", "all-fields"]);
/** Samples of Vinos and IPPools. */
export const VINO_SAMPLES: Samples<"all-fields" | "cluster" | "tenant"> = createSamples("vino", [
  "cluster",
  "tenant",
  "all-fields",
]);

function createSamples<Name extends string>(
  controller: string,
  names: readonly Name[],
): Samples<Name> {
  const toPath = (name: Name): string =>
    join(ROOT, "deploy/manifests", controller, "samples", `${name}.yaml`);
  return {
    names,
    toPath,
    read: async (name) => readManifests(await readFile(toPath(name), "utf8")),
  };
}
