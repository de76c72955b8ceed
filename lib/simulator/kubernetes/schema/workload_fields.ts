/**
 * The fields of Deployments and PodDisruptionBudgets, with the keys by which their lists merge.
 * @module
 */
import { listOf, mapOf, mergedBy, record, type Field, type RecordField } from "./schema.ts";

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

/** `spec` and `status` of a Deployment. */
export const DEPLOYMENT_FIELDS: Readonly<Record<string, Field>> = {
  spec: record({
    replicas: "integer",
    selector: LABEL_SELECTOR,
    template: record({
      metadata: record({
        labels: mapOf("pointer"),
        annotations: mapOf("pointer"),
        ...anyOf("name", "namespace", "creationTimestamp", "finalizers"),
      }),
      spec: POD_SPEC,
    }),
    strategy: record({
      type: "text",
      rollingUpdate: record({ maxUnavailable: "portOrName", maxSurge: "portOrName" }),
    }),
    minReadySeconds: "integer",
    revisionHistoryLimit: "integer",
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
export const BUDGET_FIELDS: Readonly<Record<string, Field>> = {
  spec: record({
    minAvailable: "portOrName",
    selector: LABEL_SELECTOR,
    maxUnavailable: "portOrName",
    unhealthyPodEvictionPolicy: "text",
  }),
  status: "any",
};
