/**
 * What a watch and a store need to know about a kind of objects.
 * @module
 */
import type { KubeObject, Resource } from "./resource.ts";

/** Checks the value of a field. */
export type Check = (value: unknown) => boolean;
/** By the name of a field: a check of its value, or the shapes of the fields in it. */
export interface Shapes {
  readonly [name: string]: Check | Shapes;
}

/** Metadata that the store keeps only for kinds that ask for it: it needs memory, and most kinds do not read it. */
export type OptionalMetadata = "finalizers" | "ownerReferences" | "generation";

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
