/**
 * Requests to one server of a cloud: trust, one retry where that is safe, a deadline, metrics.
 * @module
 */
import { CloudError } from "../cloud/errors.ts";
import { type Clock, startDeadline } from "../core/clock.ts";
import { formatHostPort, isReset } from "../core/net/connection_problem.ts";
import type { Logger } from "../core/log.ts";
import { isUntrusted, toConnectionError } from "./connection_error.ts";
import { openStream, type Reply, type Request, sendRequest, type StreamReply } from "./http.ts";
import type { Meter } from "./meter.ts";
import type { Server, ServerNames } from "./server.ts";
import { type FetchTls, Trust } from "./trust.ts";

/** What a {@linkcode CloudClient} needs. */
export interface CloudClientDeps {
  readonly names: ServerNames;
  /** Lives longer than the client: the next client of this server continues its counts. */
  readonly meter: Meter;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A request, and the name under which it is counted. */
export interface CloudRequest extends Omit<Request, "tls" | "signal"> {
  /** For metrics: `list_things`. */
  readonly operation: string;
}

/**
 * Sends requests to one server. The caller adds credentials and reads the answer: every reply is returned, with any
 * status.
 *
 * Guarantees: an error shows only host and port of an address.
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
   * Sends a request. A GET is sent once more when its connection was closed, as idle connections often are; a POST is
   * not, because the server may have received it.
   *
   * @param signal Must carry the deadline, see {@linkcode within}
   * @throws {CloudError} when there is no reply, also when the signal aborted
   */
  async request({ operation, ...sent }: CloudRequest, signal: AbortSignal): Promise<Reply> {
    const send = (tls: FetchTls): Promise<Reply> =>
      sendRequest({ ...sent, tls, signal }, this.#deps.names);
    try {
      return await this.#send(operation, send, signal);
    } catch (error) {
      const mayRepeat = sent.method === "GET" && !signal.aborted && isReset(error);
      if (!mayRepeat) throw this.#toError(error);
    }
    return await this.#send(operation, send, signal).catch((error: unknown) => {
      throw this.#toError(error);
    });
  }

  /**
   * Opens a stream, see {@linkcode openStream}.
   *
   * @param request.type The content type that is expected
   * @param signal Ends the stream, too
   * @throws {CloudError} when there is no reply, also when the signal aborted
   */
  async openStream(
    { operation, type, ...sent }: Omit<CloudRequest, "method" | "body"> & { readonly type: string },
    signal: AbortSignal,
  ): Promise<StreamReply> {
    const send = (tls: FetchTls): Promise<StreamReply> =>
      openStream({ ...sent, tls, signal }, type);
    return await this.#send(operation, send, signal).catch((error: unknown) => {
      throw this.#toError(error);
    });
  }

  /**
   * Runs one request or several that must be answered in time.
   *
   * @param timeoutMs Milliseconds for all of it
   * @param work Gets a signal that carries the deadline
   * @throws {CloudError} `unreachable` when the time is up
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

  /** Sends a request; once more if the server was not trusted but its authority is known by now. */
  async #send<T extends { readonly status: number }>(
    operation: string,
    send: (tls: FetchTls) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const sendCounted = (tls: FetchTls): Promise<T> =>
      this.#deps.meter.count(operation, signal, () => send(tls));
    const tls = await this.#trust.read(signal);
    try {
      return await sendCounted(tls);
    } catch (error) {
      if (signal.aborted || !isUntrusted(error)) throw error;
      if (!(await this.#trust.doubt(tls, signal))) throw error;
    }
    return await sendCounted(await this.#trust.read(signal));
  }

  #toError(error: unknown): CloudError {
    return toConnectionError(error, this.#url, this.#deps.names);
  }
}
