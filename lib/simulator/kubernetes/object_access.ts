/**
 * The objects of a simulator, for stories and tests that act as kubelet, operator or cloud.
 * @module
 */
import type { ApiObject, Json, JsonObject } from "./patches/json.ts";
import { applyMergePatch } from "./patches/merge_patches.ts";
import type { Registry } from "./registry.ts";
import type { Target } from "./writes.ts";

/** A new object: only `metadata.name` is required. */
export interface ObjectInput extends JsonObject {
  readonly metadata: JsonObject;
}

/** Names one object. */
export interface ObjectName {
  readonly name: string;
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string;
}

/**
 * Reads and writes by the same rules as requests, but without HTTP and without entries in the request log.
 * Kinds are named by their plural (`nodes`). Returned objects never change afterwards.
 * Every method throws a `TypeError` for an unknown kind.
 */
export class ObjectAccess {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Version of the last write: another one, and something has changed. */
  get version(): number {
    return this.#registry.versions.last;
  }

  /** Plural names of all kinds that are served now. */
  plurals(): readonly string[] {
    return this.#registry.kinds.map(({ plural }) => plural);
  }

  /** The object now, or `undefined`. */
  get(plural: string, name: ObjectName): ApiObject | undefined {
    const target = this.#toTarget(plural, name);
    return this.#registry.has(target) ? this.#registry.read(target).object : undefined;
  }

  /** All objects of a kind, or those of one namespace, in the order of their names. */
  list(plural: string, namespace?: string): readonly ApiObject[] {
    const { kind } = this.#toTarget(plural, { name: "" });
    return this.#registry
      .collection(kind)
      .entries()
      .map(([, stored]) => stored.object)
      .filter((object) => namespace === undefined || object.metadata["namespace"] === namespace);
  }

  /** @throws ApiError like a refused POST */
  create(plural: string, object: ObjectInput): ApiObject {
    const { name, namespace } = object.metadata;
    const target = this.#toTarget(plural, {
      name: typeof name === "string" ? name : "",
      ...(typeof namespace === "string" ? { namespace } : {}),
    });
    return this.#registry.create(target, object).object;
  }

  /**
   * Applies a merge patch to the object, or to its subresource.
   *
   * @throws ApiError like a refused PATCH
   */
  patch(
    plural: string,
    name: ObjectName & { readonly subresource?: string },
    patch: JsonObject,
  ): ApiObject {
    const target = { ...this.#toTarget(plural, name), subresource: name.subresource ?? "" };
    return this.#registry.update(target, (before) => applyMergePatch(before, patch)).object;
  }

  /** Whether there was an object to delete. An object with finalizers stays, marked as deleted. */
  delete(plural: string, name: ObjectName): boolean {
    const target = this.#toTarget(plural, name);
    if (!this.#registry.has(target)) return false;
    this.#registry.delete(target);
    return true;
  }

  /** Creates a Node, as a kubelet registers. @throws ApiError */
  createNode(node: ObjectInput): ApiObject {
    return this.create("nodes", node);
  }

  /** The Node, or `undefined`. */
  getNode(name: string): ApiObject | undefined {
    return this.get("nodes", { name });
  }

  /** Applies a merge patch to a Node. @throws ApiError */
  patchNode(name: string, patch: JsonObject): ApiObject {
    return this.patch("nodes", { name }, patch);
  }

  /** Merges into the `status` of a Node, as a kubelet reports. @throws ApiError */
  patchNodeStatus(name: string, status: Json): ApiObject {
    return this.patch("nodes", { name, subresource: "status" }, { status });
  }

  /** Whether there was such a Node. */
  deleteNode(name: string): boolean {
    return this.delete("nodes", { name });
  }

  #toTarget(plural: string, name: ObjectName): Target {
    const kind = this.#registry.kinds.find((one) => one.plural === plural);
    if (kind === undefined) throw new TypeError(`Cannot find kind: ${plural}`);
    const namespace = kind.namespaced ? (name.namespace ?? "default") : "";
    return { kind, namespace, name: name.name, subresource: "" };
  }
}
