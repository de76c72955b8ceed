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
  createRequestMetrics,
  type KubeRequest,
  Requester,
  type RequestMetrics,
} from "./request.ts";
import type { Kind } from "../kinds/kind.ts";
import { type KubeObject, type ObjectPath, type Resource, toPath } from "../kinds/resource.ts";
import { createTransport, type Transport } from "./transport.ts";
import { readWatchEvents } from "./watch_stream.ts";
import {
  readDeleted,
  hasPrecondition,
  isFenced,
  readBody,
  toDeletion,
  toListSearch,
  toObject,
  toPatchSearch,
  toPage,
  toUserAgent,
  toWatchSearch,
  PATCH_CONTENT_TYPES,
  type Call,
  GET,
  toCollection,
  toRequest,
  toWhat,
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

/** The parts of a client. A fenced or followed client shares all others. */
interface Parts {
  readonly clock: Clock;
  readonly transport: Transport;
  readonly requester: Requester;
  readonly limiter: Limiter;
  readonly userAgent: string;
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
    requester: new Requester({ credentials, transport, clock, metrics, recovery }),
    limiter: new Limiter(inFlightMax),
    userAgent: toUserAgent(version, component),
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

  async read<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    signal: AbortSignal,
  ): Promise<T> {
    const call = { ...GET, path: toPath(resource, path) };
    return await this.#callFor(resource, path, call, signal);
  }

  async list<T extends KubeObject>(
    resource: Kind<T>,
    query: ListQuery,
    signal: AbortSignal,
  ): Promise<ListPage<T>> {
    const path = toPath(resource, toCollection(query.namespace));
    const read: Call["read"] = (...reading) => readListBody(resource, ...reading);
    const call = { ...GET, verb: "list", path: `${path}${toListSearch(query)}`, read };
    return toPage(await this.#call(call, signal, LIST_DEADLINE_MS), resource, path);
  }

  async *watch<T extends KubeObject>(
    resource: Resource<T>,
    query: WatchQuery,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent, void> {
    const path = `${toPath(resource, toCollection(query.namespace))}${toWatchSearch(query)}`;
    const call = { ...GET, verb: "watch", path, repeatable: false };
    const what = toWhat(call);
    const { transport, requester, deadlineMs } = this.#parts;
    const { generation } = transport;
    const late = new AbortController();
    const stopped = AbortSignal.any([signal, late.signal]);
    const end = (message: string) => (): void => {
      transport.giveUp(generation);
      late.abort(new KubeError("unavailable", `Cannot ${what}: ${message}`));
    };
    let stopTimer = this.#startTimer(deadlineMs, end("no answer in time"));
    try {
      const request = this.#toRequest(call, deadlineMs);
      const reply = await requester.send(request, (reply) => Promise.resolve(reply), stopped);
      stopTimer();
      const lifeMs = query.timeoutSeconds * 1000 + WATCH_GRACE_MS;
      stopTimer = this.#startTimer(lifeMs, end("the server did not end the watch in time"));
      if (reply.body !== null) yield* readWatchEvents(reply.body, what, stopped, resource.unread);
    } finally {
      stopTimer();
      if (isTimeout(signal.reason)) transport.giveUp(generation);
    }
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    body: object,
    signal: AbortSignal,
  ): Promise<T> {
    // The name is in the body. The path has it only with a subresource.
    const to = path.subresource === undefined ? toCollection(path.namespace) : path;
    const call: Call = {
      method: "POST",
      verb: "create",
      path: toPath(resource, to),
      body,
      contentType: "application/json",
      repeatable: false,
    };
    return await this.#callFor(resource, toCollection(path.namespace), call, signal);
  }

  async replace<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    object: T,
    signal: AbortSignal,
  ): Promise<T> {
    const call: Call = {
      method: "PUT",
      verb: "update",
      path: toPath(resource, path),
      body: object,
      contentType: "application/json",
      repeatable: hasPrecondition(object),
    };
    return await this.#callFor(resource, path, call, signal);
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    patch: Patch,
    signal: AbortSignal,
  ): Promise<T> {
    const call: Call = {
      method: "PATCH",
      verb: "patch",
      path: `${toPath(resource, path)}${toPatchSearch(patch)}`,
      body: patch.body,
      contentType: PATCH_CONTENT_TYPES[patch.type],
      repeatable: hasPrecondition(patch.body),
    };
    return await this.#callFor(resource, path, call, signal);
  }

  async delete<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    preconditions: DeleteOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const call: Call = {
      method: "DELETE",
      verb: "delete",
      path: toPath(resource, path),
      ...toDeletion(preconditions),
      contentType: "application/json",
    };
    const follower = this.#parts.follow?.(resource, path);
    const answer = await this.#callWithin(resource, call, signal);
    const left = readDeleted(answer, resource, toWhat(call));
    if (left !== undefined) follower?.learn(left);
    else if (preconditions.uid !== undefined) follower?.learnGone(preconditions.uid);
  }

  get(path: string, signal: AbortSignal): Promise<unknown> {
    return this.#call({ ...GET, path }, signal);
  }

  close(): void {
    this.#parts.transport.close();
  }

  async #callFor<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    call: Call,
    signal: AbortSignal,
  ): Promise<T> {
    const follower = this.#parts.follow?.(resource, path);
    const read: Call["read"] = (reply, what) => readBody(reply, what, resource.unread);
    const answer = await this.#callWithin(resource, { ...call, read }, signal);
    const object = toObject(answer, resource, { what: toWhat(call), name: path.name });
    follower?.learn(object);
    return object;
  }

  /** Checks the fence before each write, if there is one. */
  async #callWithin(
    resource: Resource<KubeObject>,
    call: Call,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { fence } = this.#parts;
    if (!fence || !isFenced(call, resource)) return await this.#call(call, signal);
    return await this.#call({ ...call, beforeSend: () => fence.check() }, fence.bind(signal));
  }

  async #call(
    call: Call,
    signal: AbortSignal,
    deadlineMs = this.#parts.deadlineMs,
  ): Promise<unknown> {
    const { clock, limiter, requester, transport } = this.#parts;
    using deadline = startDeadline(signal, deadlineMs, clock);
    const stopped = deadline.signal;
    const request = this.#toRequest(call, deadlineMs);
    const { read = (reply: Response, what: string) => readBody(reply, what) } = call;
    try {
      const take = (reply: Response): Promise<unknown> => read(reply, request.what, stopped);
      return await limiter.run(() => requester.send(request, take, stopped), stopped);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof KubeError || !stopped.aborted) throw error;
      throw new KubeError(
        "unavailable",
        `Cannot ${request.what}: no answer from ${transport.host} within ${deadlineMs / 1000} s`,
      );
    }
  }

  #toRequest(call: Call, deadlineMs: number): KubeRequest {
    const { clock, userAgent } = this.#parts;
    return toRequest(call, { userAgent, deadlineMs: clock.monotonic() + deadlineMs });
  }

  /** Calls `end` after `ms` milliseconds, unless the returned function is called before. */
  #startTimer(ms: number, end: () => void): () => void {
    const stop = new AbortController();
    this.#parts.clock.sleep(ms, stop.signal).then(end, () => {});
    return () => stop.abort();
  }
}
