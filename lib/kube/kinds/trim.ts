/**
 * Reduces objects to what the store keeps: only the fields that Landfall reads and the kind, all frozen.
 * @module
 */
import type { Kind } from "./kind.ts";
import type { KubeObject, ObjectMeta } from "./resource.ts";

/** Written by `kubectl apply`: a second copy of the whole object. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

const META_FIELDS = [
  "namespace",
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "deletionTimestamp",
  "labels",
] as const;

/**
 * Reduces an object to the fields that its kind keeps, and freezes all of it. Adds `apiVersion` and `kind`, which items
 * of a list do not have.
 *
 * The result may share parts with the argument, which are then frozen, too: do not use the argument afterwards. An
 * object that was trimmed before is returned unchanged.
 */
export function trimObject<T extends KubeObject>(resource: Kind<T>, object: T): T {
  // Objects from the wire are never frozen.
  if (Object.isFrozen(object)) return object;
  const { apiVersion, kind } = resource;
  const metadata = trimMetadata(resource, object.metadata);
  return freezeDeep({ ...object, ...resource.keep?.(object), apiVersion, kind, metadata });
}

function trimMetadata(resource: Kind<KubeObject>, metadata: ObjectMeta): ObjectMeta {
  const { annotations, labels = {} } = metadata;
  const isKept = ([key]: [string, string]): boolean =>
    resource.keepsAnnotation?.(key, labels) ?? key !== LAST_APPLIED;
  return {
    ...pick(metadata, META_FIELDS),
    ...pick(metadata, resource.metadata ?? []),
    name: metadata.name,
    ...(annotations && {
      annotations: Object.fromEntries(Object.entries(annotations).filter(isKept)),
    }),
  };
}

/** Copies these fields of an object, if it has them. */
export function pick<T extends object, K extends keyof T>(
  from: T,
  names: readonly K[],
): Pick<T, K> {
  const picked: Partial<T> = {};
  for (const name of names) if (name in from) picked[name] = from[name];
  return picked as Pick<T, K>;
}

/** Freezes everything in a value. Without recursion, because objects may be nested to any depth. */
export function freezeDeep<V>(value: V): V {
  const left: unknown[] = [value];
  while (left.length > 0) {
    const part = left.pop();
    if (typeof part !== "object" || part === null || Object.isFrozen(part)) continue;
    Object.freeze(part);
    for (const inner of Object.values(part)) if (typeof inner === "object") left.push(inner);
  }
  return value;
}
