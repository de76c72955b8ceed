/**
 * Namespaces, of which Landfall only reads single ones.
 * @module
 */
import { type KubeClient, readIfPresent } from "../api/client.ts";
import { isKubeError } from "../api/errors.ts";
import type { KubeObject, Resource } from "./resource.ts";

/** Namespaces. */
export const NAMESPACES: Resource<KubeObject> = {
  apiVersion: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
};

/** Whether a namespace is being deleted. Without the right to read it, that is not known, and it counts as staying. */
export async function isNamespaceEnding(
  client: Pick<KubeClient, "read">,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const namespace = await readIfPresent(client, NAMESPACES, { name }, signal);
    return namespace?.metadata.deletionTimestamp !== undefined;
  } catch (error) {
    if (isKubeError(error, "forbidden")) return false;
    throw error;
  }
}
