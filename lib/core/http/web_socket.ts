/**
 * One WebSocket, for a few messages.
 * @module
 */
import { findErrorCode } from "../errors.ts";
import { BUDGET } from "../budget.ts";
import { BodyError } from "./request.ts";
import {
  ConnectionProblem,
  type TlsSettings,
  toConnectionProblem,
  toRuntimeTls,
} from "./connection.ts";

/** An open WebSocket. */
export interface OpenSocket {
  /** Always 101. */
  readonly status: number;
  /** Sends a text. */
  send(text: string): void;
  /**
   * The next message that was not received yet.
   *
   * @throws {ConnectionProblem} when the connection ends, or the signal's reason
   */
  receive(): Promise<string>;
  /** Closes it, without waiting. */
  close(): void;
}

/** Where to connect. */
interface SocketRequest {
  /** `https:` or `http:`. */
  readonly url: string;
  /** The certificates to trust. Nothing is sent to a server with another one. */
  readonly tls: TlsSettings;
  /** Must include the deadline. It also ends the open socket. */
  readonly signal: AbortSignal;
}

/** Some servers send a message for every change of anything. */
const WAITING_MAX = 1_000;
/** Of one message, and of those that wait. */
const CHARS_MAX = BUDGET.reply / 8;

/**
 * Opens a WebSocket. The caller closes it.
 *
 * @throws {ConnectionProblem} if it cannot be opened
 */
export async function openWebSocket({ url, tls, signal }: SocketRequest): Promise<OpenSocket> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<OpenSocket>();
  const socket = new WebSocket(url.replace(/^http/, "ws"), { tls: toRuntimeTls(tls) });
  const inbox = new Inbox();
  const end = (reason: unknown): void => {
    signal.removeEventListener("abort", abort);
    inbox.end(reason);
    reject(reason);
    socket.close();
  };
  const abort = (): void => end(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  socket.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    if (typeof data !== "string" || !inbox.add(data)) {
      end(new BodyError("it sends more than Landfall accepts"));
    }
  });
  socket.addEventListener("error", (event) => end(toProblem(event)));
  socket.addEventListener("close", () => {
    end(new ConnectionProblem("ECONNRESET", "the server closed the connection"));
  });
  socket.addEventListener("open", () => {
    resolve({
      status: 101,
      send: (text) => socket.send(text),
      receive: () => inbox.take(),
      close: () => end(new ConnectionProblem("EPIPE", "the connection is closed")),
    });
  });
  return await promise;
}

/** Messages in their order, until the connection ends. */
class Inbox {
  readonly #texts: string[] = [];
  #chars = 0;
  #next: PromiseWithResolvers<string> | undefined;
  #ended: { readonly reason: unknown } | undefined;

  /** @returns Whether there was room for it */
  add(text: string): boolean {
    if (this.#chars + text.length > CHARS_MAX) return false;
    if (this.#next) {
      this.#next.resolve(text);
      this.#next = undefined;
      return true;
    }
    this.#chars += text.length;
    return this.#texts.push(text) <= WAITING_MAX;
  }

  end(reason: unknown): void {
    this.#ended ??= { reason };
    this.#next?.reject(reason);
    this.#next = undefined;
  }

  take(): Promise<string> {
    const text = this.#texts.shift();
    if (text !== undefined) {
      this.#chars -= text.length;
      return Promise.resolve(text);
    }
    if (this.#ended) return Promise.reject(this.#ended.reason);
    this.#next ??= Promise.withResolvers();
    return this.#next.promise;
  }
}

/** The runtime tells why in a member that the standard does not have. Without a code the server answered otherwise. */
function toProblem(event: Event): ConnectionProblem {
  const cause: unknown = "error" in event ? event.error : undefined;
  if (findErrorCode(cause) !== "") return toConnectionProblem(cause);
  return new ConnectionProblem("", "the server accepts no WebSocket there", { cause });
}
