/**
 * Objects as rows, the form that `kubectl get` requests.
 * @module
 */
import { apiVersionOf, type Kind, type PrinterColumn, readJsonPath } from "./schema/kind.ts";
import { isArray, isObject, objectAt, stringAt } from "./patches/json.ts";
import type { ApiObject, Json, JsonObject } from "./patches/json.ts";
import { ingressOf, numberAt, portsOf, specOf, typeOf } from "./services/service.ts";

/** How to make a table. */
export interface TableOptions {
  /** What each row contains besides its cells. */
  readonly includeObject: "None" | "Metadata" | "Object";
  /** Wall-clock time in milliseconds, for ages. */
  readonly nowMs: number;
  /** Omitted in all but the first event of a watch. @default true */
  readonly withColumns?: boolean;
  readonly resourceVersion?: string;
}

interface Column {
  readonly name: string;
  /** @default "string" */
  readonly type?: string;
  /** 1 is shown by `-o wide` only. */
  readonly priority: 0 | 1;
  readonly cell: (object: ApiObject, nowMs: number) => Json;
}

const NAME: Column = { name: "Name", priority: 0, cell: (object) => object.metadata.name };
const AGE: Column = {
  name: "Age",
  priority: 0,
  cell: (object, nowMs) => formatAge(object.metadata.creationTimestamp, nowMs),
};

/** A Table (meta.k8s.io/v1) of objects of one kind. */
export function toTable(
  kind: Kind,
  objects: readonly ApiObject[],
  options: TableOptions,
): JsonObject {
  const columns = columnsOf(kind);
  const definitions = columns.map(({ name, type = "string", priority }) => ({
    name,
    type,
    format: name === "Name" ? "name" : "",
    description: name,
    priority,
  }));
  const { resourceVersion } = options;
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: resourceVersion === undefined ? {} : { resourceVersion },
    columnDefinitions: options.withColumns === false ? null : definitions,
    rows: objects.map((object) => ({
      cells: columns.map((column) => column.cell(object, options.nowMs)),
      object: rowObject(kind, object, options.includeObject),
    })),
  };
}

function rowObject(
  kind: Kind,
  object: ApiObject,
  include: TableOptions["includeObject"],
): JsonObject | null {
  if (include === "None") return null;
  if (include === "Object") return { kind: kind.kind, apiVersion: apiVersionOf(kind), ...object };
  const { metadata } = object;
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
}

function columnsOf(kind: Kind): readonly Column[] {
  if (kind.columns !== undefined) return [NAME, ...kind.columns.map(toColumn)];
  if (kind.kind === "Node") return NODE_COLUMNS;
  if (kind.kind === "Event") return EVENT_COLUMNS;
  if (kind.kind === "Service") return SERVICE_COLUMNS;
  if (kind.kind === "Namespace") {
    const cell = (object: ApiObject): Json => stringAt(objectAt(object, "status"), "phase");
    return [NAME, { name: "Status", priority: 0, cell }, AGE];
  }
  if (kind.kind === "Lease") {
    const cell = (object: ApiObject): Json => stringAt(objectAt(object, "spec"), "holderIdentity");
    return [NAME, { name: "Holder", priority: 0, cell }, AGE];
  }
  return [NAME, AGE];
}

function toColumn({ name, type, jsonPath, priority = 0 }: PrinterColumn): Column {
  const cell: Column["cell"] = (object, nowMs) => {
    const value = readJsonPath(object, jsonPath);
    return type === "date" && typeof value === "string" ? formatAge(value, nowMs) : (value ?? null);
  };
  return { name, type, priority, cell };
}

const NODE_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Status", priority: 0, cell: nodeStatus },
  { name: "Roles", priority: 0, cell: nodeRoles },
  AGE,
  { name: "Version", priority: 0, cell: (node) => nodeInfo(node, "kubeletVersion") },
  { name: "Internal-IP", priority: 1, cell: (node) => nodeAddress(node, "InternalIP") },
  { name: "External-IP", priority: 1, cell: (node) => nodeAddress(node, "ExternalIP") },
  { name: "OS-Image", priority: 1, cell: (node) => nodeInfo(node, "osImage") || "<unknown>" },
  {
    name: "Kernel-Version",
    priority: 1,
    cell: (node) => nodeInfo(node, "kernelVersion") || "<unknown>",
  },
  {
    name: "Container-Runtime",
    priority: 1,
    cell: (node) => nodeInfo(node, "containerRuntimeVersion") || "<unknown>",
  },
];

function nodeInfo(node: ApiObject, field: string): string {
  return stringAt(objectAt(objectAt(node, "status"), "nodeInfo"), field);
}

function itemsOf(node: ApiObject, field: string): readonly JsonObject[] {
  const list = objectAt(node, "status")[field];
  return isArray(list) ? list.filter(isObject) : [];
}

function nodeStatus(node: ApiObject): string {
  const ready = itemsOf(node, "conditions").find((one) => one["type"] === "Ready");
  const status =
    ready === undefined ? "Unknown" : ready["status"] === "True" ? "Ready" : "NotReady";
  const cordoned = objectAt(node, "spec")["unschedulable"] === true;
  return cordoned ? `${status},SchedulingDisabled` : status;
}

function nodeRoles(node: ApiObject): string {
  const prefix = "node-role.kubernetes.io/";
  const labels = objectAt(node.metadata, "labels");
  const roles = Object.entries(labels).flatMap(([key, value]) => {
    if (key.startsWith(prefix) && key.length > prefix.length) return [key.slice(prefix.length)];
    return key === "kubernetes.io/role" && typeof value === "string" && value !== "" ? [value] : [];
  });
  return roles.length === 0 ? "<none>" : [...new Set(roles)].sort().join(",");
}

function nodeAddress(node: ApiObject, type: string): string {
  const found = itemsOf(node, "addresses").find((one) => one["type"] === type);
  return found === undefined ? "<none>" : stringAt(found, "address");
}

const SERVICE_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Type", priority: 0, cell: typeOf },
  {
    name: "Cluster-IP",
    priority: 0,
    cell: (service) => stringAt(specOf(service), "clusterIP") || "<none>",
  },
  { name: "External-IP", priority: 0, cell: serviceAddress },
  {
    name: "Port(s)",
    priority: 0,
    cell: (service) => portsOf(service).map(servicePort).join(",") || "<none>",
  },
  AGE,
];

function serviceAddress(service: ApiObject): string {
  if (typeOf(service) !== "LoadBalancer") return "<none>";
  const texts = ingressOf(service).map(
    (entry) => stringAt(entry, "ip") || stringAt(entry, "hostname"),
  );
  return texts.join(",") || "<pending>";
}

function servicePort(port: JsonObject): string {
  const nodePort = numberAt(port, "nodePort");
  const number = `${numberAt(port, "port")}${nodePort === 0 ? "" : `:${nodePort}`}`;
  return `${number}/${stringAt(port, "protocol")}`;
}

const EVENT_COLUMNS: readonly Column[] = [
  {
    name: "Last Seen",
    priority: 0,
    cell: (event, nowMs) =>
      formatAge(stringAt(event, "lastTimestamp") || event.metadata.creationTimestamp, nowMs),
  },
  { name: "Type", priority: 0, cell: (event) => stringAt(event, "type") },
  { name: "Reason", priority: 0, cell: (event) => stringAt(event, "reason") },
  {
    name: "Object",
    priority: 0,
    cell: (event) => {
      const involved = objectAt(event, "involvedObject");
      return `${stringAt(involved, "kind").toLowerCase()}/${stringAt(involved, "name")}`;
    },
  },
  {
    name: "Subobject",
    priority: 1,
    cell: (event) => stringAt(objectAt(event, "involvedObject"), "fieldPath"),
  },
  {
    name: "Source",
    priority: 1,
    cell: (event) => stringAt(objectAt(event, "source"), "component"),
  },
  { name: "Message", priority: 0, cell: (event) => stringAt(event, "message").trim() },
  {
    name: "First Seen",
    priority: 1,
    cell: (event, nowMs) => formatAge(stringAt(event, "firstTimestamp"), nowMs),
  },
  {
    name: "Count",
    priority: 1,
    cell: (event) => (typeof event["count"] === "number" ? String(event["count"]) : "1"),
  },
  { ...NAME, priority: 1 },
];

/** An age as kubectl writes it: `45s`, `3m20s`, `12m`, `5h3m`, `26h`, `12d`, `2y40d`. */
function formatAge(since: string, nowMs: number): string {
  const start = Date.parse(since);
  if (Number.isNaN(start)) return "<unknown>";
  const seconds = Math.max(0, Math.floor((nowMs - start) / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const withRest = (whole: string, rest: number, unit: string): string =>
    rest === 0 ? whole : `${whole}${rest}${unit}`;
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return withRest(`${minutes}m`, seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return withRest(`${hours}h`, minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  if (days < 8) return withRest(`${days}d`, hours % 24, "h");
  if (days < 730) return `${days}d`;
  return withRest(`${Math.floor(days / 365)}y`, days % 365, "d");
}
