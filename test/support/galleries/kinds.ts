/**
 * What the example controller watches: galleries, a kind of its own, and the ConfigMaps that name one.
 * @module
 */
import type { Kind, KubeObject } from "../../../lib/kube/kinds/resource.ts";

/** A gallery: what hangs in it is said by ConfigMaps. */
export interface Gallery extends KubeObject {
  readonly spec?: { readonly paintings?: number };
}

/** A ConfigMap, as far as it is read here. */
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Galleries. */
export const GALLERIES: Kind<Gallery> = {
  apiVersion: "example.org/v1",
  kind: "Gallery",
  plural: "galleries",
  namespaced: true,
  metadata: ["finalizers", "generation"],
};

/** ConfigMaps, with their owners: a catalogue is owned, a painting is not. */
export const CONFIG_MAPS: Kind<ConfigMap> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
  metadata: ["ownerReferences"],
};
