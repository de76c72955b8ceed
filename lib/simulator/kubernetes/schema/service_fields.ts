/**
 * The fields of a Service (core/v1), as far as a version of the API server has them.
 * @module
 */
import type { ServiceFeatures } from "../services/features.ts";
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

/** `spec` and `status` of a Service. Ports merge by their number; the ingress is replaced whole. */
export function toServiceFields(features: ServiceFeatures): Readonly<Record<string, Field>> {
  const ingress = record({
    ip: "text",
    ...(features.hasIpMode && { ipMode: "pointer" }),
    hostname: "text",
    ports: listOf(record({ port: "integer", protocol: "pointer", error: "pointer" })),
  });
  const { hasFamilies, hasClass } = features;
  return {
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
      ...(hasFamilies && { ipFamilies: listOf("pointer"), ipFamilyPolicy: "pointer" }),
      ...(hasClass && {
        allocateLoadBalancerNodePorts: "switch",
        loadBalancerClass: "pointer",
        internalTrafficPolicy: "pointer",
        trafficDistribution: "pointer",
      }),
    }),
    status: record({
      loadBalancer: record({ ingress: listOf(ingress) }),
      conditions: mergedBy("type", CONDITION),
    }),
  };
}
