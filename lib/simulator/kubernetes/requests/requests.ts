/**
 * Reads what a request to the simulated API server asks for: its path, headers and body.
 * @module
 */
import { ApiError, badRequest } from "../api_error.ts";
import type { Kind } from "../schema/kind.ts";
import { findKind } from "../schema/kinds.ts";
import type { Json } from "../patches/json.ts";
import type { TableOptions } from "../tables.ts";
import { PROTOBUF_TYPE, readProtobuf } from "./protobuf.ts";

/** What a path names. */
export interface ApiPath {
  readonly kind: Kind;
  /** `""` for all namespaces, and for cluster-scoped kinds. */
  readonly namespace: string;
  /** `""` for the collection. */
  readonly name: string;
  /** `""` for the object itself. */
  readonly subresource: string;
}

/** Reads `/api/v1/…` and `/apis/<group>/<version>/…`; `undefined` for any other path or an unknown kind. */
export function parseApiPath(pathname: string, kinds?: readonly Kind[]): ApiPath | undefined {
  const parts = decodePath(pathname);
  const root = parts.shift();
  if (root !== "api" && root !== "apis") return undefined;
  const group = root === "apis" ? (parts.shift() ?? "") : "";
  const version = parts.shift() ?? "";
  const [first, namespace, plural] = parts;
  const isInNamespace = first === "namespaces" && plural !== undefined && plural !== "status";
  const [resource, name, subresource, excess] = isInNamespace ? parts.slice(2) : parts;
  const kind = findKind(group, version, resource ?? "", kinds);
  if (kind === undefined || excess !== undefined) return undefined;
  if (isInNamespace && !kind.namespaced) return undefined;
  return {
    kind,
    namespace: isInNamespace ? (namespace ?? "") : "",
    name: name ?? "",
    subresource: subresource ?? "",
  };
}

function decodePath(pathname: string): string[] {
  try {
    return pathname.slice(1).split("/").map(decodeURIComponent);
  } catch {
    // A `%` alone: no object has such a path.
    return [];
  }
}

/** The verb by which the API server authorises a request. */
export function verbOf(method: string, path: ApiPath | undefined, query: URLSearchParams): string {
  const isOne = path === undefined || path.name !== "";
  switch (method) {
    case "GET":
    case "HEAD":
      if (path !== undefined && isWatch(query)) return "watch";
      return isOne ? "get" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return isOne ? "delete" : "deletecollection";
    default:
      return method.toLowerCase();
  }
}

/** Whether a query asks for a watch. */
function isWatch(query: URLSearchParams): boolean {
  const value = query.get("watch");
  return value === "1" || value === "true";
}

/** Media type without parameters, in lower case. */
export function mediaTypeOf(request: Request): string {
  return (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/** Media type of objects in YAML. */
export const YAML_TYPE = "application/yaml";

/**
 * Reads a body.
 *
 * @param allowed Media types that are accepted; a body without a type counts as JSON where JSON is accepted
 * @throws ApiError 415 for another type, 400 for a body that cannot be read
 */
export async function readBody(request: Request, allowed: readonly string[]): Promise<Json> {
  const type = mediaTypeOf(request);
  const isJson = type === "" && allowed.includes("application/json");
  if (!isJson && !allowed.includes(type)) {
    throw new ApiError(
      415,
      "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: " +
        allowed.join(", "),
    );
  }
  if (type === PROTOBUF_TYPE) return readProtobuf(await request.bytes());
  const text = await request.text();
  try {
    return isYaml(type, text) ? toJson(Bun.YAML.parse(text)) : JSON.parse(text);
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${String(error)}`);
  }
}

/** kubectl and Landfall send JSON, which is also YAML, as patches for server-side apply. */
function isYaml(type: string, text: string): boolean {
  return type.endsWith("yaml") && !text.startsWith("{");
}

function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value) ?? "null");
}

/**
 * Whether the client wants a Table, and in which form.
 *
 * @throws ApiError 406 when the client accepts nothing that the server has
 */
export function tableOptionsOf(
  request: Request,
  query: URLSearchParams,
  nowMs: number,
): TableOptions | undefined {
  const accepted = (request.headers.get("accept") ?? "*/*").split(",").map((one) => one.trim());
  for (const one of accepted) {
    const [type = "", ...parameters] = one.split(";").map((part) => part.trim());
    if (!["application/json", "application/*", "*/*"].includes(type)) continue;
    if (!parameters.some((part) => part.startsWith("as="))) return undefined;
    if (!parameters.includes("as=Table") || !parameters.includes("v=v1")) continue;
    const wish = query.get("includeObject");
    const includeObject = wish === "None" || wish === "Object" ? wish : "Metadata";
    return { includeObject, nowMs };
  }
  throw new ApiError(
    406,
    "NotAcceptable",
    "only the following media types are accepted: application/json",
  );
}
