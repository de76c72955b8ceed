/**
 * What an update of a Service keeps of values that were allocated, and what it drops as useless to its type.
 *
 * Source: `patchAllocatedValues` and `dropTypeDependentFields` of the registry strategy of Services.
 * @module
 */
import { isEqual, without, type Json, type JsonObject } from "../patches/json.ts";
import {
  needsHealthPort,
  needsNodePorts,
  numberAt,
  portsOf,
  specOf,
  textsAt,
  typeOf,
} from "./service.ts";

/** The new state with what it does not name of the old one. Pure. */
export function keepAllocated(before: JsonObject, after: JsonObject): JsonObject {
  const [old, spec] = [specOf(before), specOf(after)];
  const kept: Record<string, Json> = {};
  if (typeOf(before) !== "ExternalName" && typeOf(after) !== "ExternalName") {
    for (const key of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]) {
      const value = old[key];
      if (spec[key] === undefined && value !== undefined) kept[key] = value;
    }
  }
  if (needsNodePorts(before) && needsNodePorts(after)) kept["ports"] = keepNodePorts(before, after);
  const health = numberAt(old, "healthCheckNodePort");
  if (needsHealthPort(before) && needsHealthPort(after) && health !== 0) {
    kept["healthCheckNodePort"] = spec["healthCheckNodePort"] ?? health;
  }
  return { ...after, spec: { ...spec, ...kept } };
}

/** Ports keep their node port by name, unless another port now has that node port. */
function keepNodePorts(before: JsonObject, after: JsonObject): readonly JsonObject[] {
  const [old, ports] = [portsOf(before), portsOf(after)];
  const used = new Set(ports.map((port) => numberAt(port, "nodePort")));
  const byName = new Map(old.map((port) => [port["name"], numberAt(port, "nodePort")]));
  return ports.map((port) => {
    const nodePort = byName.get(port["name"]) ?? 0;
    if (numberAt(port, "nodePort") !== 0 || used.has(nodePort) || nodePort === 0) return port;
    used.add(nodePort);
    return { ...port, nodePort };
  });
}

/** The new state without what its type has no use for, if the update did not change it. Pure. */
export function dropUseless(before: JsonObject, after: JsonObject): JsonObject {
  let spec = specOf(after);
  const [old, isBalanced] = [specOf(before), typeOf(after) === "LoadBalancer"];
  const drop = (...keys: readonly string[]): void => {
    for (const key of keys) if (isEqual(old[key], spec[key])) spec = without(spec, key);
  };
  if (typeOf(after) === "ExternalName" && isEqual(old["clusterIPs"], spec["clusterIPs"])) {
    drop("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy");
  }
  if (!needsNodePorts(after)) {
    drop("externalTrafficPolicy");
    const was = new Set(portsOf(before).map((port) => numberAt(port, "nodePort")));
    const ports = portsOf(after);
    if (ports.length > 0 && ports.every((port) => was.has(numberAt(port, "nodePort")))) {
      spec = { ...spec, ports: ports.map((port) => without(port, "nodePort")) };
    }
  }
  if (!needsHealthPort(after)) drop("healthCheckNodePort");
  if (!isBalanced) drop("allocateLoadBalancerNodePorts", "loadBalancerClass");
  return { ...after, spec: trimFamilies(old, spec), ...(!isBalanced && { status: {} }) };
}

/** A Service that becomes single-stack loses its second family. */
function trimFamilies(old: JsonObject, spec: JsonObject): JsonObject {
  const wasDual = old["ipFamilyPolicy"] !== undefined && old["ipFamilyPolicy"] !== "SingleStack";
  if (!wasDual || spec["ipFamilyPolicy"] !== "SingleStack") return spec;
  const first = (key: string): readonly string[] => textsAt(spec, key).slice(0, 1);
  return { ...spec, ipFamilies: first("ipFamilies"), clusterIPs: first("clusterIPs") };
}
