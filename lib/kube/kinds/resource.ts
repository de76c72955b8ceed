/**
 * Kubernetes objects on the wire, and the paths of their kinds.
 * @module
 */
import type { V1OwnerReference } from "@kubernetes/client-node";

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

/** The part of `metadata` that Landfall reads. `resourceVersion` is opaque: compare it only for equality. */
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
