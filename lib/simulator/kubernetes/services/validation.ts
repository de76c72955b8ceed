/**
 * Rules for Services and their ports that the API server checks.
 * @module
 */
import { formatCidr, parseCidr, parseIp } from "../../../core/net/ip.ts";
import type { FieldProblem } from "../api_error.ts";
import { isEqual, type Json, type JsonObject, objectAt, stringAt } from "../patches/json.ts";
import { invalidValue, isQualifiedName, isSubdomain, unsupported } from "../schema/validation.ts";
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

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const NAME_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with " +
  "an alphanumeric character";
const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const RANGES_FIELD = "spec.loadBalancerSourceRanges";
const CLASS_FIELD = "spec.loadBalancerClass";

/** Problems of a Service with its defaults that is about to be stored. `before` is what it replaces. */
export function serviceProblems(
  service: JsonObject,
  before: JsonObject | undefined,
): readonly FieldProblem[] {
  return [
    ...nameProblems(stringAt(objectAt(service, "metadata"), "name")),
    ...typeProblems(service),
    ...portProblems(service),
    ...affinityProblems(specOf(service)),
    ...policyProblems(service, before),
    ...rangeProblems(service, before),
    ...classProblems(service, before),
    ...addressProblems(service, before),
  ];
}

/** Problems of a status that is about to be stored. */
export function ingressProblems(service: JsonObject): readonly FieldProblem[] {
  const field = "status.loadBalancer.ingress";
  const ingress = ingressOf(service);
  if (ingress.length > 0 && typeOf(service) !== "LoadBalancer") {
    return [forbidden(field, 'may only be used when `spec.type` is "LoadBalancer"')];
  }
  return ingress.flatMap((entry, index) => entryProblems(entry, `${field}[${index}]`));
}

function entryProblems(entry: JsonObject, field: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const [ip, hostname] = [stringAt(entry, "ip"), stringAt(entry, "hostname")];
  const mode = entry["ipMode"];
  if (ip !== "" && parseIp(ip) === undefined) {
    problems.push(invalidValue(`${field}.ip`, ip, "must be a valid IP address"));
  }
  if (mode !== undefined && ip === "") {
    problems.push(forbidden(`${field}.ipMode`, "may not be specified when `ip` is not set"));
  } else if (mode !== undefined && mode !== "VIP" && mode !== "Proxy") {
    problems.push(unsupported(`${field}.ipMode`, mode, ["Proxy", "VIP"]));
  }
  if (hostname === "") return problems;
  if (!isSubdomain(hostname)) {
    problems.push(invalidValue(`${field}.hostname`, hostname, "must be a lowercase DNS name"));
  } else if (parseIp(hostname) !== undefined) {
    const rule = "must be a DNS name, not an IP address";
    problems.push(invalidValue(`${field}.hostname`, hostname, rule));
  }
  return problems;
}

function nameProblems(name: string): readonly FieldProblem[] {
  const field = "metadata.name";
  if (name.length > 63) return [invalidValue(field, name, "must be no more than 63 characters")];
  return NAME.test(name) ? [] : [invalidValue(field, name, NAME_RULE)];
}

function typeProblems(service: JsonObject): readonly FieldProblem[] {
  const type = typeOf(service);
  if (!TYPES.includes(type)) return [unsupported("spec.type", type, TYPES)];
  if (type !== "ExternalName" || stringAt(specOf(service), "externalName") !== "") return [];
  return [{ field: "spec.externalName", reason: "FieldValueRequired", message: "Required value" }];
}

function affinityProblems(spec: JsonObject): readonly FieldProblem[] {
  const affinity = stringAt(spec, "sessionAffinity");
  if (affinity === "None") return [];
  if (affinity !== "ClientIP") {
    return [unsupported("spec.sessionAffinity", affinity, ["ClientIP", "None"])];
  }
  const config = objectAt(objectAt(spec, "sessionAffinityConfig"), "clientIP");
  const seconds = numberAt(config, "timeoutSeconds");
  if (seconds > 0 && seconds <= 86_400) return [];
  const field = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
  return [invalidValue(field, seconds, "must be greater than 0 and less than 86400")];
}

function policyProblems(
  service: JsonObject,
  before: JsonObject | undefined,
): readonly FieldProblem[] {
  const policy = specOf(service)["externalTrafficPolicy"];
  const field = "spec.externalTrafficPolicy";
  const problems: FieldProblem[] = [];
  if (policy !== undefined && !needsNodePorts(service)) {
    const rule = "ExternalTrafficPolicy can only be set on NodePort and LoadBalancer service";
    problems.push(invalidValue(field, policy, rule));
  } else if (policy !== undefined && policy !== "Cluster" && policy !== "Local") {
    const rule = "ExternalTrafficPolicy must be empty, Cluster or Local";
    problems.push(invalidValue(field, policy, rule));
  }
  const healthField = "spec.healthCheckNodePort";
  const health = numberAt(specOf(service), "healthCheckNodePort");
  if (health !== 0 && !needsHealthPort(service)) {
    const rule = "can only be set on LoadBalancer service with ExternalTrafficPolicy=Local";
    problems.push(invalidValue(healthField, health, `HealthCheckNodePort ${rule}`));
  }
  if (before === undefined || !needsHealthPort(before) || !needsHealthPort(service))
    return problems;
  if (numberAt(specOf(before), "healthCheckNodePort") !== health) {
    const rule =
      "cannot change healthCheckNodePort on loadBalancer service with externalTraffic=Local";
    problems.push(invalidValue(healthField, health, `${rule} during update`));
  }
  return problems;
}

function rangeProblems(
  service: JsonObject,
  before: JsonObject | undefined,
): readonly FieldProblem[] {
  const ranges = textsAt(specOf(service), "loadBalancerSourceRanges");
  if (ranges.length === 0) return [];
  if (typeOf(service) !== "LoadBalancer") {
    return [forbidden(RANGES_FIELD, "may only be used when `type` is 'LoadBalancer'")];
  }
  // What older versions took stays valid.
  const old = textsAt(specOf(before ?? {}), "loadBalancerSourceRanges");
  if (ranges.every((text) => isExactRange(text) || old.includes(text))) return [];
  const rule = "must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ";
  return [invalidValue(RANGES_FIELD, `[${ranges.join(" ")}]`, rule)];
}

/** Whether a text is a range without blanks, whose address has no bits beyond its length. */
function isExactRange(text: string): boolean {
  const range = text.includes("/") ? parseCidr(text) : undefined;
  return range !== undefined && formatCidr(range) === text;
}

function classProblems(
  service: JsonObject,
  before: JsonObject | undefined,
): readonly FieldProblem[] {
  const name = specOf(service)["loadBalancerClass"];
  const isBalanced = typeOf(service) === "LoadBalancer";
  const wasBalanced = before !== undefined && typeOf(before) === "LoadBalancer";
  const problems: FieldProblem[] = [];
  if (isBalanced && wasBalanced && !isEqual(specOf(before)["loadBalancerClass"], name)) {
    problems.push(invalidValue(CLASS_FIELD, name ?? null, "may not change once set"));
  }
  if (name === undefined) return problems;
  if (!isBalanced) {
    problems.push(forbidden(CLASS_FIELD, "may only be used when `type` is 'LoadBalancer'"));
  } else if (typeof name !== "string" || !isQualifiedName(name)) {
    problems.push(invalidValue(CLASS_FIELD, name, "name part must be non-empty"));
  }
  return problems;
}

function addressProblems(
  service: JsonObject,
  before: JsonObject | undefined,
): readonly FieldProblem[] {
  const [spec, problems] = [specOf(service), new Array<FieldProblem>()];
  const check = (key: string, isAllowed: (text: string) => boolean): void => {
    for (const [index, text] of textsAt(spec, key).entries()) {
      if (isAllowed(text)) continue;
      problems.push(invalidValue(`spec.${key}[${index}]`, text, "must be a valid IP address"));
    }
  };
  check("externalIPs", (text) => parseIp(text) !== undefined);
  check("clusterIPs", (text) => text === "None" || parseIp(text) !== undefined);
  const [clusterIp] = textsAt(spec, "clusterIPs");
  const field = "spec.clusterIPs[0]";
  if (clusterIp === "None" && needsNodePorts(service)) {
    const rule = `may not be set to 'None' for ${typeOf(service)} services`;
    problems.push(invalidValue(field, "None", rule));
  }
  const [was] = before === undefined ? [] : textsAt(specOf(before), "clusterIPs");
  if (was === undefined || typeOf(service) === "ExternalName" || was === clusterIp) return problems;
  const rule =
    clusterIp === undefined ? "primary clusterIP can not be unset" : "may not change once set";
  problems.push(invalidValue(field, clusterIp === undefined ? null : [clusterIp], rule));
  return problems;
}

function forbidden(field: string, rule: string): FieldProblem {
  return { field, reason: "FieldValueForbidden", message: `Forbidden: ${rule}` };
}

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with " +
  "an alphanumeric character";
const PORT_RULE = "must be between 1 and 65535, inclusive";
const PORT_NAME = /^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/;
const PROTOCOLS = ["SCTP", "TCP", "UDP"];

/** Problems of the ports of a Service with its defaults. */
function portProblems(service: JsonObject): readonly FieldProblem[] {
  const [ports, type] = [portsOf(service), typeOf(service)];
  const isHeadless = textsAt(specOf(service), "clusterIPs")[0] === "None";
  if (ports.length === 0) {
    const isOptional = isHeadless || type === "ExternalName";
    if (isOptional) return [];
    return [{ field: "spec.ports", reason: "FieldValueRequired", message: "Required value" }];
  }
  return [
    ...ports.flatMap((port, index) => onePortProblems(service, port, index)),
    ...duplicates(ports),
  ];
}

function onePortProblems(service: JsonObject, port: JsonObject, index: number): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const field = `spec.ports[${index}]`;
  const add = (key: string, value: Json, rule: string): void => {
    problems.push(invalidValue(`${field}.${key}`, value, rule));
  };
  const [name, number, target] = [
    stringAt(port, "name"),
    numberAt(port, "port"),
    port["targetPort"],
  ];
  if (name === "" && portsOf(service).length > 1) {
    const message = "Required value";
    problems.push({ field: `${field}.name`, reason: "FieldValueRequired", message });
  } else if (name !== "" && (!LABEL.test(name) || name.length > 63)) add("name", name, LABEL_RULE);
  if (!isPort(number)) add("port", number, PORT_RULE);
  if (typeof target === "number" && !isPort(target)) add("targetPort", target, PORT_RULE);
  if (typeof target === "string" && !PORT_NAME.test(target)) {
    const rule = "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)";
    add("targetPort", target, rule);
  }
  const [protocol, appProtocol] = [stringAt(port, "protocol"), port["appProtocol"]];
  if (!PROTOCOLS.includes(protocol)) {
    problems.push(unsupported(`${field}.protocol`, protocol, PROTOCOLS));
  }
  if (typeof appProtocol === "string" && !isQualifiedName(appProtocol)) {
    add("appProtocol", appProtocol, "name part must consist of alphanumeric characters");
  }
  if (numberAt(port, "nodePort") !== 0 && !needsNodePorts(service)) {
    const message = `Forbidden: may not be used when \`type\` is '${typeOf(service)}'`;
    problems.push({ field: `${field}.nodePort`, reason: "FieldValueForbidden", message });
  }
  return problems;
}

/** No two ports have the same name, the same port and protocol, or the same node port and protocol. */
function duplicates(ports: readonly JsonObject[]): readonly FieldProblem[] {
  const seen = new Set<string>();
  return ports.flatMap((port, index) => {
    const [name, protocol] = [stringAt(port, "name"), stringAt(port, "protocol")];
    const nodePort = numberAt(port, "nodePort");
    const keys: readonly (readonly [string, string, Json])[] = [
      ...(name === "" ? [] : ([[".name", name, name]] as const)),
      ["", `${protocol}/${numberAt(port, "port")}`, port],
      ...(nodePort === 0 ? [] : ([[".nodePort", `${protocol}/${nodePort}`, nodePort]] as const)),
    ];
    return keys.flatMap(([key, identity, value]) => {
      const isNew = !seen.has(`${key} ${identity}`);
      seen.add(`${key} ${identity}`);
      if (isNew) return [];
      const message = `Duplicate value: ${JSON.stringify(value)}`;
      return [{ field: `spec.ports[${index}]${key}`, reason: "FieldValueDuplicate", message }];
    });
  });
}

function isPort(number: number): boolean {
  return number >= 1 && number <= 65_535;
}
