/**
 * Requests to one server of a cloud: whom to trust, one more try where that is safe, a deadline, metrics.
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

/** What a {@linkcode CloudClient} works with. */
export interface CloudClientDeps {
  readonly names: ServerNames;
  /** Outlives the client: whoever follows its server with another one goes on counting. */
  readonly meter: Meter;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What is asked for, and under which name it is counted. */
export interface CloudRequest extends Omit<Request, "tls" | "signal"> {
  /** As `list_things`. */
  readonly operation: string;
}

/**
 * Asks one server. Who asks, and what an answer means, is for whoever calls: every reply is handed back, whatever its
 * status.
 *
 * Guarantees: no error shows more of an address than host and port.
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
   * Sends a request. A GET is sent once more when its connection was dropped, as kept ones are that were idle; a POST
   * is not, for it may have been heard.
   *
   * @param signal Must carry the deadline, see {@linkcode within}
   * @throws {CloudError} when there is no reply, be it because the signal aborted
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
   * @param request.type The content type that is wanted
   * @param signal Ends the stream, too
   * @throws {CloudError} when there is no reply, be it because the signal aborted
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
   * Does what must be answered in time, be it one request or several.
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

  /** Sends something, and once more when the server was not believed although its authority is known by now. */
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
