/**
 * The kinds that the simulated API server serves, with their fields.
 * @module
 */
import { NEWEST_MINOR, toServiceFeatures } from "../services/features.ts";
import { NODE_FIELDS } from "./node_fields.ts";
import { listOf, mapOf, mergedBy, record, type Field, type RecordField } from "./schema.ts";
import { toServiceFields } from "./service_fields.ts";

/** One kind and how it behaves. */
export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  /** It came from a CustomResourceDefinition: generations are counted, and strategic merge patches refused. */
  readonly isCustom: boolean;
  /** Whether only writes to `/status` change `status`. Besides it, they change only metadata. */
  readonly hasStatus: boolean;
  /** Whether a PUT of an absent object creates it. */
  readonly createsOnUpdate: boolean;
  /** Whether a PUT must carry a resourceVersion. */
  readonly needsVersionOnUpdate: boolean;
  readonly schema: RecordField;
  /** Fields besides `metadata.name` and `metadata.namespace` that a field selector may name. */
  readonly selectable: readonly string[];
}

const METADATA: RecordField = record({
  name: "text",
  generateName: "text",
  namespace: "text",
  selfLink: "text",
  uid: "text",
  resourceVersion: "text",
  generation: "integer",
  creationTimestamp: "time",
  deletionTimestamp: "time",
  deletionGracePeriodSeconds: "integer",
  labels: mapOf("pointer"),
  annotations: mapOf("pointer"),
  ownerReferences: mergedBy("uid", "any"),
  finalizers: { items: "pointer", set: true },
  managedFields: listOf("any"),
  clusterName: "text",
});

function define(
  names: Pick<Kind, "kind" | "plural"> & { readonly apiVersion?: string },
  options: Partial<Omit<Kind, "kind" | "plural" | "schema">> & {
    readonly fields: Readonly<Record<string, Field>>;
  },
): Kind {
  const { fields, ...rest } = options;
  const [group, version] = (names.apiVersion ?? "v1").includes("/")
    ? (names.apiVersion ?? "").split("/")
    : ["", names.apiVersion ?? "v1"];
  return {
    group: group ?? "",
    version: version ?? "v1",
    kind: names.kind,
    plural: names.plural,
    singular: names.kind.toLowerCase(),
    shortNames: [],
    namespaced: true,
    isCustom: false,
    hasStatus: false,
    createsOnUpdate: false,
    needsVersionOnUpdate: false,
    selectable: [],
    ...rest,
    schema: record({ kind: "text", apiVersion: "text", metadata: METADATA, ...fields }),
  };
}

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

/** All kinds except Services. Pods are there because `kubectl describe node` lists them. */
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

/** The kinds that Kubernetes 1.`minor` serves. */
export function listKinds(minor: number): readonly Kind[] {
  const features = toServiceFeatures(minor);
  const names = { kind: "Service", plural: "services" };
  const services = define(names, {
    shortNames: ["svc"],
    hasStatus: true,
    createsOnUpdate: true,
    needsVersionOnUpdate: !features.hasFamilies,
    selectable: ["spec.clusterIP", "spec.type"],
    fields: toServiceFields(features),
  });
  return [...OTHER_KINDS, services];
}

/** The kinds of the newest version. */
export const KINDS: readonly Kind[] = listKinds(NEWEST_MINOR);

/** A kind from a CustomResourceDefinition, with a status and without a schema. */
export interface CustomKind {
  /** `example.org/v1` */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** Builds the kind that the server serves for a {@linkcode CustomKind}. */
export function defineCustomKind({ namespaced, ...names }: CustomKind): Kind {
  const fields = { spec: "any", status: "any" } as const;
  return define(names, { namespaced, isCustom: true, hasStatus: true, fields });
}

/** `v1` or `group/v1`. */
export function apiVersionOf(kind: Kind): string {
  return kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
}

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
