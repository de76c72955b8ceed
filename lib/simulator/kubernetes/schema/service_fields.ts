/**
 * The fields of a Service (core/v1).
 * @module
 */
import { listOf, mapOf, mergedBy, record, type Field } from "./schema.ts";

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
export const SERVICE_FIELDS: Readonly<Record<string, Field>> = {
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
