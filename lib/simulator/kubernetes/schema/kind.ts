/**
 * What the simulated API server knows about a kind, and kinds that CustomResourceDefinitions bring, with their
 * columns.
 * @module
 */
import { assert } from "../../../core/errors.ts";
import { isArray, isObject, type Json } from "../patches/json.ts";
import { type Field, listOf, mapOf, mergedBy, record, type RecordField } from "./schema.ts";

/** One kind and how it behaves. */
export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  /** It came from a CustomResourceDefinition: strategic merge patches are refused. */
  readonly isCustom: boolean;
  /** Whether only writes to `/status` change `status`. Besides it, they change only metadata. */
  readonly hasStatus: boolean;
  /** What a new generation stands for, if generations are counted. They begin without a status then. */
  readonly generations?: "spec" | "specAndAnnotations";
  /** Whether a PUT of an absent object creates it. */
  readonly createsOnUpdate: boolean;
  /** Whether a PUT must carry a resourceVersion. */
  readonly needsVersionOnUpdate: boolean;
  readonly schema: RecordField;
  /** What `kubectl get` shows beside the name. @default {what is built in} */
  readonly columns?: readonly PrinterColumn[];
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

/** A kind: namespaced, built in and without a status, unless the options say otherwise. */
export function define(
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

/** A kind from a CustomResourceDefinition, with a status and without a schema. */
export interface CustomKind {
  /** `example.org/v1` */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** @default {none} */
  readonly shortNames?: readonly string[];
  /** @default {the age} */
  readonly columns?: readonly PrinterColumn[];
}

/** Builds the kind that the server serves for a {@linkcode CustomKind}. */
export function defineCustomKind({ apiVersion, kind, plural, ...custom }: CustomKind): Kind {
  const fields = { spec: "any", status: "any" } as const;
  const counted = { hasStatus: true, generations: "spec" } as const;
  return define({ apiVersion, kind, plural }, { ...custom, isCustom: true, ...counted, fields });
}

/** `v1` or `group/v1`. */
export function apiVersionOf(kind: Kind): string {
  return kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
}

/** A column, as in `additionalPrinterColumns`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  /** @default 0 */
  readonly priority?: 0 | 1;
}

/** `.status` or `[?(@.type=="Ready")]`. */
const STEP = /\.([A-Za-z]\w*)|\[\?\(@\.(\w+)=="([^"]*)"\)\]/y;

/**
 * Reads the value at a JSONPath of two forms: names of fields, and the first item of a list with a field of a value.
 *
 * @returns `undefined` if there is none
 */
export function readJsonPath(object: Json, path: string): Json | undefined {
  let value: Json | undefined = object;
  STEP.lastIndex = 0;
  while (STEP.lastIndex < path.length) {
    const found = STEP.exec(path);
    assert(found !== null, `a column has a JSONPath that this server does not know: ${path}`);
    const [, name, key = "", wanted] = found;
    if (name !== undefined) value = isObject(value) ? value[name] : undefined;
    else {
      const items: readonly Json[] = isArray(value) ? value : [];
      value = items.find((one) => isObject(one) && one[key] === wanted);
    }
  }
  return value;
}
