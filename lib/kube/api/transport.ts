/**
 * Connections to the API server: when to open new ones, and what their failures mean.
 * @module
 */
import {
  BodyError,
  type HttpRequest,
  isSingle,
  openSession,
  sendHttp,
} from "../../core/http/request.ts";
import {
  findErrorCode,
  formatHostPort,
  isReset,
  toConnectionProblem,
} from "../../core/http/connection.ts";
import type { Credential } from "../credentials/credentials.ts";
import { KubeError } from "./errors.ts";

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
