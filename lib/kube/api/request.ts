/**
 * Sends one request until it has a final answer: with new credentials after a 401, with the pauses that the server asks
 * for, and with one more try if an old connection was dead.
 * @module
 */
import { ERROR_BYTES_MAX, readText } from "../../core/net/body.ts";
import { type Clock, isTimeout } from "../../core/clock.ts";
import { describeError } from "../../core/errors.ts";
import type { Counter, Histogram, MetricsRegistry } from "../../core/metrics.ts";
import { listSecrets, redact } from "../../core/text/redact.ts";
import type { Credential, Credentials } from "../credentials/credentials.ts";
import { KubeError } from "./errors.ts";
import type { Recovery } from "./recovery.ts";
import { parseRetryAfter, toKubeError } from "./status.ts";
import {
  isConnectionReset,
  isTlsRefusal,
  type Transport,
  type TransportRequest,
  toTransportError,
} from "./transport.ts";

/** A request, and whether it can be repeated. */
export interface KubeRequest extends TransportRequest {
  /** `patch "/api/v1/nodes/a"`, for errors. */
  readonly what: string;
  /** Whether a second try does no harm if the first one may have arrived. */
  readonly repeatable: boolean;
  /** Called right before each try. An error from it ends the call. */
  readonly beforeSend?: (() => void) | undefined;
  /** No pause may end after this time, in monotonic milliseconds. */
  readonly deadlineMs: number;
}

/** What a {@linkcode Requester} needs. */
interface RequesterOptions {
  readonly credentials: Credentials;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly metrics: RequestMetrics;
  /** Notified when a kept connection was silent and a new one works. */
  readonly recovery?: Recovery | undefined;
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

/** Sends requests by the rules above. */
export class Requester {
  readonly #options: RequesterOptions;
  /** The generation of connections that was reported last, or the first one. */
  #answered: number;

  constructor(options: RequesterOptions) {
    this.#options = options;
    this.#answered = options.transport.generation;
  }

  /**
   * Resolves with the result of `read` for a reply of status 2xx.
   *
   * @param request What to send, and whether it can be repeated
   * @param read Reads the body, or leaves it open. It is part of the try, because a connection may break there, too
   * @param signal Ends the whole call
   * @throws {KubeError} for any other outcome, or `signal.reason`
   */
  async send<T>(
    request: KubeRequest,
    read: (reply: Response) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { clock, credentials } = this.#options;
    let denied = false;
    let broken = false;
    let distrusted: { readonly version: number; readonly error: unknown } | undefined;
    for (let tries = 1; ; tries += 1) {
      const credential = await this.#readCredential(request, signal);
      if (distrusted?.version === credential.version) throw named(request, distrusted.error);
      signal.throwIfAborted();
      request.beforeSend?.();
      let reply: Response;
      try {
        reply = await this.#sendOnce(request, credential, signal);
        if (reply.ok) return await read(reply);
      } catch (cause) {
        const error = toTransportError(cause, signal);
        // Authorities and client certificates change, too. The server read nothing on an untrusted connection, so even
        // a write can be sent again, with the new files.
        if (isTlsRefusal(error) && distrusted === undefined) {
          credentials.invalidate(credential);
          distrusted = { version: credential.version, error };
          continue;
        }
        if (broken || !request.repeatable || !isConnectionReset(error)) throw named(request, error);
        broken = true;
        continue;
      }
      const error = await toError(request, reply, { credential, nowMs: clock.now() }, signal);
      if (error.code === 401) {
        credentials.invalidate(credential);
        if (denied) throw error;
        denied = true;
        continue;
      }
      const pauseMs = toPauseMs(error, reply);
      const wakeMs = clock.monotonic() + (pauseMs ?? 0);
      if (pauseMs === undefined || tries >= TRIES_MAX || wakeMs >= request.deadlineMs) throw error;
      await clock.sleep(pauseMs, signal);
    }
  }

  async #readCredential(request: KubeRequest, signal: AbortSignal): Promise<Credential> {
    try {
      return await this.#options.credentials.current(signal);
    } catch (error) {
      // The request was not sent. The message says so, because readers would suspect the network.
      const isLate = signal.aborted && isTimeout(signal.reason);
      if (signal.aborted && !isLate) throw signal.reason;
      const why = isLate ? "the source of the credentials takes too long" : describeError(error);
      const message = `Cannot ${request.what}: no credentials: ${why}`;
      throw new KubeError("unauthorized", message, { cause: error });
    }
  }

  async #sendOnce(
    request: KubeRequest,
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
  { what }: KubeRequest,
  reply: Response,
  { credential, nowMs }: { readonly credential: Credential; readonly nowMs: number },
  signal: AbortSignal,
): Promise<KubeError> {
  const retryAfterMs = parseRetryAfter(reply.headers.get("retry-after"), nowMs);
  let body = "";
  try {
    body = await readText(reply, { bytesMax: ERROR_BYTES_MAX, isCut: true });
  } catch (error) {
    // The code alone is enough, unless this process ended the connection.
    const meaning = toTransportError(error, signal);
    if (!(meaning instanceof KubeError)) throw meaning;
  }
  const shown = redact(body, listSecrets(credential.headers));
  return toKubeError(what, { code: reply.status, body: shown, retryAfterMs });
}

/** The pause that the server asks for. Only the header counts; the same number in a Status is advice for people. */
function toPauseMs(error: KubeError, reply: Response): number | undefined {
  const refused = reply.status === 429 || reply.status >= 500;
  return refused && reply.headers.has("retry-after") ? error.retryAfterMs : undefined;
}

function named({ what }: KubeRequest, error: unknown): unknown {
  if (!(error instanceof KubeError) || error.message.startsWith(`Cannot ${what}: `)) return error;
  return new KubeError(error.kind, `Cannot ${what}: ${error.message}`, { cause: error });
}
