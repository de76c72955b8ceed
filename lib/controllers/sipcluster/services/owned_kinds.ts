/**
 * The kinds of objects that the services of a cluster are made of, and the objects as planners write them.
 * @module
 */
import type {
  V1ConfigMap,
  V1DeploymentSpec,
  V1DeploymentStatus,
  V1PodDisruptionBudgetSpec,
  V1PolicyRule,
  V1RoleRef,
  V1ServiceAccount,
  V1ServiceSpec,
} from "@kubernetes/client-node";
import {
  type Kind,
  type KubeObject,
  type ObjectMeta,
  pick,
  type Raw,
  type Resource,
} from "../../../kube/kinds/resource.ts";
import { SIP_CLUSTERS } from "../resource/sip_cluster.ts";
import type { OwnedObject } from "./types.ts";

/** What decides whether a Deployment is available. */
const STATUS_FIELDS = [
  "observedGeneration",
  "replicas",
  "updatedReplicas",
  "availableReplicas",
  "conditions",
] as const;

/** A Deployment: what it is made from, and what of its status says whether it serves. */
export interface Deployment extends KubeObject {
  readonly spec?: Raw<V1DeploymentSpec>;
  readonly status?: Pick<Raw<V1DeploymentStatus>, (typeof STATUS_FIELDS)[number]>;
}
/** A Service, with the node ports that Kubernetes chose. */
export interface OwnedService extends KubeObject {
  readonly spec?: Raw<V1ServiceSpec>;
}
/** A ConfigMap. */
export interface ConfigMap extends KubeObject {
  readonly data?: Raw<V1ConfigMap>["data"];
}
/** A PodDisruptionBudget. */
interface PodDisruptionBudget extends KubeObject {
  readonly spec?: Raw<V1PodDisruptionBudgetSpec>;
}
/** A ServiceAccount. */
interface ServiceAccount extends KubeObject {
  readonly automountServiceAccountToken?: Raw<V1ServiceAccount>["automountServiceAccountToken"];
}
/** A Role. */
interface Role extends KubeObject {
  readonly rules?: readonly Raw<V1PolicyRule>[];
}
/** A RoleBinding. */
interface RoleBinding extends KubeObject {
  readonly roleRef?: Raw<V1RoleRef>;
  readonly subjects?: readonly {
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
  }[];
}

/** Deployments, without what only other programs read of their status. */
export const DEPLOYMENTS: Kind<Deployment> = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
  metadata: ["ownerReferences", "generation"],
  isRead: isOfSipCluster,
  keep: ({ status }) => ({ status: pick(status ?? {}, STATUS_FIELDS) }),
};

/** Services with their whole `spec`, which is compared with what is wanted. */
export const OWNED_SERVICES: Kind<OwnedService> = {
  apiVersion: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
  metadata: ["ownerReferences"],
  isRead: isOfSipCluster,
};

/** ConfigMaps, with the data of those that a SIPCluster owns. */
export const CONFIG_MAPS: Kind<ConfigMap> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
  metadata: ["ownerReferences"],
  isRead: isOfSipCluster,
};

/** ConfigMaps of users, with their data. */
export const TEMPLATES: Kind<ConfigMap> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

/** Whether an object names a SIPCluster as its owner. Users may write others with the label, with any content. */
function isOfSipCluster({ metadata: { ownerReferences } }: KubeObject): boolean {
  return ownerReferences?.some(({ kind }) => kind === SIP_CLUSTERS.kind) === true;
}

/** PodDisruptionBudgets. */
export const POD_DISRUPTION_BUDGETS: Resource<PodDisruptionBudget> = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
};
/** ServiceAccounts. */
export const SERVICE_ACCOUNTS: Resource<ServiceAccount> = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
};
/** Roles. */
export const ROLES: Resource<Role> = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "Role",
  plural: "roles",
  namespaced: true,
};
/** RoleBindings. */
export const ROLE_BINDINGS: Resource<RoleBinding> = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "RoleBinding",
  plural: "rolebindings",
  namespaced: true,
};

/** Writes an object of a kind, with `apiVersion` and `kind` in front. */
export function toOwned<T extends KubeObject>(
  resource: Resource<T>,
  metadata: ObjectMeta,
  fields: Omit<T, keyof KubeObject>,
): OwnedObject {
  const { apiVersion, kind, plural } = resource;
  const body: KubeObject = { apiVersion, kind, metadata, ...fields };
  return { resource: { apiVersion, kind, plural, namespaced: resource.namespaced }, body };
}
