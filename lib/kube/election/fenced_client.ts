/**
 * The API server as only the leader may write to it.
 * @module
 */
import type { Fence } from "../../core/fence.ts";
import type {
  DeleteOptions,
  KubeClient,
  ListPage,
  ListQuery,
  Patch,
  WatchEvent,
  WatchQuery,
  WriteOptions,
} from "../api/client.ts";
import { EVENTS } from "../kinds/event.ts";
import type { KubeObject, ObjectPath, Resource } from "../kinds/resource.ts";

/**
 * A client that passes reads on, and writes only while the fence lets it: that is asked right before each one is
 * sent, again after each pause, and what is under way when leadership is lost is aborted. Events and reviews are
 * nothing to lead by: they pass always. Closing it closes the client within.
 *
 * Refused writes throw the {@linkcode LeadershipLostError} of the fence.
 */
export function createFencedClient(client: KubeClient, fence: Fence): KubeClient {
  return new FencedKubeClient(client, fence);
}

class FencedKubeClient implements KubeClient {
  readonly #client: KubeClient;
  readonly #fence: Fence;
  readonly #options: WriteOptions = { beforeSend: () => this.#fence.check() };

  constructor(client: KubeClient, fence: Fence) {
    this.#client = client;
    this.#fence = fence;
  }

  read<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    signal: AbortSignal,
  ): Promise<T> {
    return this.#client.read(resource, path, signal);
  }

  list<T extends KubeObject>(
    resource: Resource<T>,
    query: ListQuery,
    signal: AbortSignal,
  ): Promise<ListPage<T>> {
    return this.#client.list(resource, query, signal);
  }

  watch<T extends KubeObject>(
    resource: Resource<T>,
    query: WatchQuery,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent> {
    return this.#client.watch(resource, query, signal);
  }

  get(path: string, signal: AbortSignal): Promise<unknown> {
    return this.#client.get(path, signal);
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    body: object,
    signal: AbortSignal,
  ): Promise<T> {
    if (!isFenced(resource)) return this.#client.create(resource, path, body, signal);
    return this.#client.create(resource, path, body, this.#fence.bind(signal), this.#options);
  }

  async replace<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    object: T,
    signal: AbortSignal,
  ): Promise<T> {
    if (!isFenced(resource)) return this.#client.replace(resource, path, object, signal);
    return this.#client.replace(resource, path, object, this.#fence.bind(signal), this.#options);
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    patch: Patch,
    signal: AbortSignal,
  ): Promise<T> {
    if (!isFenced(resource)) return this.#client.patch(resource, path, patch, signal);
    return this.#client.patch(resource, path, patch, this.#fence.bind(signal), this.#options);
  }

  async delete<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    preconditions: DeleteOptions,
    signal: AbortSignal,
  ): Promise<void> {
    return this.#client.delete(
      resource,
      path,
      preconditions,
      this.#fence.bind(signal),
      this.#options,
    );
  }

  close(): void {
    this.#client.close();
  }
}

/** Events tell of what is over, and reviews change nothing: neither asks who leads. */
function isFenced({ apiVersion, kind }: Resource<KubeObject>): boolean {
  const isReview = /^auth\w+\.k8s\.io\//.test(apiVersion) && kind.endsWith("Review");
  return !isReview && !(apiVersion === EVENTS.apiVersion && kind === EVENTS.kind);
}
