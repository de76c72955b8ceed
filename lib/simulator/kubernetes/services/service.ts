/**
 * Reads the fields of a Service that its rules look at.
 * @module
 */
import { isArray, isObject, objectAt, stringAt } from "../patches/json.ts";
import type { JsonObject } from "../patches/json.ts";

/** `spec`. */
export function specOf(service: JsonObject): JsonObject {
  return objectAt(service, "spec");
}

/** `spec.type`; `""` before it is set. */
export function typeOf(service: JsonObject): string {
  return stringAt(specOf(service), "type");
}

/** `spec.ports`, or none. */
export function portsOf(service: JsonObject): readonly JsonObject[] {
  return objectsAt(specOf(service), "ports");
}

/** `status.loadBalancer.ingress`, or none. */
export function ingressOf(service: JsonObject): readonly JsonObject[] {
  return objectsAt(objectAt(objectAt(service, "status"), "loadBalancer"), "ingress");
}

/** The texts of a list, or none. */
export function textsAt(parent: JsonObject, key: string): readonly string[] {
  const list = parent[key];
  return isArray(list) ? list.filter((item) => typeof item === "string") : [];
}

/** The number under a key; 0 when there is none. */
export function numberAt(parent: JsonObject, key: string): number {
  const value = parent[key];
  return typeof value === "number" ? value : 0;
}

/** Whether each port gets a port of every Node. */
export function needsNodePorts(service: JsonObject): boolean {
  const type = typeOf(service);
  return type === "NodePort" || type === "LoadBalancer";
}

/** Whether each Node answers health checks on a port of its own. */
export function needsHealthPort(service: JsonObject): boolean {
  const policy = stringAt(specOf(service), "externalTrafficPolicy");
  return typeOf(service) === "LoadBalancer" && policy === "Local";
}

function objectsAt(parent: JsonObject, key: string): readonly JsonObject[] {
  const list = parent[key];
  return isArray(list) ? list.filter(isObject) : [];
}
