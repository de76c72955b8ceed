/**
 * The only access to the API server: typed requests with a signal, a deadline, and errors by kind.
 * @module
 */
import type { Fence } from "../../core/fence.ts";
import type { Kind, KubeObject, ObjectPath, Resource } from "../kinds/resource.ts";
import { isKubeError } from "./errors.ts";

/** How the server applies a patch. */
export type PatchType = "merge" | "strategic";

/**
 * A patch.
 *
 * With `apply` the body has every field that one field manager wants to own. The server creates a missing object,
 * removes fields that the manager set before and does not list any more, and keeps other fields. The manager takes over
 * listed fields that others own. Source: https://kubernetes.io/docs/reference/using-api/server-side-apply/
 */
export type Patch =
  | { readonly type: PatchType; readonly body: object }
  | {
      readonly type: "apply";
      /** The object, with `apiVersion`, `kind` and name. */
      readonly body: object;
      /** The name of the field manager. It must not change. */
      readonly fieldManager: string;
    };

/** One page of a list. */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** Opaque version of the whole list, from the first page. */
  readonly resourceVersion: string;
  /** Token for the next page, absent on the last. */
  readonly continue?: string;
}

/** Which objects of a kind to read. */
export interface Selection {
  /** Absent: all namespaces, or a kind without namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Query of one page, at the newest version, by quorum. */
export interface ListQuery extends Selection {
  readonly limit?: number;
  readonly continue?: string;
}

/** Query of a watch. */
export interface WatchQuery extends Selection {
  readonly resourceVersion: string;
  /** The server ends the stream after this many seconds. If it does not, the client aborts it 30 s later. */
  readonly timeoutSeconds: number;
}

/** One line of a watch stream. `ERROR` carries a Status object. */
export interface WatchEvent {
  readonly type: string;
  readonly object: unknown;
}

/** Preconditions of a delete, and how the server deletes owned objects. */
export interface DeleteOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** `Foreground`: the object exists until all objects that it owns are gone. @default {that of its kind} */
  readonly propagationPolicy?: "Foreground";
}

/** What becomes of the answer to one request. */
export interface Follower<T extends KubeObject> {
  /** The API server has this object. */
  learn(object: T): void;
  /** The API server deleted the object of this UID. */
  learnGone(uid: string): void;
}

/** Called before each request for an object. */
export type Follow = <T extends KubeObject>(resource: Resource<T>, path: ObjectPath) => Follower<T>;

/**
 * Requests to one API server. Each ends with an answer, at its deadline, or by its signal.
 * Every method throws {@linkcode KubeError}, or `signal.reason` when the signal aborts.
 */
export interface KubeClient {
  read<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    signal: AbortSignal,
  ): Promise<T>;
  list<T extends KubeObject>(
    resource: Kind<T>,
    query: ListQuery,
    signal: AbortSignal,
  ): Promise<ListPage<T>>;
  /**
   * Yields events until the server ends the stream. Ending the iteration closes the connection. If the signal aborts
   * with a `TimeoutError`, the connection was silent: later requests use new connections.
   */
  watch<T extends KubeObject>(
    resource: Resource<T>,
    query: WatchQuery,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent>;
  create<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    body: object,
    signal: AbortSignal,
  ): Promise<T>;
  /** PUT of a whole object. If the object has a `resourceVersion`, another version on the server is a conflict. */
  replace<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    object: T,
    signal: AbortSignal,
  ): Promise<T>;
  patch<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    patch: Patch,
    signal: AbortSignal,
  ): Promise<T>;
  delete<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    preconditions: DeleteOptions,
    signal: AbortSignal,
  ): Promise<void>;
  /** GET of a path that is not an object, like `/version`. */
  get(path: string, signal: AbortSignal): Promise<unknown>;
  /**
   * The same client, but it writes only while this process leads. It checks the fence right before it sends a write,
   * again after each pause, and aborts running writes when leadership is lost. Reads, Events and reviews need no
   * leadership. Refused writes throw the {@linkcode LeadershipLostError} of the fence.
   */
  fencedBy(fence: Fence): KubeClient;
  /** The same client, but a follower learns each answer about an object before the caller has it. */
  followedBy(follow: Follow): KubeClient;
  /** Closes idle connections. */
  close(): void;
}

/**
 * Reads one object.
 *
 * @returns `undefined` if the API server says that it does not exist
 * @throws {KubeError} for any other answer: then it is not known whether it exists
 */
export async function readIfPresent<T extends KubeObject>(
  client: Pick<KubeClient, "read">,
  resource: Resource<T>,
  path: ObjectPath,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await client.read(resource, path, signal);
  } catch (error) {
    if (isKubeError(error, "notFound")) return undefined;
    throw error;
  }
}
