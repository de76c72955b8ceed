/**
 * Services as the API server treats them: families, defaults, what it allocates, and what an update keeps.
 * @module
 */
import type { FieldProblem } from "../api_error.ts";
import {
  isEqual,
  type Json,
  type JsonObject,
  objectAt,
  stringAt,
  without,
} from "../patches/json.ts";
import { invalidValue } from "../schema/validation.ts";
import type { Collection } from "../store.ts";
import { ServiceAllocation } from "./allocation.ts";
import {
  ingressOf,
  needsHealthPort,
  needsNodePorts,
  numberAt,
  portsOf,
  specOf,
  textsAt,
  typeOf,
} from "./service.ts";
import { ingressProblems, serviceProblems } from "./validation.ts";

/** A Service as it would be stored, and why it may not be. */
interface Completed {
  readonly service: JsonObject;
  readonly problems: readonly FieldProblem[];
}

/** The rules for Services of one cluster. */
export class ServiceRules {
  readonly #allocation: ServiceAllocation;

  /** @param services Where they are stored, still empty */
  constructor(services: Collection) {
    this.#allocation = new ServiceAllocation(services);
  }

  /** A new Service. It begins without a status. */
  create(service: JsonObject): Completed {
    return this.#complete({ ...service, status: {} }, undefined);
  }

  /** A Service after a write that is not of its status. */
  update(before: JsonObject, after: JsonObject): Completed {
    const typed = { ...after, spec: { ...specOf(after), type: typeOf(after) || "ClusterIP" } };
    return this.#complete(dropUseless(before, keepAllocated(before, typed)), before);
  }

  /** A Service after a write of its status. */
  updateStatus(after: JsonObject): Completed {
    const service = withDefaults(after);
    return { service, problems: ingressProblems(service) };
  }

  #complete(wish: JsonObject, before: JsonObject | undefined): Completed {
    const service = withClusterIps(withDefaults(wish));
    const problems = serviceProblems(service, before);
    if (problems.length > 0) return { service, problems };
    const ported = this.#allocation.withNodePorts(service, before);
    const addressed = this.#withAddresses(ported.service, before);
    return { ...addressed, problems: [...ported.problems, ...addressed.problems] };
  }

  #withAddresses(service: JsonObject, before: JsonObject | undefined): Completed {
    if (typeOf(service) === "ExternalName") return { service, problems: [] };
    const problems = familyProblems(specOf(service));
    if (problems.length > 0) return { service, problems };
    const allocated = this.#allocation.withClusterIp(service, before);
    const spec = specOf(allocated.service);
    const ipFamilyPolicy = stringAt(spec, "ipFamilyPolicy") || "SingleStack";
    const families = { ipFamilies: ["IPv4"], ipFamilyPolicy };
    return { ...allocated, service: { ...allocated.service, spec: { ...spec, ...families } } };
  }
}

/** `clusterIP` and the first of `clusterIPs` are the same: what names only one names both. */
function withClusterIps(service: JsonObject): JsonObject {
  const spec = specOf(service);
  const [one, list] = [stringAt(spec, "clusterIP"), textsAt(spec, "clusterIPs")];
  if (one === "" || list[0] === one) return service;
  return { ...service, spec: { ...spec, clusterIPs: [one] } };
}

/** The cluster has only IPv4. */
function familyProblems(spec: JsonObject): readonly FieldProblem[] {
  const at = textsAt(spec, "ipFamilies").indexOf("IPv6");
  if (at >= 0)
    return [invalidValue(`spec.ipFamilies[${at}]`, "IPv6", "not configured on this cluster")];
  const policy = spec["ipFamilyPolicy"];
  if (policy !== "RequireDualStack") return [];
  const rule = "this cluster is not configured for dual-stack services";
  return [invalidValue("spec.ipFamilyPolicy", policy, rule)];
}

const AFFINITY_SECONDS = 10_800;

/** The Service with its defaults. Pure; again it changes nothing. */
function withDefaults(service: JsonObject): JsonObject {
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

/** The new state with what it does not name of the old one. Pure. */
function keepAllocated(before: JsonObject, after: JsonObject): JsonObject {
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
function dropUseless(before: JsonObject, after: JsonObject): JsonObject {
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
  return { ...after, spec, ...(!isBalanced && { status: {} }) };
}
