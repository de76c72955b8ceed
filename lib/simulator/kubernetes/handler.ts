/**
 * Answers requests as the API server does.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { findReview } from "./access_reviews.ts";
import { ApiError, badRequest, invalid, noSuchPath, toRefusal } from "./api_error.ts";
import { discover } from "./schema/discovery.ts";
import { encodeList, encodeObject, type Form } from "./requests/encoding.ts";
import type { Faults } from "./faults.ts";
import { objectAt, stringAt, type ApiObject, type JsonObject } from "./patches/json.ts";
import { apiVersionOf } from "./schema/kind.ts";
import { listObjects } from "./lists.ts";
import { applyMergePatch, applyStrategicPatch } from "./patches/merge_patches.ts";
import type { Registry } from "./registry.ts";
import { checkPrecondition, requireObject, subjectOf, type WriteOptions } from "./writes.ts";
import type { RequestLog } from "./requests/log.ts";
import { PROTOBUF_TYPE } from "./requests/protobuf.ts";
import {
  mediaTypeOf,
  parseApiPath,
  readBody,
  tableOptionsOf,
  verbOf,
  YAML_TYPE,
} from "./requests/requests.ts";
import type { ApiPath } from "./requests/requests.ts";
import type { Watches } from "./watches.ts";

const BODY_TYPES = ["application/json"];
const OBJECT_TYPES = [...BODY_TYPES, YAML_TYPE, PROTOBUF_TYPE];
const MERGE_TYPE = "application/merge-patch+json";
const PATCH_TYPES = [MERGE_TYPE, "application/strategic-merge-patch+json"];
const APPLY_TYPE = "application/apply-patch+yaml";

/** The dependencies of the handler. */
export interface HandlerContext {
  readonly clock: Clock;
  readonly registry: Registry;
  readonly watches: Watches;
  readonly faults: Faults;
  readonly requests: RequestLog;
}

interface Call {
  readonly request: Request;
  readonly query: URLSearchParams;
  readonly path: ApiPath;
  readonly form: Form;
}

/** Answers one request. Refusals become Status bodies. It throws only on a bug of its own. */
export async function handle(context: HandlerContext, request: Request): Promise<Response> {
  const url = new URL(request.url);
  const path = parseApiPath(url.pathname, context.registry.kinds);
  const verb = verbOf(request.method, path, url.searchParams);
  const name = path?.name ?? "";
  const resource = path === undefined ? "" : resourceOf(path);
  context.requests.add({
    method: request.method,
    path: url.pathname,
    query: url.search,
    verb,
    resource,
    name,
    userAgent: request.headers.get("user-agent") ?? "",
    contentType: request.headers.get("content-type") ?? "",
  });
  try {
    const { delayMs } = context.faults;
    if (delayMs > 0) await context.clock.sleep(delayMs, request.signal);
    const rule = context.faults.take({ verb, resource, name });
    if (rule !== undefined) throw toRefusal(rule);
    const review = request.method === "POST" && findReview(url.pathname, context.faults);
    if (review) {
      const body = await readBody(request, OBJECT_TYPES);
      return reply(JSON.stringify(review(body)), { status: 201 });
    }
    if (path === undefined) return discoverOrPass(context, url.pathname, request);
    if (context.faults.denies({ verb, resource, namespace: path.namespace })) {
      const { group } = path.kind;
      const where =
        path.namespace === "" ? "at the cluster scope" : `in the namespace "${path.namespace}"`;
      const why = `cannot ${verb} resource "${resource}" in API group "${group}" ${where}`;
      throw new ApiError(403, "Forbidden", `${resource} is forbidden: User "simulated" ${why}`);
    }
    const table = tableOptionsOf(request, url.searchParams, context.clock.now());
    const call = { request, query: url.searchParams, path, form: { table } };
    return await answer(context, verb, call);
  } catch (error) {
    if (error instanceof ApiError) return toRefusalReply(error);
    if (request.signal.aborted) return new Response(null, { status: 499 });
    throw error;
  }
}

/** Answers a path outside the built-in groups like a server that does not use Status. */
function discoverOrPass({ registry }: HandlerContext, path: string, request: Request): Response {
  try {
    return discover(path, request, registry.kinds);
  } catch (error) {
    const [, root, group] = path.split("/");
    const isBuiltIn = registry.kinds.some((kind) => kind.group === group && !kind.isCustom);
    if (root !== "apis" || isBuiltIn) throw error;
    const headers = { "content-type": "text/plain; charset=utf-8" };
    return new Response("404 page not found\n", { status: 404, headers });
  }
}

function resourceOf(path: ApiPath): string {
  const { plural } = path.kind;
  return path.subresource === "" ? plural : `${plural}/${path.subresource}`;
}

function toRefusalReply(error: ApiError): Response {
  const { retryAfterSeconds } = error.options;
  const retry = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return reply(JSON.stringify(error.toStatus()), { status: error.code, headers: retry });
}

function reply(
  body: string,
  options: { readonly status?: number; readonly headers?: Record<string, string> } = {},
): Response {
  const headers = { "content-type": "application/json", ...options.headers };
  return new Response(body, { status: options.status ?? 200, headers });
}

function answer(context: HandlerContext, verb: string, call: Call): Response | Promise<Response> {
  const { path } = call;
  const known = path.subresource === "" || (path.subresource === "status" && path.kind.hasStatus);
  if (!known) throw noSuchPath();
  switch (verb) {
    case "get":
      return reply(encodeObject(path.kind, context.registry.read(path), call.form));
    case "list":
      return reply(
        encodeList(path.kind, listObjects(context.registry, path, call.query), call.form),
      );
    case "watch":
      return new Response(context.watches.open(path, call.query, call.form), {
        headers: { "content-type": "application/json" },
      });
    case "create":
      return create(context, call);
    case "update":
      return update(context, call);
    case "patch":
      return patch(context, call);
    case "delete":
      return remove(context, call);
    default:
      throw new ApiError(
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
      );
  }
}

async function create(context: HandlerContext, call: Call): Promise<Response> {
  const { path } = call;
  if (path.name !== "") throw noSuchPath();
  if (path.kind.namespaced && path.namespace === "") throw noSuchPath();
  const body = await readWhole(call);
  const { options, headers } = writeOptionsOf(call);
  const stored = context.registry.create(path, body, options);
  return reply(encodeObject(path.kind, stored, call.form), { status: 201, headers });
}

async function update(context: HandlerContext, call: Call): Promise<Response> {
  const { path } = call;
  const body = await readWhole(call);
  const metadata = objectAt(body, "metadata");
  if (stringAt(metadata, "name") !== path.name) {
    throw badRequest("the name of the object does not match the name on the URL");
  }
  const { options, headers } = writeOptionsOf(call);
  const exists = context.registry.has(path);
  if (!exists && path.kind.createsOnUpdate) {
    const stored = context.registry.create(path, body, options);
    return reply(encodeObject(path.kind, stored, call.form), { status: 201, headers });
  }
  if (exists && path.kind.needsVersionOnUpdate && stringAt(metadata, "resourceVersion") === "") {
    const message = "Invalid value: 0x0: must be specified for an update";
    const field = "metadata.resourceVersion";
    throw invalid(subjectOf(path), [{ field, reason: "FieldValueInvalid", message }]);
  }
  const replace = (before: ApiObject): JsonObject => {
    // A UID in a PUT is a precondition. A patch must not change the UID.
    checkPrecondition(path, "UID", [stringAt(metadata, "uid") || undefined, before.metadata.uid]);
    return body;
  };
  const stored = context.registry.update(path, replace, options);
  return reply(encodeObject(path.kind, stored, call.form), { headers });
}

/** A whole object. It must name its kind if the server has no type for it. */
async function readWhole({ path, request }: Call): Promise<JsonObject> {
  const body = requireObject(await readBody(request, OBJECT_TYPES));
  return path.kind.isCustom ? requireTyped(path, body) : body;
}

function requireTyped({ kind }: ApiPath, body: JsonObject): JsonObject {
  const missing = ["kind", "apiVersion"].find((name) => stringAt(body, name) === "");
  if (missing === undefined) return body;
  throw badRequest(`${kind.kind} cannot be read: '${missing}' is missing`);
}

async function patch(context: HandlerContext, call: Call): Promise<Response> {
  const { path } = call;
  // Without a schema, the server does not know how to merge lists.
  const types = path.kind.isCustom ? [MERGE_TYPE] : PATCH_TYPES;
  const type = mediaTypeOf(call.request);
  if (type === APPLY_TYPE) return apply(context, call);
  const body = await readBody(call.request, types);
  const { options, headers } = writeOptionsOf(call);
  const change = (before: ApiObject): JsonObject => {
    const typed = { kind: path.kind.kind, apiVersion: apiVersionOf(path.kind), ...before };
    const merge = requireObject(body);
    if (type === MERGE_TYPE) return applyMergePatch(typed, merge);
    return applyStrategicPatch(path.kind.schema, typed, merge);
  };
  const stored = context.registry.update(path, change, options);
  return reply(encodeObject(path.kind, stored, call.form), { headers });
}

async function apply(context: HandlerContext, call: Call): Promise<Response> {
  const { path, query } = call;
  const body = requireTyped(path, requireObject(await readBody(call.request, [APPLY_TYPE])));
  const manager = query.get("fieldManager") ?? "";
  if (manager === "") {
    const message = "Required value: is required for apply patch";
    const subject = { group: "meta.k8s.io", resource: "", kind: "PatchOptions", name: "" };
    throw invalid(subject, [{ field: "fieldManager", reason: "FieldValueRequired", message }]);
  }
  const { options, headers } = writeOptionsOf(call);
  const force = query.get("force") === "true";
  const { stored, isNew } = context.registry.apply(path, body, { ...options, manager, force });
  const status = isNew ? 201 : 200;
  return reply(encodeObject(path.kind, stored, call.form), { status, headers });
}

async function remove(context: HandlerContext, call: Call): Promise<Response> {
  const { path, request } = call;
  const hasBody = request.headers.get("content-length") !== "0" && request.body !== null;
  const body = hasBody ? requireObject(await readBody(request, BODY_TYPES)) : {};
  const preconditions = objectAt(body, "preconditions");
  const [uid, resourceVersion] = [preconditions["uid"], preconditions["resourceVersion"]];
  const deletion = context.registry.delete(path, {
    ...(typeof uid === "string" ? { uid } : {}),
    ...(typeof resourceVersion === "string" ? { resourceVersion } : {}),
  });
  if (!deletion.gone) return reply(encodeObject(path.kind, deletion.stored, call.form));
  const { group, plural } = path.kind;
  const details = {
    name: path.name,
    ...(group === "" ? {} : { group }),
    kind: plural,
    uid: deletion.stored.object.metadata.uid,
  };
  const head = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" };
  return reply(JSON.stringify({ ...head, details }));
}

/** `fieldValidation` and `dryRun` of a write. Warnings go into the headers while it runs. */
function writeOptionsOf(call: Call): {
  readonly options: WriteOptions;
  readonly headers: Record<string, string>;
} {
  const headers: Record<string, string> = {};
  const validation = call.query.get("fieldValidation");
  const onUnknown = (paths: readonly string[]): void => {
    if (paths.length === 0) return;
    const texts = paths.map((path) => `unknown field "${path}"`);
    if (validation === "Strict") {
      throw badRequest(`strict decoding error: ${texts.join(", ")}`);
    }
    if (validation !== "Warn") return;
    headers["warning"] = texts.map((text) => `299 - ${JSON.stringify(text)}`).join(", ");
  };
  return { options: { onUnknown, dryRun: call.query.get("dryRun") === "All" }, headers };
}
