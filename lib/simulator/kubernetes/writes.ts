/**
 * What a write may change in an object, and its conditions.
 * @module
 */
import { badRequest, conflict, invalid, type ErrorSubject } from "./api_error.ts";
import { isArray, isEqual, isObject, objectAt, stringAt, without } from "./patches/json.ts";
import type { ApiObject, Json, JsonObject } from "./patches/json.ts";
import { apiVersionOf, type Kind } from "./schema/kind.ts";
import { normalize } from "./schema/schema.ts";
import type { Stored } from "./store.ts";

/** The object of a write. `namespace` is `""` for cluster-scoped kinds. */
export interface Target {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  /** `status`, or `""`. */
  readonly subresource: string;
}

/** Conditions of a delete. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** How to do a write. */
export interface WriteOptions {
  /** Called with the fields that the server does not know, before anything is stored. May throw. */
  readonly onUnknown?: (paths: readonly string[]) => void;
  /** Whether to check everything and store nothing. @default false */
  readonly dryRun?: boolean;
}

/** The result of a delete: nothing, or an object that waits for its finalizers. */
export interface Deletion {
  readonly stored: Stored;
  readonly gone: boolean;
}

/** `name`, or `namespace/name`. */
export function keyOf(target: Pick<Target, "namespace" | "name">): string {
  return target.namespace === "" ? target.name : `${target.namespace}/${target.name}`;
}

/** What an error about this target names. */
export function subjectOf(target: Target): ErrorSubject {
  const { group, plural, kind } = target.kind;
  return { group, resource: plural, kind, name: target.name };
}

/**
 * The body of a write as the server stores it: known fields, and the name and namespace of its path.
 *
 * @throws ApiError 400 for another kind, or a value of the wrong type
 */
export function toKept(target: Target, body: JsonObject, options: WriteOptions): JsonObject {
  const { kind } = target;
  const type = [stringAt(body, "apiVersion"), stringAt(body, "kind")];
  const wanted = [apiVersionOf(kind), kind.kind];
  if (type.some((value, index) => value !== "" && value !== wanted[index])) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind.kind}): ${type.join(" ")}`,
    );
  }
  const findings = { unknown: [] };
  const kept = without(
    without(normalize(kind.schema, body, { kind: kind.kind, findings }), "kind"),
    "apiVersion",
  );
  options.onUnknown?.(findings.unknown);
  const namespace = kind.namespaced ? { namespace: target.namespace } : {};
  const metadata = { ...objectAt(kept, "metadata"), name: target.name, ...namespace };
  return { ...kept, metadata: without(metadata, "managedFields") };
}

/**
 * Refuses a body made from an old version, or from another object with the same name.
 *
 * @throws ApiError 409, or 422 for the UID of another object
 */
export function checkIdentity(target: Target, before: ApiObject, proposed: JsonObject): void {
  const version = stringAt(proposed, "resourceVersion");
  if (version !== "" && version !== before.metadata.resourceVersion) {
    throw conflict(subjectOf(target));
  }
  const uid = stringAt(proposed, "uid");
  if (uid === "" || uid === before.metadata.uid) return;
  const message = `Invalid value: "${uid}": field is immutable`;
  const problem = { field: "metadata.uid", reason: "FieldValueInvalid", message };
  throw invalid(subjectOf(target), [problem]);
}

/** Restores what a write to this path cannot change: identity, and `spec` or `status`. */
export function carryOver(target: Target, before: ApiObject, proposed: JsonObject): JsonObject {
  const { uid, creationTimestamp, resourceVersion } = before.metadata;
  const deletion = Object.fromEntries(
    ["deletionTimestamp", "deletionGracePeriodSeconds", "generateName", "generation"].flatMap(
      (key) => {
        const value = before.metadata[key];
        return value === undefined ? [] : [[key, value] as const];
      },
    ),
  );
  const own = { uid, creationTimestamp, resourceVersion, ...deletion };
  const metadata = { ...objectAt(proposed, "metadata"), ...own };
  if (!target.kind.hasStatus) return { ...proposed, metadata };
  // Each way of writing keeps the fields of the other (registry strategies of the API server).
  const foreign = target.subresource === "status" ? "spec" : "status";
  const kept = before[foreign];
  return {
    ...without(proposed, foreign),
    metadata,
    ...(kept === undefined ? {} : { [foreign]: kept }),
  };
}

/**
 * The generation of an object after a write: one more if what generations of its kind stand for changes.
 *
 * @param after Absent: it was marked as deleted, which counts
 */
export function toGeneration(
  { kind }: Target,
  before: ApiObject,
  after: JsonObject | undefined,
): { readonly generation?: number } {
  const { generation } = before.metadata;
  if (kind.generations === undefined || typeof generation !== "number") return {};
  const isSame = after !== undefined && isEqual(toWanted(kind, before), toWanted(kind, after));
  return { generation: isSame ? generation : generation + 1 };
}

function toWanted({ generations }: Kind, object: JsonObject): JsonObject {
  const wanted = without(without(object, "metadata"), "status");
  if (generations !== "specAndAnnotations") return wanted;
  return { ...wanted, metadata: objectAt(objectAt(object, "metadata"), "annotations") };
}

/** The object with the metadata that the server sets. */
export function withMetadata(object: JsonObject, own: JsonObject): ApiObject {
  const metadata = { ...objectAt(object, "metadata"), ...own };
  return {
    ...object,
    metadata: {
      ...metadata,
      name: stringAt(metadata, "name"),
      uid: stringAt(metadata, "uid"),
      resourceVersion: stringAt(metadata, "resourceVersion"),
      creationTimestamp: stringAt(metadata, "creationTimestamp"),
    },
  };
}

/** Refuses a precondition that does not hold. @throws ApiError 409 */
export function checkPrecondition(
  target: Target,
  what: string,
  [wanted, actual]: readonly [string | undefined, string],
): void {
  if (wanted === undefined || wanted === actual) return;
  const cause = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${actual}`;
  throw conflict(subjectOf(target), cause);
}

/** Whether a delete waits for finalizers. */
export function isDeleting(object: JsonObject): boolean {
  return stringAt(objectAt(object, "metadata"), "deletionTimestamp") !== "";
}

/** The finalizers, or none. */
export function finalizersOf(object: JsonObject): readonly Json[] {
  const finalizers = objectAt(object, "metadata")["finalizers"];
  return isArray(finalizers) ? finalizers : [];
}

/** The body of a request that must be an object. @throws ApiError 400 */
export function requireObject(body: Json): JsonObject {
  if (isObject(body)) return body;
  throw badRequest("the request body must be a JSON object");
}
