/**
 * How Bun connects: sessions, TLS, proxies, and what its errors mean. Only repeated_headers.ts connects in another way.
 * @module
 */
import {
  findErrorCode,
  formatHostPort,
  isReset,
  toConnectionProblem,
} from "../../core/net/connection_problem.ts";
import { isLoopbackHost } from "../../core/net/ip.ts";
import { explainDates, TLS_CIPHERS } from "../../core/net/tls.ts";
import type { Credential, TlsSettings } from "../credentials/credentials.ts";
import { KubeError } from "./errors.ts";

/** One HTTP request below the server's address. */
export interface TransportRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
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
  const { host, hostname } = new URL(server);
  let current: { version: number; session: Bun.FetchSession } | undefined;
  let generation = 0;

  const findSession = ({ tls, proxy, version }: Credential): Bun.FetchSession => {
    if (current?.version === version) return current.session;
    const session = new Bun.FetchSession({
      tls: toBunTls(tls),
      // Uses the proxy of the kubeconfig for every server, and the proxy of the environment for none on this machine.
      ...(proxy !== undefined && { proxy: { url: proxy, respectNoProxy: false } }),
      ...(proxy === undefined && isLoopbackHost(hostname) && { proxy: false as const }),
    });
    // Running requests finish on the old one.
    current?.session.close();
    current = { version, session };
    return session;
  };

  return {
    host,
    get generation(): number {
      return generation;
    },
    async send({ method, path, headers, body }, credential, signal) {
      signal.throwIfAborted();
      const { repeated, tls, proxy } = credential;
      try {
        if (repeated !== undefined) {
          if (proxy !== undefined) throw new KubeError("unavailable", NO_PROXY);
          const { sendRepeated } = await import("./repeated_headers.ts");
          const all = { ...headers, ...credential.headers, ...repeated };
          return await sendRepeated(
            `${server}${path}`,
            { method, headers: all, body, tls },
            signal,
          );
        }
        return await findSession(credential).fetch(`${server}${path}`, {
          method,
          headers: { ...headers, ...credential.headers },
          ...(body !== undefined && { body }),
          signal,
          redirect: "manual",
          // Without this, Bun ends a connection after six silent minutes. Every request has its own deadline.
          timeout: false,
        });
      } catch (error) {
        const cause = await explainDates(error, server, signal, credential.tls.serverName);
        throw toTransportError(cause, signal, describeWay(server, credential.proxy));
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
 * Explains a failed request or a broken body: `signal.reason` if the signal aborted, else a {@linkcode KubeError} of
 * kind `unavailable` in our words.
 *
 * @param way The unreachable server and its proxy; absent if the answer ended early
 */
export function toTransportError(error: unknown, signal: AbortSignal, way?: string): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof KubeError) return error;
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

function toBunTls(tls: TlsSettings): NonNullable<Bun.FetchSessionInit["tls"]> {
  const { ca, cert, key, serverName, insecure = false } = tls;
  return {
    rejectUnauthorized: !insecure,
    ciphers: TLS_CIPHERS,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && key !== undefined && { cert, key }),
    ...(serverName !== undefined && { serverName }),
  };
}
