/**
 * Sends requests to one server of a cloud, with certificates to trust, one retry where that is safe, a deadline and
 * metrics.
 * @module
 */
import { CloudError } from "../cloud/errors.ts";
import { type Clock, startDeadline } from "../core/clock.ts";
import { formatHostPort, isReset, type TlsSettings } from "../core/http/connection.ts";
import { type OpenSocket, openWebSocket } from "../core/http/web_socket.ts";
import type { Logger } from "../core/log.ts";
import { isUntrusted, toConnectionError } from "./connection_error.ts";
import { openStream, type Reply, type Request, sendRequest, type StreamReply } from "./http.ts";
import type { Meter } from "./meter.ts";
import type { Server, ServerNames } from "./server.ts";
import { Trust } from "./trust.ts";

/** What a {@linkcode CloudClient} needs. */
interface CloudClientDeps {
  readonly names: ServerNames;
  /** Outlives the client: the next client of this server continues its counts. */
  readonly meter: Meter;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A request, and the name under which metrics count it. */
export interface CloudRequest extends Omit<Request, "tls" | "signal"> {
  /** For metrics: `list_things`. */
  readonly operation: string;
}

/**
 * Sends requests to one server, and returns every reply with any status. The caller adds credentials and reads the
 * answer.
 *
 * Guarantees: an error shows only host and port of a URL.
 */
export class CloudClient {
  readonly #url: string;
  readonly #deps: CloudClientDeps;
  readonly #trust: Trust;

  /** @throws {ConfigError} when the file of authorities cannot be used */
  constructor(server: Server, deps: CloudClientDeps) {
    this.#url = server.url;
    this.#deps = deps;
    this.#trust = new Trust(server, deps);
  }

  /**
   * Sends a request. If the connection was closed, as idle connections often are, it sends a GET once more. It does not
   * repeat other requests, because the server may have received them.
   *
   * @param signal Must carry the deadline, see {@linkcode within}
   * @throws {CloudError} if there is no reply, or the signal aborted
   */
  async request({ operation, ...sent }: CloudRequest, signal: AbortSignal): Promise<Reply> {
    const send = (tls: TlsSettings): Promise<Reply> =>
      sendRequest({ ...sent, tls, signal }, this.#deps.names);
    try {
      return await this.#send(operation, send, signal);
    } catch (error) {
      const isBroken = error instanceof CloudError && isReset(error.cause);
      if (sent.method !== "GET" || signal.aborted || !isBroken) throw error;
    }
    return await this.#send(operation, send, signal);
  }

  /**
   * Opens a stream, see {@linkcode openStream}.
   *
   * @param request.type The expected content type
   * @param signal Also ends the stream
   * @throws {CloudError} if there is no reply, or the signal aborted
   */
  openStream(
    { operation, type, ...sent }: Omit<CloudRequest, "method" | "body"> & { readonly type: string },
    signal: AbortSignal,
  ): Promise<StreamReply> {
    const send = (tls: TlsSettings): Promise<StreamReply> =>
      openStream({ ...sent, tls, signal }, type);
    return this.#send(operation, send, signal);
  }

  /**
   * Opens a WebSocket. The caller closes it.
   *
   * @param signal Must carry the deadline; it also ends the open socket
   * @throws {CloudError} if it cannot be opened
   */
  openWebSocket(
    { operation, url }: Pick<CloudRequest, "operation" | "url">,
    signal: AbortSignal,
  ): Promise<OpenSocket> {
    const open = (tls: TlsSettings): Promise<OpenSocket> => openWebSocket({ url, tls, signal });
    return this.#send(operation, open, signal);
  }

  /**
   * Runs one or several requests with one deadline.
   *
   * @param timeoutMs Milliseconds for all requests
   * @param work Gets a signal that carries the deadline
   * @throws {CloudError} `unreachable` after the deadline
   * @throws what `work` throws, or the signal's reason
   */
  async within<T>(
    timeoutMs: number,
    signal: AbortSignal,
    work: (deadline: AbortSignal) => Promise<T>,
  ): Promise<T> {
    using started = startDeadline(signal, timeoutMs, this.#deps.clock);
    const deadline = started.signal;
    try {
      return await work(deadline);
    } catch (error) {
      signal.throwIfAborted();
      if (!deadline.aborted) throw error;
      const where = `${this.#deps.names.server} at ${formatHostPort(this.#url)}`;
      throw new CloudError("unreachable", `${where} did not answer within ${timeoutMs / 1_000} s`);
    }
  }

  /**
   * Sends a request. Sends it once more if Landfall did not trust the server, but finds new certificates in the file.
   *
   * @throws {CloudError} if there is no reply
   */
  async #send<T extends { readonly status: number }>(
    operation: string,
    send: (tls: TlsSettings) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const sendCounted = (tls: TlsSettings): Promise<T> =>
      this.#deps.meter.count(operation, signal, () => send(tls));
    try {
      const tls = await this.#trust.read(signal);
      try {
        return await sendCounted(tls);
      } catch (error) {
        if (signal.aborted || !isUntrusted(error)) throw error;
        if (!(await this.#trust.recheck(tls, signal))) throw error;
      }
      return await sendCounted(await this.#trust.read(signal));
    } catch (error) {
      throw toConnectionError(error, this.#url, this.#deps.names);
    }
  }
}
