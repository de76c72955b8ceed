/**
 * The pod that every way to run Landfall in a cluster starts.
 * @module
 */
import type { Comments } from "./yaml.ts";
import type { Cloud } from "./clouds.ts";
import {
  CONFIG_FOLDER,
  IMAGE,
  type Installed,
  NAME,
  NONROOT,
  SECURE_PORT,
  SELECTOR,
  toCloudArgs,
  toControllers,
  VERBOSITY,
} from "./names.ts";

/** A part of an object. */
export type Piece = Readonly<Record<string, unknown>>;

/** Kind of the object that starts the pods. */
export type WorkloadKind = "DaemonSet" | "Deployment";

/** Arguments of every pod. */
export function toArgs(cloud: Cloud): readonly string[] {
  return [
    ...toCloudArgs(cloud),
    `--controllers=${toControllers(cloud).join(",")}`,
    `--leader-elect-resource-name=${cloud.lease}`,
    ...COMMON_ARGS,
  ];
}

/** Arguments of every pod. */
export const COMMON_ARGS: readonly string[] = [
  `--secure-port=${SECURE_PORT}`,
  "--debug-address=127.0.0.1:10260",
  `--v=${VERBOSITY}`,
];

/** Measured: see `resources` in {@linkcode POD_COMMENTS}. */
export const RESOURCES = {
  requests: { cpu: "10m", memory: "64Mi" },
  limits: { memory: "256Mi" },
} as const;

/** Security context of the pod: not root; the group may read the files of the Secret. */
export const POD_SECURITY: Piece = {
  runAsNonRoot: true,
  runAsUser: NONROOT,
  runAsGroup: NONROOT,
  fsGroup: NONROOT,
  fsGroupChangePolicy: "OnRootMismatch",
  seccompProfile: { type: "RuntimeDefault" },
};

/** Security context of the container: no privileges at all. */
export const SECURITY = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
} as const;

/** Taints of new Nodes, which wait for Landfall, and of control planes in common distributions. */
export const TOLERATIONS: readonly Piece[] = [
  { key: "node.cloudprovider.kubernetes.io/uninitialized", operator: "Exists" },
  { key: "node.cluster.x-k8s.io/uninitialized", operator: "Exists" },
  { key: "node.kubernetes.io/not-ready", operator: "Exists" },
  { key: "node-role.kubernetes.io/control-plane", operator: "Exists", effect: "NoSchedule" },
  { key: "node-role.kubernetes.io/master", operator: "Exists", effect: "NoSchedule" },
  { key: "node-role.kubernetes.io/etcd", operator: "Exists", effect: "NoExecute" },
  { key: "CriticalAddonsOnly", operator: "Exists" },
];

/** One pod on each Node. Callers add the selector of the pods. */
export const SPREAD: readonly Piece[] = [
  {
    maxSkew: 1,
    topologyKey: "kubernetes.io/hostname",
    whenUnsatisfiable: "DoNotSchedule",
    nodeTaintsPolicy: "Honor",
  },
];

const ON_CONTROL_PLANES: Piece = {
  matchExpressions: [{ key: "node-role.kubernetes.io/control-plane", operator: "Exists" }],
};

/** A Deployment prefers control planes, and different zones. */
export function toDeploymentAffinity(selector: Installed["selector"]): Piece {
  return {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 100, preference: ON_CONTROL_PLANES },
      ],
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 50,
          podAffinityTerm: {
            topologyKey: "topology.kubernetes.io/zone",
            labelSelector: { matchLabels: selector },
          },
        },
      ],
    },
  };
}

/** A DaemonSet runs on control planes only. */
const DAEMON_SET_AFFINITY: Piece = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [ON_CONTROL_PLANES] },
  },
};

/** The container. @param volumeMount Absent: it needs no file */
export function createContainer(args: readonly string[], volumeMount?: Piece): Piece {
  return {
    name: NAME,
    image: `${IMAGE.repository}:${IMAGE.tag}`,
    imagePullPolicy: "IfNotPresent",
    args: ["run", ...args],
    env: [
      toDownward("POD_NAME", "metadata.name"),
      toDownward("POD_NAMESPACE", "metadata.namespace"),
      toDownward("POD_UID", "metadata.uid"),
    ],
    ports: [{ name: "https", containerPort: SECURE_PORT, protocol: "TCP" }],
    startupProbe: toProbe("/healthz", { periodSeconds: 2, failureThreshold: 30 }),
    livenessProbe: toProbe("/healthz", { periodSeconds: 10, failureThreshold: 3 }),
    readinessProbe: toProbe("/readyz", { periodSeconds: 5, failureThreshold: 3 }),
    resources: RESOURCES,
    securityContext: SECURITY,
    ...(volumeMount && { volumeMounts: [volumeMount] }),
  };
}

/** Where the container has the settings of the cloud. */
export const CONFIG_MOUNT: Piece = { name: "config", mountPath: CONFIG_FOLDER, readOnly: true };

/** The volume with the settings of the cloud. */
export function createConfigVolume({ secret }: Pick<Cloud, "secret">): Piece {
  return { name: "config", secret: { secretName: secret, defaultMode: SECRET_MODE } };
}

/** The pod of Deployment and DaemonSet. */
export function createPodSpec(kind: WorkloadKind, cloud: Cloud): Piece {
  const placement =
    kind === "DaemonSet"
      ? { affinity: DAEMON_SET_AFFINITY }
      : {
          affinity: toDeploymentAffinity(SELECTOR),
          topologySpreadConstraints: SPREAD.map((one) => ({
            ...one,
            labelSelector: { matchLabels: SELECTOR },
          })),
        };
  return {
    serviceAccountName: NAME,
    automountServiceAccountToken: true,
    priorityClassName: "system-cluster-critical",
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 30,
    hostNetwork: true,
    dnsPolicy: "Default",
    securityContext: POD_SECURITY,
    tolerations: TOLERATIONS,
    ...placement,
    containers: [createContainer(toArgs(cloud), CONFIG_MOUNT)],
    volumes: [createConfigVolume(cloud)],
  };
}

/** `0440` as a decimal number: YAML 1.1 and 1.2 read octal numbers differently. */
const SECRET_MODE = 288;

/** Comments by their paths in the pod's `spec`. */
export const POD_COMMENTS: Comments = {
  terminationGracePeriodSeconds:
    "After SIGTERM, work ends within 10 s. Then Landfall releases the Lease.",
  hostNetwork:
    "Uses the network and DNS servers of the host, because the pod network may not run yet: it may need\n" +
    "Nodes that Landfall has initialized.",
  "containers.0.image":
    "Replace this name with your image, or set it in kustomization.yaml: registry.invalid does not exist.\n" +
    "Build and push the image first: docs/guides/install.md. To pin it, write NAME@sha256:DIGEST.",
  "containers.0.resources":
    "Measured memory: 53 MiB without Nodes, 63 MiB with 1,000, 84 MiB with 5,000 (up to 96 MiB during the\n" +
    "start), up to 135 MiB while several people use the debug pages. Measured CPU when idle: less than 10m.\n" +
    "There is no CPU limit, because throttling would delay the renewal of the Lease.",
};

/**
 * Comments on arguments that differ by cloud.
 *
 * @param before How many arguments a pod has before those of {@linkcode toArgs}
 */
export function toArgComments({ other }: Cloud, before: number): Readonly<Record<string, string>> {
  // They follow the arguments that choose the cloud.
  const at = (index: number): string => `containers.0.args.${before + index}`;
  return {
    [at(3)]: `The Lease of the ${other}. While that controller leads, Landfall waits.`,
  };
}

/** With the `apiVersion` that the API server would add as a default, so that a second `apply` changes nothing. */
function toDownward(name: string, fieldPath: string): Piece {
  return { name, valueFrom: { fieldRef: { apiVersion: "v1", fieldPath } } };
}

function toProbe(path: string, timing: Piece): Piece {
  return { httpGet: { path, port: SECURE_PORT, scheme: "HTTPS" }, timeoutSeconds: 5, ...timing };
}
