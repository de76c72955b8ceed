/**
 * Kubernetes objects and their kinds: the path of an object, the check of one from the wire, and the part of it that
 * the store keeps.
 * @module
 */
import type { V1OwnerReference } from "@kubernetes/client-node";
import { type Fields, isFields } from "../../core/text/values.ts";

/**
 * The wire shape of a client-node type: dates are strings, and names do not have the underscore that separates them
 * from keywords of TypeScript.
 */
export type Raw<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Raw<Item>[]
    : T extends object
      ? { readonly [Key in keyof T as Key extends `_${infer Rest}` ? Rest : Key]: Raw<T[Key]> }
      : T;

/** Fields that every object of the API server has. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** The part of `metadata` that Landfall reads. A `resourceVersion` is ordered only among objects of one kind. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** A store keeps this and the next two only for kinds that ask for it. */
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly Raw<V1OwnerReference>[];
  /** Counts the changes of the desired state, usually of `spec`. */
  readonly generation?: number;
  /** Only in a store: the object is larger than its place there, and all but the beginning is missing. */
  readonly isStub?: true;
}

/** The API group, version and name of a kind. */
export interface Resource<T extends KubeObject> {
  /** `v1`, `coordination.k8s.io/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** `nodes`, `leases`. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** Where its CustomResourceDefinition is, if it is not one of Landfall. @default {Kubernetes or Landfall has it} */
  readonly crdUrl?: string;
  /** Lists of objects that nothing reads: they are not parsed. @default {none} */
  readonly unread?: readonly string[];
  /** Only for the type; never set. */
  readonly type?: T;
}

/** Names an object, or a collection if `name` is absent. */
export interface ObjectPath {
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** Checks the value of a field. */
type Check = (value: unknown) => boolean;
/** By the name of a field: a check of its value, or the shapes of the fields in it. */
export interface Shapes {
  readonly [name: string]: Check | Shapes;
}

/** Metadata that the store keeps only for kinds that ask for it: it needs memory, and most kinds do not read it. */
type OptionalMetadata = "finalizers" | "ownerReferences" | "generation";

/**
 * A kind that is listed, watched and kept in a store. A plain {@linkcode Resource} is enough: then the store keeps all
 * fields and the metadata that every kind needs, and checks only metadata.
 */
export interface Kind<T extends KubeObject> extends Resource<T> {
  /** What the store keeps of `metadata` in addition to that of every kind. @default {nothing} */
  readonly metadata?: readonly OptionalMetadata[];
  /** Whether the store keeps an annotation. @default {all but the copy that `kubectl apply` makes} */
  keepsAnnotation?(key: string, labels: Readonly<Record<string, string>>): boolean;
  /** Reduces the fields beside `metadata` to those that the store keeps. @default {all of them} */
  keep?(object: T): Partial<T>;
  /** Its objects are never stubs: a part of them would lead to wrong decisions, and only operators write them. */
  readonly isAlwaysWhole?: true;
  /** Whether anything reads more than a stub of an object. @default {always} */
  isRead?(object: T): boolean;
  /** Called for each trimmed object, with the bytes that it needs. @returns What the store keeps in its place */
  limit?(trimmed: T, bytes: number): T;
  /** The fields that this program reads beside those of every kind. An absent or `null` field is right. */
  readonly shapes?: Shapes;
}

/**
 * Path of a collection, an object or a subresource below the server's address, each part percent-encoded.
 *
 * @example `toPath(NODES, { name: "a", subresource: "status" })` is `/api/v1/nodes/a/status`
 */
export function toPath<T extends KubeObject>(resource: Resource<T>, path: ObjectPath = {}): string {
  const root = resource.apiVersion.includes("/") ? "apis" : "api";
  const namespace =
    path.namespace === undefined ? [] : ["namespaces", encodeURIComponent(path.namespace)];
  const name = path.name === undefined ? [] : [encodeURIComponent(path.name)];
  const subresource = path.subresource === undefined ? [] : [path.subresource];
  return `/${[root, resource.apiVersion, ...namespace, resource.plural, ...name, ...subresource].join("/")}`;
}

/**
 * Looks for a problem in an object, or in an item of a list or watch. It checks the fields that this program reads. The
 * API server checks them before it stores an object. So an answer that looks different comes from another server, or
 * from a proxy on the way.
 *
 * @returns The problem, for example `metadata.labels has a wrong type`, without values; `undefined` if there is none
 */
export function findDamage(resource: Kind<KubeObject>, object: unknown): string | undefined {
  if (!isFields(object)) return "it is not an object";
  const { metadata } = object;
  if (!isFields(metadata)) return "it has no metadata";
  if (typeof metadata["name"] !== "string" || metadata["name"] === "") return "it has no name";
  const inMetadata =
    findWrong(metadata, META_SHAPES) ??
    (resource.metadata && findWrong(metadata, pick(OPTIONAL_SHAPES, resource.metadata)));
  if (inMetadata !== undefined) return `metadata.${inMetadata} has a wrong type`;
  const wrong = resource.shapes && findWrong(object, resource.shapes);
  return wrong && `${wrong} has a wrong type`;
}

/** The path of a field of another shape. Every field may be absent or `null`. */
function findWrong(fields: Fields, shapes: Shapes): string | undefined {
  // Loops without copies: each Node is checked at each of its heartbeats.
  for (const name in shapes) {
    const shape = shapes[name];
    const value = fields[name];
    if (shape === undefined || value === undefined || value === null) continue;
    if (typeof shape === "function") {
      if (!shape(value)) return name;
      continue;
    }
    if (!isFields(value)) return name;
    const inside = findWrong(value, shape);
    if (inside !== undefined) return `${name}.${inside}`;
  }
  return undefined;
}

/** Checks a list, each item by its shapes. */
export function isListOf(shapes: Check | Shapes): Check {
  const isOne: Check =
    typeof shapes === "function"
      ? shapes
      : (one) => isFields(one) && findWrong(one, shapes) === undefined;
  return (value) => Array.isArray(value) && value.every(isOne);
}

/** Whether a value is a text. */
export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** Whether a value is an object of texts, such as labels. */
export function isTexts(value: unknown): boolean {
  if (!isFields(value)) return false;
  for (const key in value) if (typeof value[key] !== "string") return false;
  return true;
}

/** Checks a list of objects with these text fields. */
export function isListWith(...names: readonly string[]): Check {
  const isWhole: Check = (one) => {
    if (!isFields(one)) return false;
    for (const name of names) if (typeof one[name] !== "string") return false;
    return true;
  };
  return isListOf(isWhole);
}

const META_SHAPES: Shapes = {
  namespace: isText,
  uid: isText,
  resourceVersion: isText,
  creationTimestamp: isText,
  deletionTimestamp: isText,
  labels: isTexts,
  annotations: isTexts,
};

const OPTIONAL_SHAPES: Readonly<Record<OptionalMetadata, Check>> = {
  finalizers: isListOf(isText),
  ownerReferences: isListWith("apiVersion", "kind", "name", "uid"),
  generation: (value) => typeof value === "number",
};

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
