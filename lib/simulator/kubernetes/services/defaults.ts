/**
 * The values that the API server sets where a Service says nothing.
 * @module
 */
import { objectAt, stringAt, without, type Json, type JsonObject } from "../patches/json.ts";
import { ingressOf, numberAt, portsOf, specOf, typeOf } from "./service.ts";

const AFFINITY_SECONDS = 10_800;

/** The Service with its defaults. Pure; again it changes nothing. */
export function withDefaults(service: JsonObject): JsonObject {
  const typed = { ...service, spec: { ...specOf(service), type: typeOf(service) || "ClusterIP" } };
  return { ...typed, spec: toSpec(typed), status: toStatus(typed) };
}

function toSpec(service: JsonObject): JsonObject {
  const { sessionAffinityConfig, ...spec } = specOf(service);
  const type = typeOf(service);
  const [isBalanced, isNamed] = [type === "LoadBalancer", type === "ExternalName"];
  const ports = portsOf(service);
  const affinity = stringAt(spec, "sessionAffinity") || "None";
  const config = affinity === "ClientIP" ? toAffinity(sessionAffinityConfig) : undefined;
  return {
    ...spec,
    ...(ports.length > 0 && { ports: ports.map(toPort) }),
    sessionAffinity: affinity,
    ...(config !== undefined && { sessionAffinityConfig: config }),
    ...((isBalanced || type === "NodePort") && {
      externalTrafficPolicy: stringAt(spec, "externalTrafficPolicy") || "Cluster",
    }),
    ...(!isNamed && { internalTrafficPolicy: spec["internalTrafficPolicy"] ?? "Cluster" }),
    ...(isBalanced && {
      allocateLoadBalancerNodePorts: spec["allocateLoadBalancerNodePorts"] ?? true,
    }),
  };
}

function toPort(port: JsonObject): JsonObject {
  const { protocol, targetPort } = port;
  const isUnset = targetPort === undefined || targetPort === 0 || targetPort === "";
  return without(
    {
      ...port,
      protocol: protocol ?? "TCP",
      targetPort: isUnset ? numberAt(port, "port") : targetPort,
    },
    // 0 asks for any, as nothing does.
    port["nodePort"] === 0 ? "nodePort" : "",
  );
}

function toAffinity(config: Json | undefined): JsonObject {
  const given = objectAt(objectAt({ config: config ?? {} }, "config"), "clientIP");
  return { clientIP: { timeoutSeconds: given["timeoutSeconds"] ?? AFFINITY_SECONDS } };
}

function toStatus(service: JsonObject): JsonObject {
  const status = objectAt(service, "status");
  const ingress = ingressOf(service);
  if (ingress.length === 0) return { ...status, loadBalancer: {} };
  const isBalanced = typeOf(service) === "LoadBalancer";
  const toEntry = (entry: JsonObject): JsonObject => {
    const lacksMode = entry["ip"] !== undefined && entry["ipMode"] === undefined;
    return isBalanced && lacksMode ? { ...entry, ipMode: "VIP" } : entry;
  };
  return { ...status, loadBalancer: { ingress: ingress.map(toEntry) } };
}
