/**
 * Builds the CustomResourceDefinition of a kind from its schemas. Only what writes manifests and reference pages loads
 * it.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { type JsonSchema, toJsonSchema } from "@valibot/to-json-schema";
import { assert } from "../../core/errors.ts";
import type {
  CustomResourceDefinition,
  OpenApiSchema,
  PrinterColumn,
} from "../../kube/kinds/crd.ts";
import type { KubeObject, Resource } from "../../kube/kinds/resource.ts";
import type { ConditionWord } from "../definition.ts";
import type { Schema } from "./parts.ts";
import type { ReasonWord } from "./words.ts";

/** What a CustomResourceDefinition is built from. */
interface KindOutline {
  /** Its objects are in namespaces. */
  readonly resource: Resource<KubeObject>;
  readonly shortNames: readonly string[];
  readonly columns: readonly PrinterColumn[];
  /** What an object says, in one sentence. */
  readonly description: string;
  readonly spec: DescribedSchema;
  /** @default {the kind has no status} */
  readonly status?: DescribedSchema;
  /** Of a whole object. @default {none} */
  readonly rule?: NonNullable<OpenApiSchema["x-kubernetes-validations"]>[number];
}

/** The schema of a part of an object. */
interface DescribedSchema {
  // What it accepts does not matter here.
  readonly schema: Schema<object>;
  readonly description: string;
}

/** The first columns of a kind with the condition `Ready`. @param description When an object is ready */
export function toReadyColumns(description: string): readonly PrinterColumn[] {
  const ready = '.status.conditions[?(@.type=="Ready")]';
  const why = "Why it is ready or not.";
  return [
    { name: "Ready", type: "string", jsonPath: `${ready}.status`, description },
    { name: "Reason", type: "string", jsonPath: `${ready}.reason`, description: why },
  ];
}

/** The last column of every kind. */
export const AGE_COLUMN: PrinterColumn = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
  description: "Time since the object was created.",
};

/** Builds the CustomResourceDefinition of a kind with one version. */
export function toCrd(outline: KindOutline): CustomResourceDefinition {
  const { resource, shortNames, columns, description, spec, status, rule } = outline;
  const [group = "", version = ""] = resource.apiVersion.split("/");
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${resource.plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: {
        kind: resource.kind,
        listKind: `${resource.kind}List`,
        plural: resource.plural,
        singular: resource.kind.toLowerCase(),
        shortNames,
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: status === undefined ? {} : { status: {} },
          additionalPrinterColumns: columns,
          schema: {
            openAPIV3Schema: {
              type: "object",
              description,
              required: ["spec"],
              ...(rule && { "x-kubernetes-validations": [rule] }),
              properties: {
                spec: toOpenApi(spec),
                ...(status !== undefined && { status: toOpenApi(status) }),
              },
            },
          },
        },
      ],
    },
  };
}

/** Lists all reasons of all conditions, for the reference page. */
export function listConditionWords(
  words: Readonly<Record<string, Readonly<Record<string, ReasonWord>>>>,
): ConditionWord[] {
  return Object.entries(words).flatMap(([type, reasons]) =>
    Object.values(reasons).map((word) => ({ type, ...word })),
  );
}

function toOpenApi({ schema, description }: DescribedSchema): OpenApiSchema {
  // Rules in code stand in the metadata as CEL.
  const open = toJsonSchema(schema, {
    target: "openapi-3.0",
    ignoreActions: ["check", "raw_check"],
  });
  return { ...toStructural(open), description };
}

/** Structural schemas know one type for each field, and nothing that refers to another place. */
function toStructural(schema: NonNullable<JsonSchema["items"]>): OpenApiSchema {
  assert(typeof schema === "object" && "type" in schema, "a field of a kind has no type");
  const { type, description, required = [], ...rest } = schema;
  const { properties, items, additionalProperties, ...limits } = rest;
  assert(typeof type === "string", "a field of a kind has several types");
  return {
    type,
    ...(description !== undefined && { description }),
    ...limits,
    ...(required.length > 0 && { required }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, one]) => [key, toStructural(one)]),
      ),
    }),
    ...(typeof items === "object" && { items: toStructural(items) }),
    ...(typeof additionalProperties === "object" && toValues(additionalProperties)),
  };
}

/** What the values of a map are. Those of any type are not described: the API server keeps them as they are. */
function toValues(schema: NonNullable<JsonSchema["items"]>): Partial<OpenApiSchema> {
  return isDeepStrictEqual(schema, {})
    ? { "x-kubernetes-preserve-unknown-fields": true }
    : { additionalProperties: toStructural(schema) };
}
