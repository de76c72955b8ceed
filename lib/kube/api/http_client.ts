/**
 * The client of the API server over HTTP.
 * @module
 */
import { type Clock, isTimeout, startDeadline } from "../../core/clock.ts";
import type { Fence } from "../../core/fence.ts";
import { Limiter } from "../../core/concurrency.ts";
import { MetricsRegistry } from "../../core/metrics.ts";
import type { Follow, KubeClient, WatchEvent, WatchQuery } from "./client.ts";
import { KubeError } from "./errors.ts";
import {
  hasPrecondition,
  isFenced,
  isReview,
  PATCH_CONTENT_TYPES,
  readBody,
  readListBody,
  readWatchEvents,
  toCollection,
  toDeleted,
  toDeletion,
  toListSearch,
  toObject,
  toPage,
  toPatchSearch,
  toWatchSearch,
} from "./wire.ts";
import {
  type Call,
  createRequestMetrics,
  createTransport,
  Requester,
  type RequesterOptions,
  type RequestMetrics,
  toNamedError,
  toTransportError,
  type Transport,
} from "./request.ts";
import { type KubeObject, type ObjectPath, type Resource, toPath } from "../kinds/resource.ts";

/** Settings of {@linkcode createKubeClient}. */
export interface KubeClientOptions extends Omit<RequesterOptions, "transport" | "metrics"> {
  /** Registry for the metrics `rest_client_…`; or the metrics themselves, if clients share them. */
  readonly metrics: MetricsRegistry | RequestMetrics;
  /** Sends the requests. @default {connections to the server of the credentials} */
  readonly transport?: Transport;
  /** How many requests run at once; watches do not count. @default {32} */
  readonly inFlightMax?: number;
  /** Longest time for one call with all its tries, in milliseconds, except lists. @default {30_000} */
  readonly deadlineMs?: number;
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
  const { credentials, clock, transport = createTransport(credentials.server) } = options;
  const metrics =
    options.metrics instanceof MetricsRegistry
      ? createRequestMetrics(options.metrics)
      : options.metrics;
  return toClient({
    clock,
    transport,
    requester: new Requester({ ...options, transport, metrics }),
    limiter: new Limiter(options.inFlightMax ?? 32),
    deadlineMs: options.deadlineMs ?? 30_000,
  });
}

function toClient(parts: Parts): KubeClient {
  const { transport, fence, follow } = parts;

  /** Checks the fence before each try, if there is one. */
  function callAsLeader<T>(call: Call<T>, signal: AbortSignal): Promise<T> {
    if (fence === undefined) return sendCall(parts, call, signal);
    return sendCall(parts, call, fence.bind(signal), { beforeSend: () => fence.check() });
  }

  /** Makes a call whose answer is an object. The follower, if there is one, learns it first. */
  async function callFor<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    signal: AbortSignal,
    sent: Omit<Call<T>, "read">,
  ): Promise<T> {
    const follower = follow?.(resource, path);
    const read = async (reply: Response): Promise<T> =>
      toObject(await readBody(reply, resource.unread), resource, path.name);
    const call = { ...sent, read };
    const needsFence = call.method !== "GET" && isFenced(resource);
    const object = await (needsFence ? callAsLeader(call, signal) : sendCall(parts, call, signal));
    follower?.learn(object);
    return object;
  }

  return {
    read: (resource, path, signal) =>
      callFor(resource, path, signal, { ...READING, path: toPath(resource, path) }),
    list(resource, query, signal) {
      const call = {
        ...READING,
        verb: "list",
        path: `${toPath(resource, toCollection(query.namespace))}${toListSearch(query)}`,
        read: async (reply: Response) => toPage(await readListBody(resource, reply), resource),
      };
      return sendCall(parts, call, signal, { deadlineMs: LIST_DEADLINE_MS });
    },
    watch: (resource, query, signal) => watch(parts, resource, query, signal),
    create(resource, path, body, signal) {
      const collection = toCollection(path.namespace);
      return callFor(resource, collection, signal, {
        method: "POST",
        verb: "create",
        path: toPath(resource, collection),
        headers: JSON_BODY,
        body,
        repeatable: isReview(resource),
      });
    },
    replace: (resource, path, object, signal) =>
      callFor(resource, path, signal, {
        method: "PUT",
        verb: "update",
        path: toPath(resource, path),
        headers: JSON_BODY,
        body: object,
        repeatable: hasPrecondition(object),
      }),
    patch: (resource, path, patch, signal) =>
      callFor(resource, path, signal, {
        method: "PATCH",
        verb: "patch",
        path: `${toPath(resource, path)}${toPatchSearch(patch)}`,
        headers: { "content-type": PATCH_CONTENT_TYPES[patch.type] },
        body: patch.body,
        repeatable: hasPrecondition(patch.body),
      }),
    async delete(resource, path, preconditions, signal) {
      const follower = follow?.(resource, path);
      const call = {
        method: "DELETE",
        verb: "delete",
        path: toPath(resource, path),
        headers: JSON_BODY,
        ...toDeletion(preconditions),
        read: async (reply: Response) => toDeleted(await readBody(reply), resource),
      } as const;
      const left = await callAsLeader(call, signal);
      if (left !== undefined) follower?.learn(left);
      else if (preconditions.uid !== undefined) follower?.learnGone(preconditions.uid);
    },
    get: (path, signal) =>
      sendCall(parts, { ...READING, path, read: (reply) => readBody(reply) }, signal),
    fencedBy: (fence) => toClient({ ...parts, fence }),
    followedBy: (follow) => toClient({ ...parts, follow }),
    close: () => transport.close(),
  };
}

async function sendCall<T>(
  { clock, limiter, requester, transport, ...parts }: Parts,
  call: Call<T>,
  signal: AbortSignal,
  {
    deadlineMs = parts.deadlineMs,
    beforeSend,
  }: { readonly deadlineMs?: number; readonly beforeSend?: () => void } = {},
): Promise<T> {
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

async function* watch<T extends KubeObject>(
  { clock, transport, requester, deadlineMs }: Parts,
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
  const { generation } = transport;
  const late = new AbortController();
  const stopped = AbortSignal.any([signal, late.signal]);
  const end = (message: string) => (): void => {
    transport.giveUp(generation);
    late.abort(toNamedError(call, new KubeError("unavailable", message)));
  };
  let stopTimer = startTimer(clock, deadlineMs, end("no answer in time"));
  try {
    const limits = { signal: stopped, endMs: clock.monotonic() + deadlineMs };
    const reply = await requester.send(call, limits);
    stopTimer();
    const lifeMs = query.timeoutSeconds * 1000 + WATCH_GRACE_MS;
    stopTimer = startTimer(clock, lifeMs, end("the server did not end the watch in time"));
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

/** Calls `end` after `ms` milliseconds, unless the returned function is called before. */
function startTimer(clock: Clock, ms: number, end: () => void): () => void {
  const stop = new AbortController();
  clock.sleep(ms, stop.signal).then(end, () => {});
  return () => stop.abort();
}
