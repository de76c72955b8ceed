/**
 * The client of the API server over HTTP.
 * @module
 */
import { type Clock, isTimeout, startDeadline } from "../../core/clock.ts";
import { Limiter } from "../../core/limiter.ts";
import { MetricsRegistry } from "../../core/metrics.ts";
import type {
  DeleteOptions,
  KubeClient,
  ListPage,
  ListQuery,
  Patch,
  WatchEvent,
  WatchQuery,
  WriteOptions,
} from "./client.ts";
import type { Credentials } from "../credentials/mod.ts";
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
  checkDeleted,
  hasPrecondition,
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
  /** Takes `rest_client_requests_total` and `rest_client_request_duration_seconds`; or these, if clients share them. */
  readonly metrics: MetricsRegistry | RequestMetrics;
  /** Landfall's version, for the User-Agent. */
  readonly version: string;
  /** What the client is for, at the end of the User-Agent: `leader-election`. @default {nothing} */
  readonly component?: string;
  /** How requests travel. @default {connections to the server of the credentials} */
  readonly transport?: Transport;
  /** Most requests at once; watches do not count. @default {32} */
  readonly inFlightMax?: number;
  /** Longest time for one call with all its tries, in milliseconds, but for lists. @default {30_000} */
  readonly deadlineMs?: number;
  /** Told when a kept connection was silent and a new one works. @default {nobody} */
  readonly recovery?: Recovery;
}

/** Longest time for a page of a list, with all its tries. */
const LIST_DEADLINE_MS = 60_000;
/** How long the server may be late in ending a watch. */
const WATCH_GRACE_MS = 30_000;

/** Creates a client; nothing is sent until it is asked something. */
export function createKubeClient(options: KubeClientOptions): KubeClient {
  return new HttpKubeClient(options);
}

class HttpKubeClient implements KubeClient {
  readonly #clock: Clock;
  readonly #transport: Transport;
  readonly #requester: Requester;
  readonly #limiter: Limiter;
  readonly #userAgent: string;
  readonly #deadlineMs: number;

  constructor(options: KubeClientOptions) {
    const { credentials, clock, metrics, version, component } = options;
    this.#clock = clock;
    this.#transport = options.transport ?? createTransport(credentials.server);
    this.#requester = new Requester({
      credentials,
      transport: this.#transport,
      clock,
      metrics: metrics instanceof MetricsRegistry ? createRequestMetrics(metrics) : metrics,
      recovery: options.recovery,
    });
    this.#limiter = new Limiter(options.inFlightMax ?? 32);
    this.#userAgent = toUserAgent(version, component);
    this.#deadlineMs = options.deadlineMs ?? 30_000;
  }

  async read<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    signal: AbortSignal,
  ): Promise<T> {
    const call = { ...GET, path: toPath(resource, path) };
    return await this.#callFor(resource, call, signal, path.name);
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
    const { generation } = this.#transport;
    const late = new AbortController();
    const stopped = AbortSignal.any([signal, late.signal]);
    const end = (message: string) => (): void => {
      this.#transport.giveUp(generation);
      late.abort(new KubeError("unavailable", `Cannot ${what}: ${message}`));
    };
    let stopTimer = this.#startTimer(this.#deadlineMs, end("no answer in time"));
    try {
      const request = this.#toRequest(call, this.#deadlineMs);
      const reply = await this.#requester.send(request, (reply) => Promise.resolve(reply), stopped);
      stopTimer();
      const lifeMs = query.timeoutSeconds * 1000 + WATCH_GRACE_MS;
      stopTimer = this.#startTimer(lifeMs, end("the server did not end it in time"));
      if (reply.body !== null) yield* readWatchEvents(reply.body, what, stopped);
    } finally {
      stopTimer();
      if (isTimeout(signal.reason)) this.#transport.giveUp(generation);
    }
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    body: object,
    signal: AbortSignal,
    options?: WriteOptions,
  ): Promise<T> {
    // A name belongs in the body; in the path only with a subresource.
    const to = path.subresource === undefined ? toCollection(path.namespace) : path;
    const call: Call = {
      method: "POST",
      verb: "create",
      path: toPath(resource, to),
      body,
      contentType: "application/json",
      repeatable: false,
      beforeSend: options?.beforeSend,
    };
    return await this.#callFor(resource, call, signal);
  }

  async replace<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    object: T,
    signal: AbortSignal,
    options?: WriteOptions,
  ): Promise<T> {
    const call: Call = {
      method: "PUT",
      verb: "update",
      path: toPath(resource, path),
      body: object,
      contentType: "application/json",
      repeatable: hasPrecondition(object),
      beforeSend: options?.beforeSend,
    };
    return await this.#callFor(resource, call, signal, path.name);
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    patch: Patch,
    signal: AbortSignal,
    options?: WriteOptions,
  ): Promise<T> {
    const call: Call = {
      method: "PATCH",
      verb: "patch",
      path: `${toPath(resource, path)}${toPatchSearch(patch)}`,
      body: patch.body,
      contentType: PATCH_CONTENT_TYPES[patch.type],
      repeatable: hasPrecondition(patch.body),
      beforeSend: options?.beforeSend,
    };
    return await this.#callFor(resource, call, signal, path.name);
  }

  async delete<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    preconditions: DeleteOptions,
    signal: AbortSignal,
    options?: WriteOptions,
  ): Promise<void> {
    const call: Call = {
      method: "DELETE",
      verb: "delete",
      path: toPath(resource, path),
      ...toDeletion(preconditions),
      contentType: "application/json",
      beforeSend: options?.beforeSend,
    };
    checkDeleted(await this.#call(call, signal), resource, toWhat(call));
  }

  get(path: string, signal: AbortSignal): Promise<unknown> {
    return this.#call({ ...GET, path }, signal);
  }

  close(): void {
    this.#transport.close();
  }

  async #callFor<T extends KubeObject>(
    resource: Resource<T>,
    call: Call,
    signal: AbortSignal,
    name?: string,
  ): Promise<T> {
    return toObject(await this.#call(call, signal), resource, { what: toWhat(call), name });
  }

  async #call(call: Call, signal: AbortSignal, deadlineMs = this.#deadlineMs): Promise<unknown> {
    using deadline = startDeadline(signal, deadlineMs, this.#clock);
    const stopped = deadline.signal;
    const request = this.#toRequest(call, deadlineMs);
    const { read = readBody } = call;
    try {
      const take = (reply: Response): Promise<unknown> => read(reply, request.what, stopped);
      return await this.#limiter.run(() => this.#requester.send(request, take, stopped), stopped);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof KubeError || !stopped.aborted) throw error;
      throw new KubeError(
        "unavailable",
        `Cannot ${request.what}: no answer of ${this.#transport.host} within ${deadlineMs / 1000} s`,
      );
    }
  }

  #toRequest(call: Call, deadlineMs: number): KubeRequest {
    return toRequest(call, {
      userAgent: this.#userAgent,
      deadlineMs: this.#clock.monotonic() + deadlineMs,
    });
  }

  /** Calls `end` after `ms` milliseconds, unless the returned function is called before. */
  #startTimer(ms: number, end: () => void): () => void {
    const stop = new AbortController();
    this.#clock.sleep(ms, stop.signal).then(end, () => {});
    return () => stop.abort();
  }
}
