/**
 * The kinds that the simulated API server serves, with their fields.
 * @module
 */
import { define, type Kind } from "./kind.ts";
import { type Field, listOf, mapOf, mergedBy, record, type RecordField } from "./schema.ts";

const CONFIG_MAP_SOURCE = record({
  configMap: record({
    namespace: "text",
    name: "text",
    uid: "text",
    resourceVersion: "text",
    kubeletConfigKey: "text",
  }),
});

/** `spec` and `status` of a Node. Addresses and conditions merge by type, taints are replaced whole. */
const NODE_FIELDS: Readonly<Record<string, Field>> = {
  spec: record({
    podCIDR: "text",
    podCIDRs: { items: "text", set: true },
    providerID: "text",
    unschedulable: "flag",
    taints: listOf(record({ key: "pointer", value: "text", effect: "pointer", timeAdded: "time" })),
    configSource: CONFIG_MAP_SOURCE,
    externalID: "text",
  }),
  status: record({
    capacity: mapOf("quantity"),
    allocatable: mapOf("quantity"),
    phase: "text",
    conditions: mergedBy(
      "type",
      record({
        type: "pointer",
        status: "pointer",
        lastHeartbeatTime: "time",
        lastTransitionTime: "time",
        reason: "text",
        message: "text",
      }),
    ),
    addresses: mergedBy("type", record({ type: "pointer", address: "pointer" })),
    daemonEndpoints: record({ kubeletEndpoint: record({ Port: "integer" }) }),
    nodeInfo: record({
      machineID: "pointer",
      systemUUID: "pointer",
      bootID: "pointer",
      kernelVersion: "pointer",
      osImage: "pointer",
      containerRuntimeVersion: "pointer",
      kubeletVersion: "pointer",
      kubeProxyVersion: "pointer",
      operatingSystem: "pointer",
      architecture: "pointer",
      swap: record({ capacity: "integer" }),
    }),
    images: listOf(record({ names: listOf("pointer"), sizeBytes: "integer" })),
    volumesInUse: listOf("pointer"),
    volumesAttached: listOf(record({ name: "pointer", devicePath: "pointer" })),
    config: "any",
    runtimeHandlers: listOf("any"),
    features: record({ supplementalGroupsPolicy: "any" }),
  }),
};

const CONDITION = record({
  type: "pointer",
  status: "pointer",
  observedGeneration: "integer",
  lastTransitionTime: "time",
  reason: "pointer",
  message: "pointer",
});

const PORT = record({
  name: "text",
  protocol: "text",
  appProtocol: "pointer",
  port: "integer",
  targetPort: "portOrName",
  nodePort: "integer",
});

const INGRESS = record({
  ip: "text",
  ipMode: "pointer",
  hostname: "text",
  ports: listOf(record({ port: "integer", protocol: "pointer", error: "pointer" })),
});

/** `spec` and `status` of a Service. Ports merge by their number; the ingress is replaced whole. */
const SERVICE_FIELDS: Readonly<Record<string, Field>> = {
  spec: record({
    ports: mergedBy("port", PORT),
    selector: mapOf("pointer"),
    clusterIP: "text",
    clusterIPs: listOf("pointer"),
    type: "text",
    externalIPs: listOf("pointer"),
    sessionAffinity: "text",
    loadBalancerIP: "text",
    loadBalancerSourceRanges: listOf("pointer"),
    externalName: "text",
    externalTrafficPolicy: "text",
    healthCheckNodePort: "integer",
    publishNotReadyAddresses: "flag",
    sessionAffinityConfig: record({ clientIP: record({ timeoutSeconds: "integer" }) }),
    ipFamilies: listOf("pointer"),
    ipFamilyPolicy: "pointer",
    allocateLoadBalancerNodePorts: "switch",
    loadBalancerClass: "pointer",
    internalTrafficPolicy: "pointer",
    trafficDistribution: "pointer",
  }),
  status: record({
    loadBalancer: record({ ingress: listOf(INGRESS) }),
    conditions: mergedBy("type", CONDITION),
  }),
};

/** Fields that are stored as they come. */
function anyOf(...names: readonly string[]): Readonly<Record<string, Field>> {
  return Object.fromEntries(names.map((name) => [name, "any"]));
}

const PROBES = ["livenessProbe", "readinessProbe", "startupProbe"];

const CONTAINER: RecordField = record({
  name: "pointer",
  image: "text",
  command: listOf("pointer"),
  args: listOf("pointer"),
  workingDir: "text",
  ports: mergedBy(
    "containerPort",
    record({
      name: "text",
      hostPort: "integer",
      containerPort: "integer",
      protocol: "text",
      hostIP: "text",
    }),
  ),
  env: mergedBy("name", record({ name: "pointer", value: "text", valueFrom: "any" })),
  envFrom: listOf("any"),
  volumeMounts: mergedBy(
    "mountPath",
    record({
      name: "pointer",
      readOnly: "flag",
      mountPath: "pointer",
      subPath: "text",
      ...anyOf("mountPropagation", "subPathExpr", "recursiveReadOnly"),
    }),
  ),
  imagePullPolicy: "text",
  terminationMessagePath: "text",
  terminationMessagePolicy: "text",
  stdin: "flag",
  stdinOnce: "flag",
  tty: "flag",
  ...anyOf("lifecycle", "resources", "securityContext", "restartPolicy", "resizePolicy", ...PROBES),
});

const POD_SPEC: RecordField = record({
  volumes: mergedBy("name", "any"),
  initContainers: mergedBy("name", CONTAINER),
  containers: mergedBy("name", CONTAINER),
  restartPolicy: "text",
  terminationGracePeriodSeconds: "integer",
  activeDeadlineSeconds: "integer",
  dnsPolicy: "text",
  nodeSelector: mapOf("pointer"),
  serviceAccountName: "text",
  serviceAccount: "text",
  automountServiceAccountToken: "switch",
  nodeName: "text",
  hostNetwork: "flag",
  hostPID: "flag",
  hostIPC: "flag",
  shareProcessNamespace: "switch",
  imagePullSecrets: mergedBy("name", record({ name: "text" })),
  hostname: "text",
  subdomain: "text",
  schedulerName: "text",
  tolerations: listOf("any"),
  hostAliases: mergedBy("ip", record({ ip: "text", hostnames: listOf("pointer") })),
  priorityClassName: "text",
  priority: "integer",
  runtimeClassName: "pointer",
  enableServiceLinks: "switch",
  topologySpreadConstraints: mergedBy("topologyKey", "any"),
  setHostnameAsFQDN: "switch",
  ...anyOf("securityContext", "affinity", "dnsConfig", "readinessGates", "preemptionPolicy"),
  ...anyOf("overhead", "os", "hostUsers", "ephemeralContainers", "schedulingGates"),
});

const LABEL_SELECTOR: RecordField = record({
  matchLabels: mapOf("pointer"),
  matchExpressions: listOf("any"),
});

/** What a Deployment and a DaemonSet share. */
const WORKLOAD_SPEC: Readonly<Record<string, Field>> = {
  selector: LABEL_SELECTOR,
  template: record({
    metadata: record({
      labels: mapOf("pointer"),
      annotations: mapOf("pointer"),
      ...anyOf("name", "namespace", "creationTimestamp", "finalizers"),
    }),
    spec: POD_SPEC,
  }),
  minReadySeconds: "integer",
  revisionHistoryLimit: "integer",
};

/** `spec` and `status` of a Deployment. */
const DEPLOYMENT_FIELDS: Readonly<Record<string, Field>> = {
  spec: record({
    ...WORKLOAD_SPEC,
    replicas: "integer",
    strategy: record({
      type: "text",
      rollingUpdate: record({ maxUnavailable: "portOrName", maxSurge: "portOrName" }),
    }),
    paused: "flag",
    progressDeadlineSeconds: "integer",
  }),
  status: record({
    observedGeneration: "integer",
    replicas: "integer",
    updatedReplicas: "integer",
    readyReplicas: "integer",
    availableReplicas: "integer",
    unavailableReplicas: "integer",
    conditions: mergedBy("type", "any"),
    collisionCount: "integer",
  }),
};

/** `spec` and `status` of a PodDisruptionBudget. */
const BUDGET_FIELDS: Readonly<Record<string, Field>> = {
  spec: record({
    minAvailable: "portOrName",
    selector: LABEL_SELECTOR,
    maxUnavailable: "portOrName",
    unhealthyPodEvictionPolicy: "text",
  }),
  status: "any",
};

const REFERENCE: RecordField = record({
  kind: "text",
  namespace: "text",
  name: "text",
  uid: "text",
  apiVersion: "text",
  resourceVersion: "text",
  fieldPath: "text",
});

const EVENT_FIELDS: Readonly<Record<string, Field>> = {
  involvedObject: REFERENCE,
  reason: "text",
  message: "text",
  source: record({ component: "text", host: "text" }),
  firstTimestamp: "time",
  lastTimestamp: "time",
  count: "integer",
  type: "text",
  eventTime: "microTime",
  series: record({ count: "integer", lastObservedTime: "microTime" }),
  action: "text",
  related: REFERENCE,
  reportingComponent: "text",
  reportingInstance: "text",
};

const LEASE_SPEC: RecordField = record({
  holderIdentity: "pointer",
  leaseDurationSeconds: "integer",
  acquireTime: "microTime",
  renewTime: "microTime",
  leaseTransitions: "integer",
});

/** Pods are there because `kubectl describe node` lists them. */
const OTHER_KINDS: readonly Kind[] = [
  define(
    { kind: "Node", plural: "nodes" },
    {
      shortNames: ["no"],
      namespaced: false,
      hasStatus: true,
      selectable: ["spec.unschedulable"],
      fields: NODE_FIELDS,
    },
  ),
  define(
    { kind: "Event", plural: "events" },
    {
      shortNames: ["ev"],
      createsOnUpdate: true,
      selectable: [
        ...Object.keys(REFERENCE.fields).map((field) => `involvedObject.${field}`),
        "reason",
        "reportingComponent",
        "source",
        "type",
      ],
      fields: EVENT_FIELDS,
    },
  ),
  define(
    { kind: "Namespace", plural: "namespaces" },
    {
      shortNames: ["ns"],
      namespaced: false,
      hasStatus: true,
      selectable: ["status.phase"],
      fields: { spec: record({ finalizers: listOf("pointer") }), status: "any" },
    },
  ),
  define(
    { kind: "Pod", plural: "pods" },
    {
      shortNames: ["po"],
      hasStatus: true,
      selectable: ["spec.nodeName", "status.phase"],
      fields: { spec: "any", status: "any" },
    },
  ),
  define(
    { kind: "ServiceAccount", plural: "serviceaccounts" },
    {
      shortNames: ["sa"],
      fields: {
        secrets: mergedBy("name", REFERENCE),
        imagePullSecrets: mergedBy("name", record({ name: "text" })),
        automountServiceAccountToken: "any",
      },
    },
  ),
  define(
    { kind: "Secret", plural: "secrets" },
    {
      selectable: ["type"],
      fields: {
        data: mapOf("pointer"),
        stringData: mapOf("pointer"),
        type: "text",
        immutable: "any",
      },
    },
  ),
  define(
    { kind: "ConfigMap", plural: "configmaps" },
    {
      shortNames: ["cm"],
      fields: { data: mapOf("pointer"), binaryData: mapOf("pointer"), immutable: "any" },
    },
  ),
  define(
    { kind: "Lease", plural: "leases", apiVersion: "coordination.k8s.io/v1" },
    { createsOnUpdate: true, needsVersionOnUpdate: true, fields: { spec: LEASE_SPEC } },
  ),
  define(
    { kind: "VolumeAttachment", plural: "volumeattachments", apiVersion: "storage.k8s.io/v1" },
    {
      namespaced: false,
      hasStatus: true,
      fields: {
        spec: record({ attacher: "text", nodeName: "text", source: "any" }),
        status: "any",
      },
    },
  ),
];

const ENDPOINT_SLICES = define(
  { kind: "EndpointSlice", plural: "endpointslices", apiVersion: "discovery.k8s.io/v1" },
  {
    generations: "specAndAnnotations",
    fields: { addressType: "text", endpoints: listOf("any"), ports: listOf("any") },
  },
);
const ROLE_API = "rbac.authorization.k8s.io/v1";

const BINDING_FIELDS: Readonly<Record<string, Field>> = {
  subjects: listOf("any"),
  roleRef: record({ apiGroup: "pointer", kind: "pointer", name: "pointer" }),
};

/** What the manifests of the guides are of. No Pod of a DaemonSet runs, and rights change nothing. */
const WORKLOAD_KINDS: readonly Kind[] = [
  define(
    { kind: "Deployment", plural: "deployments", apiVersion: "apps/v1" },
    {
      shortNames: ["deploy"],
      hasStatus: true,
      generations: "specAndAnnotations",
      fields: DEPLOYMENT_FIELDS,
    },
  ),
  define(
    { kind: "DaemonSet", plural: "daemonsets", apiVersion: "apps/v1" },
    {
      shortNames: ["ds"],
      hasStatus: true,
      generations: "specAndAnnotations",
      fields: { spec: record({ ...WORKLOAD_SPEC, updateStrategy: "any" }), status: "any" },
    },
  ),
  define(
    { kind: "Role", plural: "roles", apiVersion: ROLE_API },
    { createsOnUpdate: true, fields: { rules: listOf("any") } },
  ),
  define(
    { kind: "ClusterRole", plural: "clusterroles", apiVersion: ROLE_API },
    {
      namespaced: false,
      createsOnUpdate: true,
      fields: { rules: listOf("any"), aggregationRule: "any" },
    },
  ),
  define(
    { kind: "RoleBinding", plural: "rolebindings", apiVersion: ROLE_API },
    { createsOnUpdate: true, fields: BINDING_FIELDS },
  ),
  define(
    { kind: "ClusterRoleBinding", plural: "clusterrolebindings", apiVersion: ROLE_API },
    { namespaced: false, createsOnUpdate: true, fields: BINDING_FIELDS },
  ),
];

/** All kinds, each in one version. */
export const KINDS: readonly Kind[] = [
  ...OTHER_KINDS,
  ...WORKLOAD_KINDS,
  define(
    { kind: "PodDisruptionBudget", plural: "poddisruptionbudgets", apiVersion: "policy/v1" },
    {
      shortNames: ["pdb"],
      hasStatus: true,
      needsVersionOnUpdate: true,
      generations: "spec",
      fields: BUDGET_FIELDS,
    },
  ),
  define(
    { kind: "Service", plural: "services" },
    {
      shortNames: ["svc"],
      hasStatus: true,
      createsOnUpdate: true,
      selectable: ["spec.clusterIP", "spec.type"],
      fields: SERVICE_FIELDS,
    },
  ),
  ENDPOINT_SLICES,
];

/** Finds a kind by its place in a path, or `undefined`. */
export function findKind(
  group: string,
  version: string,
  plural: string,
  kinds: readonly Kind[] = KINDS,
): Kind | undefined {
  return kinds.find(
    (kind) => kind.group === group && kind.version === version && kind.plural === plural,
  );
}
