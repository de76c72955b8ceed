/**
 * What a watch and a store need to know of a kind of objects.
 * @module
 */
import type { KubeObject, Resource } from "./resource.ts";

/** Metadata that the store keeps only of kinds that ask for it, because it needs memory and most do not read it. */
export type OptionalMetadata = "finalizers" | "ownerReferences" | "generation";

/** Something with fields, of which nothing else is known yet. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * A kind that is listed, watched and kept in a store. A plain {@linkcode Resource} will do: the store then keeps all
 * fields and the metadata that every kind needs, and checks metadata alone.
 */
export interface Kind<T extends KubeObject> extends Resource<T> {
  /** What the store keeps of `metadata` besides what it keeps of every kind. @default {nothing} */
  readonly metadata?: readonly OptionalMetadata[];
  /** Whether the store keeps an annotation. @default {all but the copy that `kubectl apply` makes} */
  keepsAnnotation?(key: string): boolean;
  /** What the store keeps of the fields beside `metadata`, in place of these fields. @default {all of them} */
  keep?(object: T): Partial<T>;
  /**
   * Looks for a field of another shape than this program reads. What is absent or `null` is none.
   *
   * @returns Its path, such as `spec.taints`; `undefined` when there is none
   */
  findWrong?(object: Fields): string | undefined;
}
