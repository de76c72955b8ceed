/**
 * The CustomResourceDefinition of BareMetalHosts, as metal3 makes it: an API server with it refuses and drops what it
 * does in a real cluster.
 * @module
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { METAL3_CRDS } from "../../judges/install.ts";
import { type Manifest, readManifests } from "../deploy/deploy_tools.ts";

const FILE = join(METAL3_CRDS.folder, "metal3.io_baremetalhosts.yaml");

/** Reads it. @throws Error if it is not installed */
export async function readBareMetalHostCrd(): Promise<Manifest> {
  const text = await readFile(FILE, "utf8").catch((cause: unknown) => {
    const how = "run `npm run test:cluster`";
    throw new Error(`${METAL3_CRDS.name} are not installed: ${how}`, { cause });
  });
  const [crd] = readManifests(text);
  if (crd === undefined) throw new Error(`${FILE} has no object`);
  return crd;
}

/** A whole status, which metal3 writes and an API server demands. @param state `available`, `provisioned` */
export function toHostStatus(state: string, errorMessage = ""): object {
  return {
    errorCount: errorMessage === "" ? 0 : 1,
    errorMessage,
    operationalStatus: errorMessage === "" ? "OK" : "error",
    poweredOn: true,
    provisioning: { ID: "", state },
  };
}
