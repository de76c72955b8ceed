/**
 * The objects of the plain manifests.
 * @module
 */
import type { Cloud } from "./clouds.ts";
import {
  INSTALLED,
  type Installed,
  LABELS,
  NAME,
  NAMESPACE,
  type ScopedPolicy,
  SECURE_PORT,
  SELECTOR,
} from "./names.ts";
import { createPodSpec, type Piece, type WorkloadKind } from "./pod.ts";

/** The subject that gets the rights. */
type Subject = { readonly kind: "ServiceAccount" | "User"; readonly name: string };

/** The user of a kubeconfig, for example the CN of its client certificate. */
export const USER: Subject = { kind: "User", name: NAME };

const RBAC_GROUP = "rbac.authorization.k8s.io";

/** The service account of the pods. */
export function createServiceAccount({ name, labels }: Installed = INSTALLED): Piece {
  return {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name, labels, namespace: NAMESPACE },
    automountServiceAccountToken: false,
  };
}

/** What {@linkcode createRbac} grants. */
export interface Grant {
  /** Name of its objects. Each way to install uses its own, so that removing one keeps the others working. */
  readonly name: string;
  readonly policy: ScopedPolicy;
  /** @default {those of an installation for a cloud} */
  readonly labels?: Installed["labels"];
}

const apiVersion = `${RBAC_GROUP}/v1`;

/** Names of the ClusterRoles that are bound where an administrator says. @param name {@linkcode Grant.name} */
export function toScopedNames(name: string): { readonly tenants: string; readonly hosts: string } {
  return { tenants: `${name}-tenant`, hosts: `${name}-hosts` };
}

/** Binds a ClusterRole in a namespace, or everywhere. */
export function createBinding(
  subject: Subject,
  role: string,
  { namespace, labels }: { readonly namespace?: string; readonly labels: Installed["labels"] },
): Piece {
  return {
    apiVersion,
    kind: namespace === undefined ? "ClusterRoleBinding" : "RoleBinding",
    metadata: { name: role, labels, ...(namespace !== undefined && { namespace }) },
    roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: role },
    subjects: [toSubject(subject)],
  };
}

function toSubject(subject: Subject): Piece {
  const isUser = subject.kind === "User";
  return isUser ? { ...subject, apiGroup: RBAC_GROUP } : { ...subject, namespace: NAMESPACE };
}

/** ClusterRole, Role and their bindings; and ClusterRoles that an administrator binds where tenants and hosts are. */
export function createRbac(subject: Subject, { name, policy, labels = LABELS }: Grant): Piece[] {
  const namespace = NAMESPACE;
  const metadata = { name, labels };
  const names = toScopedNames(name);
  return [
    {
      apiVersion,
      kind: "ClusterRole",
      metadata,
      rules: policy.clusterRules,
    },
    createBinding(subject, name, { labels }),
    ...(["tenants", "hosts"] as const)
      .filter((scope) => policy[scope].length > 0)
      .map((scope) => ({
        apiVersion,
        kind: "ClusterRole",
        metadata: { name: names[scope], labels },
        rules: policy[scope],
      })),
    {
      apiVersion,
      kind: "Role",
      metadata: { ...metadata, namespace },
      rules: policy.rules.get(namespace) ?? [],
    },
    {
      apiVersion,
      kind: "RoleBinding",
      metadata: { ...metadata, namespace },
      roleRef: { apiGroup: RBAC_GROUP, kind: "Role", name },
      subjects: [toSubject(subject)],
    },
  ];
}

/**
 * Returns how many pods an update may stop at once. All pods use the same host port, so a Node has room for one.
 *
 * A DaemonSet replaces one pod at a time. A Deployment on a single Node has one pod that runs and one that stays
 * Pending: an update only ends if the running one may stop.
 */
const MAX_UNAVAILABLE: Readonly<Record<WorkloadKind, number | string>> = {
  DaemonSet: 1,
  Deployment: "100%",
};

/** Creates the DaemonSet or the Deployment. */
export function createWorkload(kind: WorkloadKind, cloud: Cloud): Piece {
  const rollingUpdate = { maxSurge: 0, maxUnavailable: MAX_UNAVAILABLE[kind] };
  const strategy = { type: "RollingUpdate", rollingUpdate };
  return {
    apiVersion: "apps/v1",
    kind,
    metadata: { ...toMetadata(NAME), namespace: NAMESPACE },
    spec: {
      ...(kind === "Deployment"
        ? { replicas: 2, revisionHistoryLimit: 3, strategy }
        : { revisionHistoryLimit: 3, updateStrategy: strategy }),
      selector: { matchLabels: SELECTOR },
      template: { metadata: { labels: LABELS }, spec: createPodSpec(kind, cloud) },
    },
  };
}

/** A headless Service, because Prometheus scrapes each pod. */
export function createService({ name, labels, selector }: Installed = INSTALLED): Piece {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, labels, namespace: NAMESPACE },
    spec: {
      clusterIP: "None",
      selector,
      ports: [{ name: "https", port: SECURE_PORT, targetPort: "https", protocol: "TCP" }],
    },
  };
}

/** An example of the settings of the cloud, for users to complete. */
export function createSecretExample(
  { secret, file, example }: Cloud,
  { labels }: Installed = INSTALLED,
): Piece {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: secret, labels, namespace: NAMESPACE },
    type: "Opaque",
    stringData: { [file]: example },
  };
}

function toMetadata(name: string): { readonly name: string; readonly labels: Piece } {
  return { name, labels: LABELS };
}
