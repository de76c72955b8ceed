/**
 * One request to the API server, from its first try to its final answer, and the connections that carry it.
 * @module
 */
import { arch, platform } from "node:os";
import { type Clock, isTimeout } from "../../core/clock.ts";
import { describeError, findErrorCode } from "../../core/errors.ts";
import type { Counter, Histogram, MetricsRegistry } from "../../core/metrics.ts";
import type { Credential, Credentials } from "../credentials/credentials.ts";
import { KubeError, toKubeError } from "./errors.ts";
import {
  BodyError,
  type HttpRequest,
  isSingle,
  openSession,
  parseRetryAfter,
  readRefusal,
  sendHttp,
} from "../../core/http/request.ts";
import { formatHostPort, isReset, toConnectionProblem } from "../../core/http/connection.ts";

/** A request, and how its answer is read. */
export interface Call<T> extends Pick<TransportRequest, "method" | "path"> {
  /** For errors: `patch`. */
  readonly verb: string;
  readonly body?: object;
  /** Beside those of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether a second try does no harm if the first one may have arrived. */
  readonly repeatable: boolean;
  /** Reads a reply of status 2xx. It is part of the try, because a connection may break there, too. */
  readonly read: (reply: Response) => Promise<T>;
}

/** The limits of a call with all its tries. */
interface CallLimits {
  readonly signal: AbortSignal;
  /** No pause may end after this time, in monotonic milliseconds. */
  readonly endMs: number;
  /** Called right before each try. An error from it ends the call. */
  readonly beforeSend?: (() => void) | undefined;
}

/** What a {@linkcode Requester} needs. */
export interface RequesterOptions {
  readonly credentials: Credentials;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly metrics: RequestMetrics;
  /** Landfall's version, for the User-Agent. */
  readonly version: string;
  /** Purpose of the client, at the end of the User-Agent: `leader-election`. @default {nothing} */
  readonly component?: string;
  /** Notified when a kept connection was silent and a new one works. @default {nothing} */
  readonly recovery?: Recovery;
}

/** Metrics of requests, with the names that Kubernetes components use. */
export interface RequestMetrics {
  readonly requests: Counter;
  readonly duration: Histogram;
}

/** Most tries when the server answers with Retry-After, as in client-go. */
const TRIES_MAX = 10;

/** Registers the metrics of requests. Once per registry: clients of one process share them. */
export function createRequestMetrics(metrics: MetricsRegistry): RequestMetrics {
  return {
    requests: metrics.counter({
      name: "rest_client_requests_total",
      help: "Requests to the API server, by status code, method and host",
    }),
    duration: metrics.histogram({
      name: "rest_client_request_duration_seconds",
      help: "Seconds until the API server began to answer, by verb and host",
    }),
  };
}

/**
 * Sends a request until it has a final answer: with new credentials after a 401, with the pauses that the server asks
 * for, and with one more try if an old connection was dead.
 */
export class Requester {
  readonly #options: RequesterOptions;
  readonly #headers: TransportRequest["headers"];
  /** The generation of connections that was reported last, or the first one. */
  #answered: number;

  constructor(options: RequesterOptions) {
    this.#options = options;
    const userAgent = toUserAgent(options.version, options.component);
    this.#headers = { accept: "application/json", "user-agent": userAgent };
    this.#answered = options.transport.generation;
  }

  /**
   * Resolves with what the call reads.
   *
   * @throws {KubeError} for any other outcome, or the signal's reason
   */
  async send<T>(call: Call<T>, { signal, endMs, beforeSend }: CallLimits): Promise<T> {
    const { clock, credentials } = this.#options;
    const { method, path, body } = call;
    const request: TransportRequest = {
      method,
      path,
      headers: { ...this.#headers, ...call.headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    let denied = false;
    let broken = false;
    let distrusted: { readonly version: number; readonly error: unknown } | undefined;
    for (let tries = 1; ; tries += 1) {
      const credential = await this.#readCredential(call, signal);
      if (distrusted?.version === credential.version) throw distrusted.error;
      signal.throwIfAborted();
      beforeSend?.();
      let reply: Response;
      try {
        reply = await this.#sendOnce(request, credential, signal);
        if (reply.ok) return await call.read(reply);
      } catch (cause) {
        signal.throwIfAborted();
        const unnamed = toTransportError(cause, signal);
        const error = toNamedError(call, unnamed);
        // Authorities and client certificates change, too. The server read nothing on an untrusted connection, so even
        // a write can be sent again, with the new files.
        if (isTlsRefusal(unnamed) && distrusted === undefined) {
          credentials.invalidate(credential);
          distrusted = { version: credential.version, error };
          continue;
        }
        if (broken || !call.repeatable || !isConnectionReset(unnamed)) throw error;
        broken = true;
        continue;
      }
      const error = await toError(call, reply, { credential, nowMs: clock.now() }, signal);
      if (error.code === 401) {
        credentials.invalidate(credential);
        if (denied) throw error;
        denied = true;
        continue;
      }
      const pauseMs = toPauseMs(error, reply);
      const wakeMs = clock.monotonic() + (pauseMs ?? 0);
      if (pauseMs === undefined || tries >= TRIES_MAX || wakeMs >= endMs) throw error;
      await clock.sleep(pauseMs, signal);
    }
  }

  async #readCredential(call: CallName, signal: AbortSignal): Promise<Credential> {
    try {
      return await this.#options.credentials.current(signal);
    } catch (error) {
      // The request was not sent. The message says so, because readers would suspect the network.
      const isLate = signal.aborted && isTimeout(signal.reason);
      if (signal.aborted && !isLate) throw signal.reason;
      const why = isLate ? "the source of the credentials takes too long" : describeError(error);
      const message = `Cannot ${toWhat(call)}: no credentials: ${why}`;
      throw new KubeError("unauthorized", message, { cause: error });
    }
  }

  async #sendOnce(
    request: TransportRequest,
    credential: Credential,
    signal: AbortSignal,
  ): Promise<Response> {
    const { transport, clock, metrics } = this.#options;
    const { method } = request;
    const { host, generation } = transport;
    const startMs = clock.monotonic();
    let code = "<error>";
    try {
      const reply = await transport.send(request, credential, signal);
      code = String(reply.status);
      this.#noteAnswer(generation);
      return reply;
    } catch (error) {
      // No byte arrived in time.
      if (isTimeout(error)) transport.giveUp(generation);
      throw error;
    } finally {
      metrics.requests.inc({ code, method, host });
      metrics.duration.observe((clock.monotonic() - startMs) / 1000, { verb: method, host });
    }
  }

  #noteAnswer(generation: number): void {
    if (generation <= this.#answered) return;
    this.#answered = generation;
    this.#options.recovery?.tell("reconnected");
  }
}

/** Reads the body of a refusal. This also frees its connection. */
async function toError(
  call: CallName,
  reply: Response,
  { credential, nowMs }: { readonly credential: Credential; readonly nowMs: number },
  signal: AbortSignal,
): Promise<KubeError> {
  const retryAfterMs = parseRetryAfter(reply.headers.get("retry-after"), nowMs);
  const body = await readRefusal(reply, credential.headers).catch(() => {
    // The code alone is enough, unless this process ended the connection.
    signal.throwIfAborted();
    return "";
  });
  return toKubeError(toWhat(call), { code: reply.status, body, retryAfterMs });
}

/** The pause that the server asks for. Only the header counts; the same number in a Status is advice for people. */
function toPauseMs(error: KubeError, reply: Response): number | undefined {
  const refused = reply.status === 429 || reply.status >= 500;
  return refused && reply.headers.has("retry-after") ? error.retryAfterMs : undefined;
}

type CallName = Pick<Call<unknown>, "verb" | "path">;

/** A call in error messages: `patch "/api/v1/nodes/a"`. */
function toWhat({ verb, path }: CallName): string {
  return `${verb} "${path.split("?")[0]}"`;
}

/** An error that says which call failed. */
export function toNamedError(call: CallName, error: unknown): unknown {
  if (!(error instanceof KubeError)) return error;
  return new KubeError(error.kind, `Cannot ${toWhat(call)}: ${error.message}`, { cause: error });
}

/** The User-Agent, in the form of Kubernetes components. */
function toUserAgent(version: string, component: string | undefined): string {
  const suffix = component === undefined ? "" : `/${component}`;
  // Names of architectures are those of Go, as everywhere in Kubernetes.
  const goArch = { x64: "amd64", ia32: "386" }[arch() as string] ?? arch();
  return `landfall/${version} (${platform()}/${goArch}) kubernetes${suffix}`;
}

/** One HTTP request below the server's address. */
export interface TransportRequest {
  readonly method: HttpRequest["method"];
  /** Path and query, from the first slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Connections to one API server. */
export interface Transport {
  /** Host and port, for metrics. */
  readonly host: string;
  /** Grows with each effective call of {@linkcode giveUp}. */
  readonly generation: number;
  /**
   * Sends a request and resolves with the head of its reply.
   * Does not follow redirects: another server would get the token.
   *
   * @throws {KubeError} `unavailable` when there is no reply, or `signal.reason`
   */
  send(request: TransportRequest, credential: Credential, signal: AbortSignal): Promise<Response>;
  /**
   * Makes new requests use new connections. If one kept connection turned out to be silent, all of them may be. Running
   * requests end on the old connections.
   *
   * @param generation That of the silent connection. If this generation was given up before, nothing happens
   */
  giveUp(generation: number): void;
  /** Closes idle connections. */
  close(): void;
}

const NO_PROXY =
  "cannot send several groups or values to impersonate through a proxy: give one, or leave out proxy-url";

/** Creates connections on demand: one session per version of the credentials, kept alive between requests. */
export function createTransport(server: string): Transport {
  const { host } = new URL(server);
  let current: { version: number; session: Bun.FetchSession } | undefined;
  let generation = 0;

  const findSession = ({ tls, proxy, version }: Credential): Bun.FetchSession => {
    if (current?.version === version) return current.session;
    // Running requests finish on the old one.
    current?.session.close();
    current = { version, session: openSession(server, tls, proxy) };
    return current.session;
  };

  return {
    host,
    get generation(): number {
      return generation;
    },
    async send({ path, ...request }, credential, signal) {
      const { tls, proxy } = credential;
      const headers = { ...request.headers, ...credential.headers };
      try {
        if (proxy !== undefined && !isSingle(headers)) throw new KubeError("unavailable", NO_PROXY);
        const sent = { ...request, headers, tls, signal };
        return await sendHttp(`${server}${path}`, sent, findSession(credential));
      } catch (error) {
        throw toTransportError(error, signal, describeWay(server, proxy));
      }
    },
    giveUp(silent) {
      if (silent !== generation) return;
      generation += 1;
      current?.session.close();
      current = undefined;
    },
    close() {
      current?.session.close();
    },
  };
}

/**
 * Explains a failed request or an answer that cannot be used: `signal.reason` if the signal aborted, else a {@linkcode
 * KubeError} of kind `unavailable` in our words.
 *
 * @param way The unreachable server and its proxy; absent if the answer had begun
 */
export function toTransportError(error: unknown, signal: AbortSignal, way?: string): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof KubeError) return error;
  if (error instanceof SyntaxError) {
    return new KubeError("unavailable", "the answer is not JSON", { cause: error });
  }
  if (error instanceof BodyError) {
    return new KubeError("unavailable", error.message, { cause: error });
  }
  const cause = toConnectionProblem(error);
  const text = way === undefined ? cause.message : `cannot reach ${way}: ${cause.message}`;
  return new KubeError("unavailable", text, { cause });
}

/** Shows only hosts and ports: the address of a proxy may contain a password. */
function describeWay(server: string, proxy: string | undefined): string {
  const through = proxy === undefined ? "" : ` through the proxy ${formatHostPort(proxy)}`;
  return `the API server at ${formatHostPort(server)}${through}`;
}

/** Whether a request failed because its connection broke. Old connections in the pool do that. */
export function isConnectionReset(error: unknown): boolean {
  return error instanceof KubeError && isReset(error.cause);
}

/** Whether the two sides did not accept each other's certificates. */
export function isTlsRefusal(error: unknown): boolean {
  return (
    error instanceof KubeError && /CERT|ISSUER|VERIFY|SSL|TLS/.test(findErrorCode(error.cause))
  );
}

/**
 * What a process learned about the API server.
 *
 * - `answers`: the API server answers, perhaps after an outage
 * - `reconnected`: the same, and a kept connection was silent while a new one works. A request on an old connection
 *   without recent data may wait for ever
 */
export type RecoveryNews = "answers" | "reconnected";

/**
 * News about the API server for all parts of a process. Without it, a watch that waits for its next try notices up to a
 * minute later, and an open watch sends no request that could fail.
 */
export class Recovery {
  readonly #listeners = new Set<(news: RecoveryNews) => void>();

  /** Calls `listener` for each piece of news. Returns the function that ends this. */
  subscribe(listener: (news: RecoveryNews) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notifies all listeners. */
  tell(news: RecoveryNews = "answers"): void {
    for (const listener of this.#listeners) listener(news);
  }
}
