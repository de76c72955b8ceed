/**
 * Kubernetes objects as they stand on the wire, and where each kind lives.
 * @module
 */
import type { V1OwnerReference } from "@kubernetes/client-node";

/**
 * The wire shape of a client-node type: dates are strings, and names lose the underscore that keeps them from
 * being keywords in TypeScript.
 */
export type Raw<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Raw<Item>[]
    : T extends object
      ? { readonly [Key in keyof T as Key extends `_${infer Rest}` ? Rest : Key]: Raw<T[Key]> }
      : T;

/** What every object has once the API server has it. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** The part of `metadata` that Landfall reads. `resourceVersion` is opaque: only compared for equality. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** In a store only of a kind that asks for it, like the two below. */
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly Raw<V1OwnerReference>[];
  /** Counts the changes of what is wanted: `spec`, as a rule. */
  readonly generation?: number;
}

/** Where objects of one kind live. */
export interface Resource<T extends KubeObject> {
  /** `v1`, `coordination.k8s.io/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** `nodes`, `leases`. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** Carries the type only; never set. */
  readonly type?: T;
}

/** Which object, or which collection when `name` is absent. */
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
