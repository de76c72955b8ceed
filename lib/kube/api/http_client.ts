/**
 * The client of the API server over HTTP.
 * @module
 */
import { type Clock, isTimeout, startDeadline } from "../../core/clock.ts";
import type { Fence } from "../../core/fence.ts";
import { Limiter } from "../../core/concurrency.ts";
import { MetricsRegistry } from "../../core/metrics.ts";
import type {
  DeleteOptions,
  Follow,
  KubeClient,
  ListPage,
  ListQuery,
  Patch,
  WatchEvent,
  WatchQuery,
} from "./client.ts";
import type { Credentials } from "../credentials/credentials.ts";
import { KubeError } from "./errors.ts";
import { readListBody } from "./list_body.ts";
import type { Recovery } from "./recovery.ts";
import {
  type Call,
  createRequestMetrics,
  Requester,
  type RequestMetrics,
  toNamedError,
} from "./request.ts";
import type { Kind } from "../kinds/kind.ts";
import { type KubeObject, type ObjectPath, type Resource, toPath } from "../kinds/resource.ts";
import { createTransport, type Transport, toTransportError } from "./transport.ts";
import { readWatchEvents } from "./watch_stream.ts";
import {
  hasPrecondition,
  isFenced,
  isReview,
  PATCH_CONTENT_TYPES,
  readBody,
  toCollection,
  toDeleted,
  toDeletion,
  toListSearch,
  toObject,
  toPage,
  toPatchSearch,
  toWatchSearch,
} from "./wire.ts";

/** Settings of {@linkcode createKubeClient}. */
export interface KubeClientOptions {
  readonly credentials: Credentials;
  readonly clock: Clock;
  /** Registry for the metrics `rest_client_…`; or the metrics themselves, if clients share them. */
  readonly metrics: MetricsRegistry | RequestMetrics;
  /** Landfall's version, for the User-Agent. */
  readonly version: string;
  /** Purpose of the client, at the end of the User-Agent: `leader-election`. @default {nothing} */
  readonly component?: string;
  /** Sends the requests. @default {connections to the server of the credentials} */
  readonly transport?: Transport;
  /** How many requests run at once; watches do not count. @default {32} */
  readonly inFlightMax?: number;
  /** Longest time for one call with all its tries, in milliseconds, except lists. @default {30_000} */
  readonly deadlineMs?: number;
  /** Notified when a kept connection was silent and a new one works. @default {nothing} */
  readonly recovery?: Recovery;
}

/** Longest time for one page of a list, with all its tries. */
const LIST_DEADLINE_MS = 60_000;
/** How much later than asked the server may end a watch. */
const WATCH_GRACE_MS = 30_000;

const READING = { method: "GET", verb: "read", repeatable: true } as const;
const JSON_BODY = { "content-type": "application/json" };

/** The parts of a client. A fenced or followed client shares all others. */
interface Parts {
  readonly clock: Clock;
  readonly transport: Transport;
  readonly requester: Requester;
  readonly limiter: Limiter;
  readonly deadlineMs: number;
  readonly fence?: Fence;
  readonly follow?: Follow;
}

/** Creates a client. It sends nothing before the first call. */
export function createKubeClient(options: KubeClientOptions): KubeClient {
  const { credentials, clock, version, component, recovery } = options;
  const { transport = createTransport(credentials.server), inFlightMax = 32 } = options;
  const metrics =
    options.metrics instanceof MetricsRegistry
      ? createRequestMetrics(options.metrics)
      : options.metrics;
  return new HttpKubeClient({
    clock,
    transport,
    requester: new Requester({
      credentials,
      transport,
      clock,
      metrics,
      version,
      component,
      recovery,
    }),
    limiter: new Limiter(inFlightMax),
    deadlineMs: options.deadlineMs ?? 30_000,
  });
}

class HttpKubeClient implements KubeClient {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  fencedBy(fence: Fence): KubeClient {
    return new HttpKubeClient({ ...this.#parts, fence });
  }

  followedBy(follow: Follow): KubeClient {
    return new HttpKubeClient({ ...this.#parts, follow });
  }

  read<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    signal: AbortSignal,
  ): Promise<T> {
    return this.#followed(resource, path, (read) =>
      this.#call({ ...READING, path: toPath(resource, path), read }, signal),
    );
  }

  list<T extends KubeObject>(
    resource: Kind<T>,
    query: ListQuery,
    signal: AbortSignal,
  ): Promise<ListPage<T>> {
    const path = `${toPath(resource, toCollection(query.namespace))}${toListSearch(query)}`;
    const read = async (reply: Response): Promise<ListPage<T>> =>
      toPage(await readListBody(resource, reply), resource);
    return this.#call({ ...READING, verb: "list", path, read }, signal, {
      deadlineMs: LIST_DEADLINE_MS,
    });
  }

  async *watch<T extends KubeObject>(
    resource: Resource<T>,
    query: WatchQuery,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent, void> {
    const call: Call<Response> = {
      method: "GET",
      verb: "watch",
      path: `${toPath(resource, toCollection(query.namespace))}${toWatchSearch(query)}`,
      // A proxy that compresses may delay events.
      headers: { "accept-encoding": "identity" },
      repeatable: false,
      read: (reply) => Promise.resolve(reply),
    };
    const { clock, transport, requester, deadlineMs } = this.#parts;
    const { generation } = transport;
    const late = new AbortController();
    const stopped = AbortSignal.any([signal, late.signal]);
    const end = (message: string) => (): void => {
      transport.giveUp(generation);
      late.abort(toNamedError(call, new KubeError("unavailable", message)));
    };
    let stopTimer = this.#startTimer(deadlineMs, end("no answer in time"));
    try {
      const limits = { signal: stopped, endMs: clock.monotonic() + deadlineMs };
      const reply = await requester.send(call, limits);
      stopTimer();
      const lifeMs = query.timeoutSeconds * 1000 + WATCH_GRACE_MS;
      stopTimer = this.#startTimer(lifeMs, end("the server did not end the watch in time"));
      try {
        for await (const event of readWatchEvents(reply, resource.unread)) {
          stopped.throwIfAborted();
          yield event;
        }
      } catch (error) {
        stopped.throwIfAborted();
        throw toNamedError(call, toTransportError(error, stopped));
      }
    } finally {
      stopTimer();
      if (isTimeout(signal.reason)) transport.giveUp(generation);
    }
  }

  create<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    body: object,
    signal: AbortSignal,
  ): Promise<T> {
    const collection = toCollection(path.namespace);
    // The name is in the body. The path has it only with a subresource.
    const to = path.subresource === undefined ? collection : path;
    return this.#write(resource, collection, signal, {
      method: "POST",
      verb: "create",
      path: toPath(resource, to),
      headers: JSON_BODY,
      body,
      repeatable: isReview(resource),
    });
  }

  replace<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    object: T,
    signal: AbortSignal,
  ): Promise<T> {
    return this.#write(resource, path, signal, {
      method: "PUT",
      verb: "update",
      path: toPath(resource, path),
      headers: JSON_BODY,
      body: object,
      repeatable: hasPrecondition(object),
    });
  }

  patch<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    patch: Patch,
    signal: AbortSignal,
  ): Promise<T> {
    return this.#write(resource, path, signal, {
      method: "PATCH",
      verb: "patch",
      path: `${toPath(resource, path)}${toPatchSearch(patch)}`,
      headers: { "content-type": PATCH_CONTENT_TYPES[patch.type] },
      body: patch.body,
      repeatable: hasPrecondition(patch.body),
    });
  }

  async delete<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    preconditions: DeleteOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const follower = this.#parts.follow?.(resource, path);
    const call: Call<T | undefined> = {
      method: "DELETE",
      verb: "delete",
      path: toPath(resource, path),
      headers: JSON_BODY,
      ...toDeletion(preconditions),
      read: async (reply) => toDeleted(await readBody(reply), resource),
    };
    const left = await this.#callAsLeader(call, signal);
    if (left !== undefined) follower?.learn(left);
    else if (preconditions.uid !== undefined) follower?.learnGone(preconditions.uid);
  }

  get(path: string, signal: AbortSignal): Promise<unknown> {
    return this.#call({ ...READING, path, read: (reply) => readBody(reply) }, signal);
  }

  close(): void {
    this.#parts.transport.close();
  }

  #write<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    signal: AbortSignal,
    call: Omit<Call<T>, "read">,
  ): Promise<T> {
    return this.#followed(resource, path, (read) =>
      isFenced(resource)
        ? this.#callAsLeader({ ...call, read }, signal)
        : this.#call({ ...call, read }, signal),
    );
  }

  /** Makes a call whose answer is an object. The follower, if there is one, learns it first. */
  async #followed<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    send: (read: Call<T>["read"]) => Promise<T>,
  ): Promise<T> {
    const follower = this.#parts.follow?.(resource, path);
    const object = await send(async (reply) =>
      toObject(await readBody(reply, resource.unread), resource, path.name),
    );
    follower?.learn(object);
    return object;
  }

  /** Checks the fence before each try, if there is one. */
  #callAsLeader<T>(call: Call<T>, signal: AbortSignal): Promise<T> {
    const { fence } = this.#parts;
    if (fence === undefined) return this.#call(call, signal);
    return this.#call(call, fence.bind(signal), { beforeSend: () => fence.check() });
  }

  async #call<T>(
    call: Call<T>,
    signal: AbortSignal,
    {
      deadlineMs = this.#parts.deadlineMs,
      beforeSend,
    }: { readonly deadlineMs?: number; readonly beforeSend?: () => void } = {},
  ): Promise<T> {
    const { clock, limiter, requester, transport } = this.#parts;
    using deadline = startDeadline(signal, deadlineMs, clock);
    const limits = { signal: deadline.signal, endMs: clock.monotonic() + deadlineMs, beforeSend };
    try {
      return await limiter.run(() => requester.send(call, limits), limits.signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof KubeError || !limits.signal.aborted) throw error;
      const message = `no answer from ${transport.host} within ${deadlineMs / 1000} s`;
      throw toNamedError(call, new KubeError("unavailable", message));
    }
  }

  /** Calls `end` after `ms` milliseconds, unless the returned function is called before. */
  #startTimer(ms: number, end: () => void): () => void {
    const stop = new AbortController();
    this.#parts.clock.sleep(ms, stop.signal).then(end, () => {});
    return () => stop.abort();
  }
}
