/**
 * Reads objects in Protocol Buffers: `kubectl auth`, `kubectl create service` and `kubectl create namespace` send no
 * JSON.
 * @module
 */
import { ApiError, badRequest } from "../api_error.ts";
import { isArray, isObject, type Json, type JsonObject } from "../patches/json.ts";

/** Media type of objects in Protocol Buffers. */
export const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";

/** How to read a value. `ignored`: the server sets the field itself. */
type Type = "flag" | "ignored" | "map" | "number" | "portOrName" | "text" | Message;

interface Field {
  readonly name: string;
  readonly type: Type;
  readonly isList?: true;
}

/** The fields of a message by their numbers in Kubernetes' `generated.proto`. */
type Message = ReadonlyMap<number, Field>;

const MAGIC = new TextEncoder().encode("k8s\0");
const NONE = new Uint8Array();
const VARINT_BYTES_MAX = 10;

const METADATA = message({
  1: one("name"),
  2: one("generateName"),
  3: one("namespace"),
  4: one("selfLink", "ignored"),
  5: one("uid"),
  6: one("resourceVersion"),
  7: one("generation", "number"),
  8: one("creationTimestamp", "ignored"),
  11: one("labels", "map"),
  12: one("annotations", "map"),
  14: list("finalizers"),
});

const PORT = message({
  1: one("name"),
  2: one("protocol"),
  3: one("port", "number"),
  4: one("targetPort", "portOrName"),
  5: one("nodePort", "number"),
  6: one("appProtocol"),
});

const SERVICE_SPEC = message({
  1: list("ports", PORT),
  2: one("selector", "map"),
  3: one("clusterIP"),
  4: one("type"),
  5: list("externalIPs"),
  7: one("sessionAffinity"),
  8: one("loadBalancerIP"),
  9: list("loadBalancerSourceRanges"),
  10: one("externalName"),
  11: one("externalTrafficPolicy"),
  12: one("healthCheckNodePort", "number"),
  13: one("publishNotReadyAddresses", "flag"),
  17: one("ipFamilyPolicy"),
  18: list("clusterIPs"),
  19: list("ipFamilies"),
  20: one("allocateLoadBalancerNodePorts", "flag"),
  21: one("loadBalancerClass"),
  22: one("internalTrafficPolicy"),
});

/** A review has no metadata that matters. @param spec Its fields */
function review(spec: Readonly<Record<number, Field>>): Message {
  return message({
    1: one("metadata", "ignored"),
    2: one("spec", message(spec)),
    3: one("status", "ignored"),
  });
}

/** The kinds that can be read. */
const KINDS: ReadonlyMap<string, Message> = new Map([
  [
    "v1 Service",
    message({
      1: one("metadata", METADATA),
      2: one("spec", SERVICE_SPEC),
      3: one("status", "ignored"),
    }),
  ],
  [
    "v1 Namespace",
    message({
      1: one("metadata", METADATA),
      2: one("spec", message({ 1: list("finalizers") })),
      3: one("status", "ignored"),
    }),
  ],
  [
    "authorization.k8s.io/v1 SelfSubjectAccessReview",
    review({
      1: one(
        "resourceAttributes",
        message({
          1: one("namespace"),
          2: one("verb"),
          3: one("group"),
          4: one("version"),
          5: one("resource"),
          6: one("subresource"),
          7: one("name"),
        }),
      ),
      2: one("nonResourceAttributes", message({ 1: one("path"), 2: one("verb") })),
    }),
  ],
  ["authorization.k8s.io/v1 SelfSubjectRulesReview", review({ 1: one("namespace") })],
  [
    "authentication.k8s.io/v1 SelfSubjectReview",
    message({ 1: one("metadata", "ignored"), 2: one("status", "ignored") }),
  ],
]);

const PORT_OR_NAME = message({
  1: one("type", "number"),
  2: one("number", "number"),
  3: one("name"),
});
const MAP_ENTRY = message({ 1: one("key"), 2: one("value") });

/**
 * Reads an object, as JSON with its `kind` and `apiVersion`. Empty values are left out, as in JSON.
 *
 * @throws ApiError 415 for another kind, 400 for bytes that cannot be read
 */
export function readProtobuf(bytes: Uint8Array): JsonObject {
  if (!MAGIC.every((byte, at) => bytes[at] === byte)) {
    throw badRequest("provided data does not appear to be a protobuf message, expected prefix");
  }
  const { apiVersion, kind, raw } = readEnvelope(bytes.subarray(MAGIC.length));
  const fields = KINDS.get(`${apiVersion} ${kind}`);
  if (fields === undefined) {
    const text = `the simulated API server cannot read a ${kind} in protobuf: send JSON or YAML`;
    throw new ApiError(415, "UnsupportedMediaType", text);
  }
  return { apiVersion, kind, ...readMessage(raw, fields) };
}

/** What surrounds every object: `runtime.Unknown`. */
function readEnvelope(bytes: Uint8Array): {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
} {
  const [types, raw] = [1, 2].map((number) => findBytes(bytes, number));
  const [apiVersion, kind] = [1, 2].map((number) => toText(findBytes(types ?? NONE, number)));
  return { apiVersion: apiVersion ?? "", kind: kind ?? "", raw: raw ?? NONE };
}

function findBytes(bytes: Uint8Array, wanted: number): Uint8Array {
  for (const [number, raw] of listFields(bytes)) if (number === wanted) return toBytes(raw);
  return NONE;
}

function readMessage(bytes: Uint8Array, fields: Message): JsonObject {
  const found: Record<string, Json> = {};
  for (const [number, raw] of listFields(bytes)) {
    const field = fields.get(number);
    if (field === undefined) {
      if (isEmpty(raw)) continue;
      throw badRequest(
        `the simulated API server cannot read field ${number} in protobuf: send JSON`,
      );
    }
    const { name, type, isList = false } = field;
    if (type === "ignored" || (isEmpty(raw) && !isList)) continue;
    const before = found[name];
    const value = readValue(raw, type);
    if (isList) found[name] = isArray(before) ? [...before, value] : [value];
    else found[name] = isObject(before) && isObject(value) ? { ...before, ...value } : value;
  }
  return found;
}

function readValue(raw: number | Uint8Array, type: Exclude<Type, "ignored">): Json {
  switch (type) {
    case "text":
      return toText(raw);
    case "number":
      return toNumber(raw);
    case "flag":
      return toNumber(raw) !== 0;
    case "map": {
      const { key = "", value = "" } = readMessage(toBytes(raw), MAP_ENTRY);
      return { [String(key)]: value };
    }
    case "portOrName": {
      const { name, number = 0 } = readMessage(toBytes(raw), PORT_OR_NAME);
      return name ?? number;
    }
    default:
      return readMessage(toBytes(raw), type);
  }
}

/** Numbers and contents of the fields of a message, in their order. */
function* listFields(bytes: Uint8Array): Generator<readonly [number, number | Uint8Array]> {
  let at = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let place = 0; place < VARINT_BYTES_MAX; place += 1) {
      const byte = bytes[at] ?? cut();
      at += 1;
      value += (byte & 0x7f) * 2 ** (7 * place);
      if (byte < 0x80) return value;
    }
    return cut();
  };
  while (at < bytes.length) {
    const tag = readVarint();
    const [number, wire] = [Math.floor(tag / 8), tag % 8];
    if (wire === 0) {
      yield [number, readVarint()];
      continue;
    }
    const length = wire === 2 ? readVarint() : cut();
    if (length > bytes.length - at) cut();
    yield [number, bytes.subarray(at, at + length)];
    at += length;
  }
}

/** @throws ApiError always */
function cut(): never {
  throw badRequest("the protobuf message is damaged");
}

function isEmpty(raw: number | Uint8Array): boolean {
  return raw === 0 || (typeof raw !== "number" && raw.length === 0);
}

function toBytes(raw: number | Uint8Array): Uint8Array {
  return typeof raw === "number" ? cut() : raw;
}

function toText(raw: number | Uint8Array): string {
  return new TextDecoder().decode(toBytes(raw));
}

function toNumber(raw: number | Uint8Array): number {
  return typeof raw === "number" ? raw : cut();
}

function message(fields: Readonly<Record<number, Field>>): Message {
  return new Map(Object.entries(fields).map(([number, field]) => [Number(number), field]));
}

function one(name: string, type: Type = "text"): Field {
  return { name, type };
}

function list(name: string, type: Type = "text"): Field {
  return { name, type, isList: true };
}
