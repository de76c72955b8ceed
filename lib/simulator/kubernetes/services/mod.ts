/**
 * Services as the API server treats them: families, defaults, what it allocates, and what an update keeps.
 * @module
 */
import { parseIp } from "../../../core/net/ip.ts";
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
import { type IpFamily, ServiceAllocation } from "./allocation.ts";
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

/** What differs between clusters. */
export interface ServiceRuleOptions {
  /** Ranges of cluster IPs, one or one of each family. @default ["10.96.0.0/12"] */
  readonly clusterIpRanges?: readonly string[];
  /** First and last node port. @default [30000, 32767] */
  readonly nodePortRange?: readonly [number, number];
}

/** The rules for Services of one cluster. */
export class ServiceRules {
  readonly #allocation: ServiceAllocation;

  /** @param services Where they are stored, still empty */
  constructor(services: Collection, options: ServiceRuleOptions = {}) {
    this.#allocation = new ServiceAllocation(services, {
      clusterIps: options.clusterIpRanges ?? ["10.96.0.0/12"],
      nodePorts: options.nodePortRange ?? [30_000, 32_767],
    });
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
    const chosen = chooseFamilies(service, this.#allocation.families);
    if (chosen.problems.length > 0) return { service, problems: chosen.problems };
    const { families, policy } = chosen;
    const allocated = this.#allocation.withClusterIps(service, families, before);
    const spec = { ...specOf(allocated.service), ipFamilies: families, ipFamilyPolicy: policy };
    return { ...allocated, service: { ...allocated.service, spec } };
  }
}

/** `clusterIP` and the first of `clusterIPs` are the same: what names only one names both. */
function withClusterIps(service: JsonObject): JsonObject {
  const spec = specOf(service);
  const [one, list] = [stringAt(spec, "clusterIP"), textsAt(spec, "clusterIPs")];
  if (one === "" || list[0] === one) return service;
  return { ...service, spec: { ...spec, clusterIPs: [one] } };
}

/** The families, in order, and what is wrong with those that the Service names. */
interface Families {
  readonly families: readonly IpFamily[];
  readonly policy: string;
  readonly problems: readonly FieldProblem[];
}

/** Decides the families of a Service. Pure. */
function chooseFamilies(service: JsonObject, cluster: readonly IpFamily[]): Families {
  const spec = specOf(service);
  const named = textsAt(spec, "ipFamilies").filter(isFamily);
  const addressed = textsAt(spec, "clusterIPs").flatMap(toFamily);
  const given = named.length > 0 ? named : addressed;
  const wish = stringAt(spec, "ipFamilyPolicy");
  const policy = wish || (given.length > 1 ? "RequireDualStack" : "SingleStack");
  const problems: FieldProblem[] = [];
  for (const [index, family] of named.entries()) {
    if (cluster.includes(family)) continue;
    const rule = `not configured on this cluster`;
    problems.push(invalidValue(`spec.ipFamilies[${index}]`, family, rule));
  }
  if (policy === "RequireDualStack" && cluster.length < 2) {
    const rule = "this cluster is not configured for dual-stack services";
    problems.push(invalidValue("spec.ipFamilyPolicy", policy, rule));
  }
  if (policy === "SingleStack" && given.length > 1) {
    const rule = "may only hold one value when the policy is SingleStack";
    problems.push(invalidValue("spec.ipFamilies", given, rule));
  }
  const first = given.length > 0 ? given : cluster.slice(0, 1);
  const rest = policy === "SingleStack" ? [] : cluster.filter((family) => !first.includes(family));
  return { families: [...first, ...rest], policy, problems };
}

function isFamily(text: string): text is IpFamily {
  return text === "IPv4" || text === "IPv6";
}

function toFamily(address: string): readonly IpFamily[] {
  const ip = parseIp(address);
  return ip === undefined ? [] : [ip.family === 4 ? "IPv4" : "IPv6"];
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
  return { ...after, spec: trimFamilies(old, spec), ...(!isBalanced && { status: {} }) };
}

/** A Service that becomes single-stack loses its second family. */
function trimFamilies(old: JsonObject, spec: JsonObject): JsonObject {
  const wasDual = old["ipFamilyPolicy"] !== undefined && old["ipFamilyPolicy"] !== "SingleStack";
  if (!wasDual || spec["ipFamilyPolicy"] !== "SingleStack") return spec;
  const first = (key: string): readonly string[] => textsAt(spec, key).slice(0, 1);
  return { ...spec, ipFamilies: first("ipFamilies"), clusterIPs: first("clusterIPs") };
}
