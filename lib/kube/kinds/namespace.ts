/**
 * Namespaces, of which Landfall only reads the UID of one.
 * @module
 */
import type { KubeObject, Resource } from "./resource.ts";

/** Namespaces. */
export const NAMESPACES: Resource<KubeObject> = {
  apiVersion: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
};
