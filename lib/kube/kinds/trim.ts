/**
 * Reduces objects to what the store keeps: only the fields that Landfall reads and the kind, all frozen.
 * @module
 */
import type { Fields } from "../../core/text/values.ts";
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
  const trimmed: T = { ...object, ...resource.keep?.(object), apiVersion, kind, metadata };
  if (resource.isRead?.(object) === false) return toStub(trimmed);
  const bytes = freezeAndWeigh(trimmed);
  return resource.limit?.(trimmed, bytes) ?? trimmed;
}

/** What a stub needs at most, beside names. */
export const STUB_BYTES = 4096;

/**
 * Reduces an object to what fits into some bytes: what says which one it is, then its fields as they come. Long ones
 * are left out. What fits as a whole stays as it is, but counts as a stub, too.
 */
export function toStub<T extends KubeObject>(object: T, bytesMax: number = STUB_BYTES): T {
  const { apiVersion, kind, metadata, ...fields } = object;
  const { labels, annotations, finalizers, ownerReferences, ...identity } = metadata;
  const room = { bytes: bytesMax };
  const lists = { labels, finalizers, ownerReferences, annotations };
  const more = shrink({ metadata: lists, ...fields }, room);
  const stubbed = { ...identity, ...more?.metadata, isStub: true };
  return freezeDeep({ ...more, apiVersion, kind, metadata: stubbed } as unknown as T);
}

/** The part of a value that fits into the room; `undefined` if nothing does. */
function shrink<V>(value: V, room: { bytes: number }): V | undefined {
  const bytes = weigh(value);
  if (bytes > room.bytes) return undefined;
  room.bytes -= bytes;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const whole: unknown[] = [];
    for (const one of value) {
      const part = shrink(one, room);
      if (part === undefined) break;
      whole.push(part);
    }
    return whole as V;
  }
  const parts: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(value)) {
    if (one === undefined || name.length > room.bytes) continue;
    const part = shrink(one, room);
    if (part === undefined) continue;
    room.bytes -= name.length;
    parts[name] = part;
  }
  return parts as V;
}

/** What a value needs in memory, without those in it; about as measured. */
function weigh(value: unknown): number {
  // A character beyond Latin 1 makes all of them need two bytes.
  if (typeof value === "string") return TEXT_BYTES + 2 * value.length;
  return typeof value === "object" && value !== null ? OBJECT_BYTES : 0;
}

const TEXT_BYTES = 32;
const OBJECT_BYTES = 64;

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

/**
 * A text that does not keep a longer one alive, of which it is a part.
 *
 * @param charsMax How many characters of the text to take
 */
export function cutText(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : Buffer.from(text.slice(0, charsMax)).toString();
}

/** Freezes everything in a value. */
export function freezeDeep<V>(value: V): V {
  freezeAndWeigh(value);
  return value;
}

/**
 * Freezes everything in a value. Without recursion, because objects may be nested to any depth.
 *
 * @returns How many bytes it needs in memory, without what was frozen before
 */
function freezeAndWeigh(value: unknown): number {
  const left: unknown[] = [value];
  let bytes = 0;
  while (left.length > 0) {
    const part = left.pop();
    if (typeof part === "string") bytes += weigh(part);
    if (typeof part !== "object" || part === null || Object.isFrozen(part)) continue;
    Object.freeze(part);
    bytes += weigh(part);
    if (Array.isArray(part)) {
      for (const inner of part) left.push(inner);
      continue;
    }
    // Pairs of names and values would be the most that Landfall creates for a Node.
    const fields = part as Fields;
    for (const name of Object.keys(fields)) {
      bytes += name.length;
      left.push(fields[name]);
    }
  }
  return bytes;
}
