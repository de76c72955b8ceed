/**
 * What an administrator applies so that Landfall may make machines in a namespace.
 * @module
 */

/** The RoleBinding of the guide. */
export function toTenantBinding(namespace: string): object {
  const name = "landfall-vino-tenant";
  const group = "rbac.authorization.k8s.io";
  return {
    apiVersion: `${group}/v1`,
    kind: "RoleBinding",
    metadata: { name, namespace },
    roleRef: { apiGroup: group, kind: "ClusterRole", name },
    subjects: [{ kind: "ServiceAccount", name: "landfall-vino", namespace: "kube-system" }],
  };
}
