/**
 * Reads an object that may not exist.
 * @module
 */
import type { KubeObject, ObjectPath, Resource } from "../kinds/resource.ts";
import type { KubeClient } from "./client.ts";
import { isKubeError } from "./errors.ts";

/**
 * Reads one object.
 *
 * @returns `undefined` if the API server says that it does not exist
 * @throws {KubeError} for any other answer: then it is not known whether it exists
 */
export async function readIfPresent<T extends KubeObject>(
  client: Pick<KubeClient, "read">,
  resource: Resource<T>,
  path: ObjectPath,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await client.read(resource, path, signal);
  } catch (error) {
    if (isKubeError(error, "notFound")) return undefined;
    throw error;
  }
}
