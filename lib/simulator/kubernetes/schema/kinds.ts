/**
 * The kinds that the simulated API server serves, with their fields.
 * @module
 */
import { NODE_FIELDS } from "./node_fields.ts";
import { define, type Kind } from "./kind.ts";
import { listOf, mapOf, mergedBy, record, type Field, type RecordField } from "./schema.ts";
import { BUDGET_FIELDS, DEPLOYMENT_FIELDS } from "./workload_fields.ts";
import { SERVICE_FIELDS } from "./service_fields.ts";

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

/** Deployments, and rights within a namespace. */
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
    { kind: "Role", plural: "roles", apiVersion: ROLE_API },
    { createsOnUpdate: true, fields: { rules: listOf("any") } },
  ),
  define(
    { kind: "RoleBinding", plural: "rolebindings", apiVersion: ROLE_API },
    {
      createsOnUpdate: true,
      fields: {
        subjects: listOf("any"),
        roleRef: record({ apiGroup: "pointer", kind: "pointer", name: "pointer" }),
      },
    },
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
