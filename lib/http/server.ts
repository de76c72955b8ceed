/**
 * An HTTP server for this machine: on a port or a unix socket, bounded, with an orderly end.
 * @module
 */
import { chmod } from "node:fs/promises";
import type { Clock } from "../core/clock.ts";
import { ConfigError } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import { refuseRequest } from "./guard.ts";
import { formatListenAddress } from "./listen_address.ts";
import type { ListenAddress } from "./listen_address.ts";
import { clearSocketPath } from "./unix_socket.ts";

/** Answers requests; a hono app is one. */
export interface Handler {
  fetch(request: Request): Response | Promise<Response>;
}

/** What a server needs. */
export interface HttpServerOptions {
  readonly address: ListenAddress;
  readonly handler: Handler;
  /** The flag that chose the address, for errors: `--debug-address`. */
  readonly flag: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Gives up starting. It does not stop the server. */
  readonly signal: AbortSignal;
}

/** A server that answers. */
export interface HttpServer {
  /** Where it listens, with the port that the system chose. */
  readonly address: ListenAddress;
  /**
   * Takes no more connections, waits for what is being answered, then cuts off the rest.
   *
   * @param graceMs How long to wait at most
   */
  stop(graceMs: number): Promise<void>;
}

const IDLE_TIMEOUT_SECONDS = 30;
/** Nothing here takes a body. */
const BODY_BYTES_MAX = 1024;
/** Answers being worked on; more than this is somebody asking in a circle. */
const REQUESTS_MAX = 64;
/** Owner and group: the pages have no other access control. */
const SOCKET_MODE = 0o660;

const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: "it is in use by another process",
  EADDRNOTAVAIL: "this machine has no such address",
  EACCES: "this process may not listen there",
  ENOENT: "the folder does not exist",
  EROFS: "the folder cannot be written to",
};

/**
 * Starts a server. A unix socket that a dead process left behind is replaced.
 *
 * @throws {ConfigError} naming the flag, when the address cannot be listened at
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { address, clock } = options;
  if (address.kind === "unix") await clearPath(address.path, options);
  const server = listen(options);
  if (address.kind === "unix") await chmod(address.path, SOCKET_MODE);
  return {
    address: address.kind === "unix" ? address : { ...address, port: server.port ?? address.port },
    async stop(graceMs) {
      const ended = new AbortController();
      const finished = server.stop(false).finally(() => ended.abort());
      await clock.sleep(graceMs, ended.signal).catch(() => {});
      await server.stop(true);
      await finished;
    },
  };
}

function listen({ address, handler, flag, log }: HttpServerOptions): Bun.Server<undefined> {
  const common = {
    fetch(request: Request, server: Bun.Server<undefined>): Response | Promise<Response> {
      const refusal = refuseRequest(request, address);
      if (refusal !== undefined) return refusal;
      if (server.pendingRequests > REQUESTS_MAX) {
        return new Response("too many requests at once\n", { status: 503 });
      }
      return handler.fetch(request);
    },
    error(error: unknown): Response {
      log.error("page failed", { error });
      return new Response("internal server error\n", { status: 500 });
    },
    maxRequestBodySize: BODY_BYTES_MAX,
    development: false,
  };
  try {
    return address.kind === "unix"
      ? Bun.serve({ ...common, unix: address.path })
      : Bun.serve({
          ...common,
          hostname: address.host,
          port: address.port,
          // Without this, Bun outside development mode shares the port with any other process that asks for it.
          reusePort: false,
          idleTimeout: IDLE_TIMEOUT_SECONDS,
        });
  } catch (error) {
    throw toListenError(error, { address, flag });
  }
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
  const problem =
    state === "live" ? "another process listens there" : "something else than a socket is there";
  throw toConfigError(problem, options);
}

function toListenError(
  error: unknown,
  place: Pick<HttpServerOptions, "address" | "flag">,
): ConfigError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  return toConfigError(LISTEN_PROBLEMS[code] ?? code, place, error);
}

function toConfigError(
  problem: string,
  { address, flag }: Pick<HttpServerOptions, "address" | "flag">,
  cause?: unknown,
): ConfigError {
  const message = `Cannot listen at ${formatListenAddress(address)}: ${problem}`;
  return new ConfigError([{ source: flag, message }], { cause });
}
