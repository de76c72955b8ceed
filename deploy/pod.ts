/**
 * The pod that every way to run Landfall in a cluster starts.
 * @module
 */
import type { Comments } from "./yaml.ts";
import {
  CLOUD_ARGS,
  CONFIG_FOLDER,
  CONFIG_SECRET,
  CONTROLLERS,
  IMAGE,
  LEASE,
  NAME,
  NONROOT,
  SECURE_PORT,
  SELECTOR,
  VERBOSITY,
} from "./names.ts";

/** A piece of an object. */
export type Piece = Readonly<Record<string, unknown>>;

/** What starts the pods. */
export type WorkloadKind = "DaemonSet" | "Deployment";

/** Arguments that do not depend on where the settings are. */
export const COMMON_ARGS: readonly string[] = [
  `--controllers=${CONTROLLERS.join(",")}`,
  `--leader-elect-resource-name=${LEASE.name}`,
  `--secure-port=${SECURE_PORT}`,
  "--debug-address=127.0.0.1:10260",
  `--v=${VERBOSITY}`,
];

/** Measured: see `resources` in {@linkcode POD_COMMENTS}. */
export const RESOURCES = {
  requests: { cpu: "10m", memory: "64Mi" },
  limits: { memory: "256Mi" },
} as const;

/** Of the pod: no root, files of the Secret are the group's. */
export const POD_SECURITY: Piece = {
  runAsNonRoot: true,
  runAsUser: NONROOT,
  runAsGroup: NONROOT,
  fsGroup: NONROOT,
  fsGroupChangePolicy: "OnRootMismatch",
  seccompProfile: { type: "RuntimeDefault" },
};

/** Of the container: nothing that a program needs which only talks to two servers. */
export const SECURITY = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
} as const;

/** What the Nodes have that wait for Landfall, and those where it belongs. */
export const TOLERATIONS: readonly Piece[] = [
  { key: "node.cloudprovider.kubernetes.io/uninitialized", operator: "Exists" },
  { key: "node.kubernetes.io/not-ready", operator: "Exists" },
  { key: "node-role.kubernetes.io/control-plane", operator: "Exists", effect: "NoSchedule" },
  { key: "node-role.kubernetes.io/master", operator: "Exists", effect: "NoSchedule" },
];

/** One on each Node. The selector of the pods is added. */
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

/** A Deployment: rather on control planes, and rather on different hosts of the cloud. */
const DEPLOYMENT_AFFINITY: Piece = {
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
          labelSelector: { matchLabels: SELECTOR },
        },
      },
    ],
  },
};

/** A DaemonSet: on control planes alone. */
const DAEMON_SET_AFFINITY: Piece = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [ON_CONTROL_PLANES] },
  },
};

/** The container. */
export function createContainer(args: readonly string[], volumeMount: Piece): Piece {
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
    volumeMounts: [volumeMount],
  };
}

/** The pod of Deployment and DaemonSet. */
export function createPodSpec(kind: WorkloadKind): Piece {
  const volumeMount = { name: "config", mountPath: CONFIG_FOLDER, readOnly: true };
  const placement =
    kind === "DaemonSet"
      ? { affinity: DAEMON_SET_AFFINITY }
      : {
          affinity: DEPLOYMENT_AFFINITY,
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
    containers: [createContainer([...CLOUD_ARGS, ...COMMON_ARGS], volumeMount)],
    volumes: [
      { name: "config", secret: { secretName: CONFIG_SECRET.name, defaultMode: SECRET_MODE } },
    ],
  };
}

/** `0440`, which YAML has no safe way to write. */
export const SECRET_MODE = 288;

/** Why things are as they are; paths from the pod's `spec`. */
export const POD_COMMENTS: Comments = {
  terminationGracePeriodSeconds: "Work ends within 10 s of SIGTERM; then the Lease is given back.",
  hostNetwork:
    "Nodes stay NotReady until the pod network runs, and the pod network may wait for Landfall: the\n" +
    "host's network and its name servers are there before both.",
  "containers.0.image": "The one place in this file that names the image.",
  "containers.0.args.4":
    "The Lease of the Go controller for Xen Orchestra: while it leads, Landfall waits.",
  "containers.0.resources":
    "Measured: 53 MiB without Nodes, 63 MiB with 1,000, 84 MiB with 5,000, with 96 MiB on the way and\n" +
    "up to 135 MiB while several look at the debug pages; less than 10m at rest.\n" +
    "No CPU limit: throttling would delay the renewal of the Lease, and save nothing.",
};

/** With the version that the API server would add: one manager owns a reference as a whole, its defaults included. */
function toDownward(name: string, fieldPath: string): Piece {
  return { name, valueFrom: { fieldRef: { apiVersion: "v1", fieldPath } } };
}

function toProbe(path: string, timing: Piece): Piece {
  return { httpGet: { path, port: SECURE_PORT, scheme: "HTTPS" }, timeoutSeconds: 5, ...timing };
}
