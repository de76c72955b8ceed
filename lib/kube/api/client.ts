/**
 * The only door to the API server: typed requests with a signal, a deadline and errors by kind.
 * @module
 */
import type { Fence } from "../../core/fence.ts";
import type { Kind } from "../kinds/kind.ts";
import type { KubeObject, ObjectPath, Resource } from "../kinds/resource.ts";

/** How the server applies a patch body that holds only what changes. */
export type PatchType = "merge" | "strategic";

/**
 * A patch.
 *
 * With `apply` the body is all that one field manager wants of an object. A missing object is created. A field that the
 * manager set before and does not name any more is removed; fields of other managers do not change. Source:
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/
 */
export type Patch =
  | { readonly type: PatchType; readonly body: object }
  | {
      readonly type: "apply";
      /** With `apiVersion`, `kind` and the name. */
      readonly body: object;
      /** The field manager: a word that must not change. */
      readonly fieldManager: string;
      /** Takes over fields of other managers; if false, they are a conflict. @default {false} */
      readonly force?: boolean;
    };

/** One page of a list. */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** Opaque version of the whole list, from the first page. */
  readonly resourceVersion: string;
  /** Token for the next page, absent on the last. */
  readonly continue?: string;
}

/** Which objects of a kind. */
export interface Selection {
  /** Absent: all namespaces, or a kind without namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Query of one page. */
export interface ListQuery extends Selection {
  readonly limit?: number;
  readonly continue?: string;
  /** Absent asks for the newest (quorum); `"0"` for any cached version. */
  readonly resourceVersion?: string;
}

/** Query of a watch. */
export interface WatchQuery extends Selection {
  readonly resourceVersion: string;
  /** The server ends the stream after so many seconds; the client aborts it 30 s later if it does not. */
  readonly timeoutSeconds: number;
}

/** One line of a watch stream. `ERROR` carries a Status object. */
export interface WatchEvent {
  readonly type: string;
  readonly object: unknown;
}

/** Preconditions of a delete, and what happens to objects that the object owns. */
export interface DeleteOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** `Foreground`: the object stays until all that it owns is gone. @default {that of its kind} */
  readonly propagationPolicy?: "Foreground";
}

/**
 * Requests to one API server. Each ends by its signal, by its deadline, or with an answer.
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
   * Yields events until the server ends the stream; ending the iteration closes the connection. A signal that aborts
   * with a `TimeoutError` says that the connection is silent: later requests go over new ones.
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
  /** PUT of a whole object. With a `resourceVersion` in it, only over that version: any other is a conflict. */
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
   * The same client for those who may write only while this process leads. The fence is asked right before each write
   * is sent, again after each pause, and what is under way when leadership is lost is aborted. Reads, Events and
   * reviews always pass. Refused writes throw the {@linkcode LeadershipLostError} of the fence.
   */
  fencedBy(fence: Fence): KubeClient;
  /** Closes idle connections. */
  close(): void;
}
