/**
 * The CustomResourceDefinition of SIPClusters. Only what writes manifests and reference pages loads it.
 * @module
 */
import { type JsonSchema, toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { assert } from "../../../core/assert.ts";
import type { OpenApiSchema, PrinterColumn } from "../../../kube/kinds/crd.ts";
import type { KindDefinition } from "../../definition.ts";
import { SPEC } from "./schema/spec.ts";
import { STATUS } from "./schema/status.ts";
import { SIP_CLUSTERS } from "./sip_cluster.ts";
import { CONDITION_WORDS, type ReasonWord } from "./words.ts";

const [GROUP = "", VERSION = ""] = SIP_CLUSTERS.apiVersion.split("/");
const READY = '.status.conditions[?(@.type=="Ready")]';

const COLUMNS: readonly PrinterColumn[] = [
  {
    name: "Ready",
    type: "string",
    jsonPath: `${READY}.status`,
    description: "Whether the cluster has all hosts, and its services are available.",
  },
  {
    name: "Reason",
    type: "string",
    jsonPath: `${READY}.reason`,
    description: "Why it is ready or not.",
  },
  {
    name: "CP",
    type: "string",
    jsonPath: ".status.counts.ControlPlane.summary",
    description: "Hosts for the control plane: have/want.",
  },
  {
    name: "Workers",
    type: "string",
    jsonPath: ".status.counts.Worker.summary",
    description: "Hosts for workers: have/want.",
  },
  {
    name: "Age",
    type: "date",
    jsonPath: ".metadata.creationTimestamp",
    description: "Time since the object was created.",
  },
];

/** SIPClusters, as a kind that Kubernetes does not have. */
export const SIP_CLUSTER_KIND: KindDefinition = {
  crd: {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${SIP_CLUSTERS.plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: {
        kind: SIP_CLUSTERS.kind,
        listKind: `${SIP_CLUSTERS.kind}List`,
        plural: SIP_CLUSTERS.plural,
        singular: SIP_CLUSTERS.kind.toLowerCase(),
        shortNames: ["sip"],
      },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: COLUMNS,
          schema: {
            openAPIV3Schema: {
              type: "object",
              description:
                "Which BareMetalHosts a tenant's cluster has, and which services stand before it.",
              required: ["spec"],
              properties: {
                spec: { ...toOpenApi(SPEC), description: "What the cluster wants." },
                status: { ...toOpenApi(STATUS), description: "What the cluster has." },
              },
            },
          },
        },
      ],
    },
  },
  about:
    "A SIPCluster chooses BareMetalHosts of metal3 for a tenant's cluster, labels them, and makes load balancers, " +
    "jump hosts and OIDC providers for it, in its own namespace.",
  conditions: Object.entries(CONDITION_WORDS).flatMap(([type, words]) =>
    Object.values<ReasonWord>(words).map((word) => ({ type, ...word })),
  ),
};

function toOpenApi(schema: GenericSchema): OpenApiSchema {
  return toStructural(
    // Rules in code stand in the metadata as CEL.
    toJsonSchema(schema, {
      target: "openapi-3.0",
      ignoreActions: ["check", "raw_check"],
    }),
  );
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
    ...(typeof additionalProperties === "object" && {
      additionalProperties: toStructural(additionalProperties),
    }),
  };
}
