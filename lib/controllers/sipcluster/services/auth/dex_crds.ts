/**
 * The CustomResourceDefinitions of Dex. Only what writes manifests loads them.
 * @module
 */
import type { ProgramKinds } from "../../../definition.ts";
import { DEX_GROUP, DEX_KINDS, DEX_VERSION } from "./words.ts";

/** The kinds in which Dex keeps its state. It checks them itself, so their schema takes every field. */
export const DEX_PROGRAM_KINDS: ProgramKinds = {
  file: "dex_crds.yaml",
  about:
    "The kinds in which Dex, the OIDC provider of spec.services.auth, keeps its state. Apply them once if a " +
    "SIPCluster has such a provider: Dex itself gets no right to create them.",
  crds: Object.entries(DEX_KINDS).map(([plural, kind]) => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${DEX_GROUP}` },
    spec: {
      group: DEX_GROUP,
      scope: "Namespaced",
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: DEX_VERSION,
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          },
        },
      ],
    },
  })),
};
