/**
 * What users of the Apache provider for CloudStack have in their cluster, from what its documents and releases say.
 * @module
 */
import type { Manifest } from "./deploy_tools.ts";

const NAME = "cloud-controller-manager";
const ROLE = `system:${NAME}`;
const NAMESPACE = "kube-system";
const RBAC = "rbac.authorization.k8s.io";
const LABELS = { "k8s-app": NAME };

/** Resources by group, each with its verbs. */
const GRANTED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "coordination.k8s.io": { leases: "get create update" },
  "": {
    configmaps: "list watch",
    endpoints: "create get list watch update",
    events: "create patch update",
    nodes: "*",
    "nodes/status": "patch",
    persistentvolumes: "list watch patch",
    pods: "list get",
    serviceaccounts: "create",
    services: "get list patch update watch",
    "services/status": "list patch update watch",
  },
};

/** Its objects, with another image. */
export function createApacheManifest(options: {
  readonly image: string;
  /** Content of its configuration file. */
  readonly cloudConfig: string;
  /** What stands behind the arguments that everybody has. @default {nothing} */
  readonly args?: readonly string[];
}): Manifest[] {
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: toMetadata(NAME) },
    ...createRbac(),
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: toMetadata("cloudstack-secret"),
      data: { "cloud-config": btoa(options.cloudConfig) },
    },
    createDeployment(options),
  ];
}

function toMetadata(name: string) {
  return { name, namespace: NAMESPACE };
}

function createRbac(): Manifest[] {
  const subjects = [{ kind: "ServiceAccount", ...toMetadata(NAME) }];
  const apiVersion = `${RBAC}/v1`;
  const reader = "extension-apiserver-authentication-reader";
  const rules = Object.entries(GRANTED).flatMap(([group, resources]) =>
    Object.entries(resources).map(([resource, verbs]) => ({
      apiGroups: [group],
      resources: [resource],
      verbs: verbs.split(" "),
    })),
  );
  return [
    { apiVersion, kind: "ClusterRole", metadata: { name: ROLE, labels: LABELS }, rules },
    {
      apiVersion,
      kind: "ClusterRoleBinding",
      metadata: { name: ROLE },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: ROLE },
      subjects,
    },
    {
      apiVersion,
      kind: "RoleBinding",
      metadata: toMetadata(`${ROLE}:${reader}`),
      roleRef: { apiGroup: RBAC, kind: "Role", name: reader },
      subjects,
    },
  ];
}

function createDeployment({
  image,
  args = [],
}: {
  readonly image: string;
  readonly args?: readonly string[];
}): Manifest {
  const [volume, folder] = ["settings", "/config"];
  const container = {
    name: NAME,
    image,
    args: [
      "--leader-elect=true",
      "--cloud-provider=external-cloudstack",
      `--cloud-config=${folder}/cloud-config`,
      ...args,
    ],
    resources: {
      requests: { cpu: "10m", memory: "60Mi" },
      limits: { cpu: "50m", memory: "120Mi" },
    },
    volumeMounts: [{ name: volume, mountPath: folder, readOnly: true }],
  };
  const taint = {
    key: "node.cloudprovider.kubernetes.io/uninitialized",
    value: "true",
    effect: "NoSchedule",
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { ...toMetadata(NAME), labels: LABELS },
    spec: {
      replicas: 1,
      selector: { matchLabels: LABELS },
      strategy: {
        type: "RollingUpdate",
        rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" },
      },
      template: {
        metadata: { labels: LABELS },
        spec: {
          serviceAccountName: NAME,
          terminationGracePeriodSeconds: 30,
          tolerations: [taint],
          containers: [container],
          volumes: [{ name: volume, secret: { secretName: "cloudstack-secret" } }],
        },
      },
    },
  };
}
