/**
 * Objects as the store keeps them: without the bulk that nobody here reads, complete in kind, and frozen.
 * @module
 */
import type { KubeObject, ObjectMeta, Resource } from "./resource.ts";

/** Written by `kubectl apply`: a second copy of the whole object. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * The object without `managedFields`, without the annotation of `kubectl apply`, without the image list
 * of a Node, with `apiVersion` and `kind` (items of a list come without), and frozen through and through.
 *
 * The object handed in may share parts with the result, which are then frozen too: do not use it afterwards.
 */
export function trimObject<T extends KubeObject>(resource: Resource<T>, object: T): T {
  const { apiVersion, kind } = resource;
  return freezeDeep({
    ...object,
    ...(kind === "Node" && "status" in object && { status: without(object.status, "images") }),
    apiVersion,
    kind,
    metadata: trimMetadata(object.metadata),
  });
}

function trimMetadata(metadata: ObjectMeta): ObjectMeta {
  const { name, annotations } = metadata;
  const kept = Object.entries(annotations ?? {}).filter(([key]) => key !== LAST_APPLIED);
  return {
    ...without(metadata, "managedFields"),
    name,
    ...(annotations && { annotations: Object.fromEntries(kept) }),
  };
}

function without(value: unknown, dropped: string): object {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([name]) => name !== dropped));
}

function freezeDeep<V>(value: V): V {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) freezeDeep(part);
  return Object.freeze(value);
}
