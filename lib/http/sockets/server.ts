/**
 * An HTTP server on a port or a unix socket, with or without TLS. All resources are limited, and it stops in order.
 * @module
 */
import { chmod } from "node:fs/promises";
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTcp, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createServer as createTls, Server as TlsServer, type TlsOptions } from "node:tls";
import type { Clock } from "../../core/clock.ts";
import {
  ConfigError,
  type ConfigIssue,
  findErrorCode,
  formatConfigIssue,
} from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { TLS_CIPHERS } from "../../core/http/connection.ts";
import { isLoopbackHost } from "../../core/net/ip.ts";
import { formatListenAddress, type ListenAddress } from "../../core/net/listen_address.ts";
import { Connections } from "./connections.ts";
import {
  type Accepted,
  formatBareAnswer,
  PAGE_REQUESTS,
  readBody,
  readRequest,
  sendRefusal,
  sendResponse,
  toRubbishStatus,
} from "./exchange.ts";
import { clearSocketPath, listenAt, type Listening } from "./listening.ts";

/** The client of a request. */
export interface Peer {
  /** Its address; empty if it has none, on a unix socket. */
  readonly address: string;
}

/** Answers requests; a hono app is one. */
export interface Handler {
  /** @param peer Absent only in tests */
  fetch(request: Request, peer?: Peer): Response | Promise<Response>;
}

/** A certificate, the certificates between it and its authority, and its private key, as PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** What a server needs. */
interface HttpServerOptions {
  readonly address: ListenAddress;
  readonly handler: Handler;
  /** @default {requests for pages} */
  readonly accepted?: Accepted;
  /** Absent: it speaks plain HTTP. */
  readonly keyPair?: KeyPair;
  /** Most connections at once, never more than 128. @default {128} */
  readonly connectionsMax?: number | undefined;
  /** The flag of the address, for errors: `--debug-address`. */
  readonly flag: string;
  /** The flag of the host, if that is another one. @default {`flag`} */
  readonly hostFlag?: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends the start. It does not stop the running server. */
  readonly signal: AbortSignal;
}

/** A running server. */
export interface HttpServer {
  /** The requested address, with the port that the system chose. */
  readonly address: ListenAddress;
  /** Its sockets, as the log shows them: `[::]:10258`, commas between them. */
  readonly shown: string;
  /** Uses another certificate for new connections; open connections keep the old one. */
  useKeyPair(keyPair: KeyPair): void;
  /**
   * Accepts no more connections, waits for running answers, then closes the rest.
   *
   * @param graceMs How long to wait at most
   */
  stop(graceMs: number): Promise<void>;
}

/** Requests need a path, a token and little else. */
const HEAD_BYTES_MAX = 16 * 1024;
const CONNECTIONS_MAX = 128;
/** How many answers may be in work or unread at once. */
const REQUESTS_MAX = 64;
const HANDSHAKE_MS = 10_000;
/** Owner and group may connect. The pages have no other access control. */
const SOCKET_MODE = 0o660;

type ListenTarget = Pick<HttpServerOptions, "address" | "flag" | "hostFlag">;

/** Problems that may pass: other than with wrong flags, a restart can help. */
const PASSING: ReadonlySet<string> = new Set(["EADDRINUSE", "EADDRNOTAVAIL"]);
const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: "this machine has no such address",
  EACCES: "this process has no permission to listen there",
  ENOENT: "the folder does not exist",
  EROFS: "the folder is read-only",
};

/**
 * Starts a server. Replaces a unix socket that a dead process left behind.
 *
 * @throws {ConfigError} with the flag, if it cannot listen at the address
 * @throws {Error} with the flag, while another process listens there, or this machine has no such address
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { address, clock } = options;
  if (address.kind === "unix") await clearPath(address.path, options);
  const server = new RunningServer(options);
  const listening = await server.listen();
  if (address.kind === "unix") await chmod(address.path, SOCKET_MODE);
  return {
    address: listening.address,
    shown: listening.addresses.map(formatListenAddress).join(","),
    useKeyPair: (keyPair) => server.useKeyPair(keyPair),
    stop: (graceMs) => server.stop(graceMs, clock),
  };
}

class RunningServer {
  readonly #options: HttpServerOptions;
  readonly #connections: Connections;
  readonly #http = createHttp({ maxHeaderSize: HEAD_BYTES_MAX }, (incoming, outgoing) => {
    void this.#answer(incoming, outgoing);
  });
  #servers: readonly Server[] = [];
  #requests = 0;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    const { connectionsMax = CONNECTIONS_MAX } = options;
    this.#connections = new Connections(options.clock, Math.min(connectionsMax, CONNECTIONS_MAX));
    // The interim answer 100 would ask for a body; other answers to Expect would not be counted.
    for (const event of ["checkContinue", "checkExpectation"])
      this.#http.on(event, (incoming, outgoing) => void this.#answer(incoming, outgoing));
    this.#http.on("connect", (_incoming, socket) => this.#refuse(405, socket));
    this.#http.on("clientError", (complaint, socket) =>
      this.#refuse(toRubbishStatus(complaint), socket),
    );
  }

  async listen(): Promise<Listening> {
    const { address, flag, hostFlag = flag, log } = this.#options;
    try {
      const listening = await listenAt(address, () => this.#createServer());
      this.#servers = listening.servers;
      for (const server of this.#servers)
        server.on("error", (error) => log.error("server failed", { flag, error }));
      return listening;
    } catch (error) {
      throw toListenError(error, { address, flag, hostFlag });
    }
  }

  useKeyPair(keyPair: KeyPair): void {
    for (const server of this.#servers)
      if (server instanceof TlsServer) server.setSecureContext(toTlsOptions(keyPair));
  }

  async stop(graceMs: number, clock: Clock): Promise<void> {
    const ended = new AbortController();
    const closed = Promise.all(this.#servers.map(close));
    this.#connections.close();
    void closed.then(() => ended.abort());
    await clock.sleep(graceMs, ended.signal).catch(() => {});
    this.#connections.destroy();
    await closed;
  }

  /** One server for each socket; they share all limits. */
  #createServer(): Server {
    const { keyPair } = this.#options;
    const secured =
      keyPair && createTls({ ...toTlsOptions(keyPair), handshakeTimeout: HANDSHAKE_MS });
    const server = secured ?? createTcp();
    // Counted before the TLS handshake, which is the most expensive part of a connection.
    server.on("connection", (socket: Socket) =>
      this.#connections.add(socket, socket.remoteAddress),
    );
    server.on(secured ? "secureConnection" : "connection", (socket: Socket) => {
      if (!socket.destroyed) this.#http.emit("connection", socket);
    });
    secured?.on("tlsClientError", (_error, socket) => socket.destroy());
    return server;
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { socket } = incoming;
    // The server supports no other protocol, and the parser accepts no more HTTP after such an offer.
    if (incoming.headers.upgrade !== undefined) outgoing.shouldKeepAlive = false;
    const isTaken = this.#connections.begin(socket);
    this.#requests += 1;
    outgoing.once("close", () => {
      this.#requests -= 1;
      if (isTaken) this.#connections.end(socket);
    });
    try {
      const { accepted = PAGE_REQUESTS } = this.#options;
      if (!isTaken || (this.#requests > REQUESTS_MAX && !this.#connections.cutSlow())) {
        const message = "too many requests at once\n";
        sendRefusal({ status: 503, message }, outgoing, accepted);
        return;
      }
      const head = readRequest(incoming, accepted);
      const request = head instanceof Request ? await readBody(head, incoming, accepted) : head;
      const peer = { address: socket.remoteAddress ?? "" };
      if (request instanceof Request)
        await sendResponse(await this.#handle(request, peer), outgoing);
      else sendRefusal(request, outgoing, accepted);
    } catch {
      // The client or the server closed the connection.
      socket.destroy();
    }
  }

  /**
   * A short answer to an invalid request, but never instead of an answer that the client waits for, or after the last.
   */
  #refuse(status: number, socket: Duplex): void {
    if (this.#connections.finish(socket) || !socket.writable) return;
    socket.end(formatBareAnswer(status));
  }

  async #handle(request: Request, peer: Peer): Promise<Response> {
    const { address, handler, log } = this.#options;
    try {
      return refuseForeignHost(request, address) ?? (await handler.fetch(request, peer));
    } catch (error) {
      log.error("page failed", { path: new URL(request.url).pathname, error });
      return new Response("internal server error\n", { status: 500 });
    }
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()));
}

function toTlsOptions({ cert, key }: KeyPair): TlsOptions {
  return { cert, key, minVersion: "TLSv1.2", ciphers: TLS_CIPHERS };
}

async function clearPath(path: string, options: HttpServerOptions): Promise<void> {
  let state;
  try {
    state = await clearSocketPath(path, options.signal);
  } catch (error) {
    options.signal.throwIfAborted();
    throw toListenError(error, options);
  }
  if (state === "free") return;
  if (state === "live") throw toPassingError("EADDRINUSE", options);
  throw new ConfigError([toIssue("the path exists and is not a socket", options)]);
}

function toListenError(error: unknown, place: ListenTarget): Error {
  const code = findErrorCode(error) || "unknown error";
  if (PASSING.has(code)) return toPassingError(code, place);
  return new ConfigError([toIssue(findListenProblem(code, place), place)], { cause: error });
}

function toPassingError(code: string, place: ListenTarget): Error {
  const { address, flag, hostFlag = flag } = place;
  const to = { address, flag: code === "EADDRINUSE" ? flag : hostFlag };
  return new Error(formatConfigIssue(toIssue(findListenProblem(code, to), to)));
}

function findListenProblem(code: string, { address, flag }: ListenTarget): string {
  if (code !== "EADDRINUSE") return LISTEN_PROBLEMS[code] ?? code;
  const what = address.kind === "unix" ? "path" : "port";
  return `another process uses it; stop that process, or set ${flag} to another ${what}`;
}

function toIssue(problem: string, { address, flag }: ListenTarget): ConfigIssue {
  return { source: flag, message: `Cannot listen at ${formatListenAddress(address)}: ${problem}` };
}

/**
 * On a loopback port, refuses requests for another host. Otherwise a web page whose name resolves to 127.0.0.1 could
 * read the debug pages through a browser on this machine.
 *
 * @param request The request
 * @param address The address of the listener
 * @returns The refusal, or `undefined` for an allowed request
 */
function refuseForeignHost(request: Request, address: ListenAddress): Response | undefined {
  if (address.kind !== "tcp" || !isLoopbackHost(address.host)) return undefined;
  const host = toHostName(request.headers.get("host"));
  if (host !== undefined && isLoopbackHost(host)) return undefined;
  const message = "Host header not accepted: use 127.0.0.1, localhost or [::1]\n";
  return new Response(message, { status: 421 });
}

function toHostName(header: string | null): string | undefined {
  const [, bracketed, plain] =
    /^(?:\[([^\]]+)\]|([^:[\]]+))(?::\d{1,5})?$/.exec(header ?? "") ?? [];
  return bracketed ?? plain;
}
