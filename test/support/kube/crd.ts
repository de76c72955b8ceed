/**
 * CustomResourceDefinitions for tests on a real API server.
 * @module
 */
import type { CustomKind } from "../../../lib/simulator/kubernetes/mod.ts";

/** Where CustomResourceDefinitions are. */
export const CRDS_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Where the CustomResourceDefinition of a kind is. */
export function toCrdPath({ apiVersion, plural }: CustomKind): string {
  return `${CRDS_PATH}/${plural}.${apiVersion.split("/")[0]}`;
}

/** A CustomResourceDefinition with a status and without rules about fields. */
export function toCrd({ apiVersion, kind, plural, namespaced }: CustomKind): object {
  const [group, name] = apiVersion.split("/");
  const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const version = { name, served: true, storage: true, schema: { openAPIV3Schema } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? "Namespaced" : "Cluster",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ ...version, subresources: { status: {} } }],
    },
  };
}
