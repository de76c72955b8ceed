/**
 * The objects that a cluster begins with.
 * @module
 */
import type { JsonObject } from "./patches/json.ts";

/** What every cluster has from its start. */
export const FIRST_OBJECTS: readonly JsonObject[] = [
  ...["default", "kube-system", "kube-public", "kube-node-lease"].map((name) => ({
    kind: "Namespace",
    metadata: { name, namespace: "" },
    status: { phase: "Active" },
  })),
  {
    kind: "Service",
    metadata: {
      name: "kubernetes",
      namespace: "default",
      labels: { component: "apiserver", provider: "kubernetes" },
    },
    spec: { ports: [{ name: "https", port: 443, targetPort: 6443 }] },
  },
];
