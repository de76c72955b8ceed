/**
 * Whether the API server serves a kind: a CustomResourceDefinition may be installed later, and may be removed.
 * Source: https://kubernetes.io/docs/concepts/overview/kubernetes-api/#unaggregated-discovery
 * @module
 */
import type { KubeClient } from "../api/client.ts";
import { KubeError } from "../api/errors.ts";
import type { KubeObject, Resource } from "../kinds/resource.ts";
import { type Fields, isFields } from "../../core/text/values.ts";

/**
 * Whether a kind is served.
 *
 * - `served`: in the requested version
 * - `otherVersion`: in other versions only. Its objects may exist
 * - `missing`: in no version, so it has no objects
 */
export type Serving = "served" | "otherVersion" | "missing";

/**
 * Reads the lists of served kinds from the API server. A 404 proves nothing: for an unknown group, the API server
 * answers like any other server.
 *
 * @throws {KubeError} when a list cannot be read, which proves nothing about the kind; `signal.reason`
 */
export async function findServing(
  client: KubeClient,
  { apiVersion, plural }: Resource<KubeObject>,
  signal: AbortSignal,
): Promise<Serving> {
  const [group = "", version] = apiVersion.split("/");
  // The core group always exists.
  if (version === undefined) return "served";
  const ask = async (path: string, list: string): Promise<Fields[]> =>
    readEntries(await client.get(path, signal), list, path);
  const groups = await ask("/apis", "groups");
  const versions = groups
    .filter(({ name }) => name === group)
    .flatMap((found) => readEntries(found, "versions", "/apis"))
    .map(({ groupVersion }) => String(groupVersion));
  const serving: string[] = [];
  for (const one of versions) {
    const resources = await ask(`/apis/${one}`, "resources");
    if (resources.some(({ name }) => name === plural)) serving.push(one);
  }
  if (serving.includes(apiVersion)) return "served";
  return serving.length > 0 ? "otherVersion" : "missing";
}

/** The entries of a list in a reply of the API server. A proxy on the way may answer anything. */
function readEntries(value: unknown, list: string, path: string): Fields[] {
  const entries: unknown = isFields(value) ? value[list] : undefined;
  if (Array.isArray(entries) && entries.every(isFields)) return entries;
  throw new KubeError("unavailable", `Cannot get "${path}": the answer has no ${list}`);
}
