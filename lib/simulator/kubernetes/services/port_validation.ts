/**
 * Rules for the ports of a Service that the API server checks.
 * @module
 */
import type { FieldProblem } from "../api_error.ts";
import { stringAt, type Json, type JsonObject } from "../patches/json.ts";
import { invalidValue, isQualifiedName, unsupported } from "../schema/validation.ts";
import { needsNodePorts, numberAt, portsOf, specOf, textsAt, typeOf } from "./service.ts";

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with " +
  "an alphanumeric character";
const PORT_RULE = "must be between 1 and 65535, inclusive";
const PORT_NAME = /^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/;
const PROTOCOLS = ["SCTP", "TCP", "UDP"];

/** Problems of the ports of a Service with its defaults. */
export function portProblems(service: JsonObject): readonly FieldProblem[] {
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
