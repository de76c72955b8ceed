/**
 * Sockets that speak to an HTTP server byte by byte, well-behaved or not.
 * @module
 */
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** Where to connect. */
export type RawPlace =
  { readonly port: number; readonly isTls?: boolean } | { readonly path: string };

/** A connection and what came over it. */
export interface RawConnection {
  readonly socket: Socket;
  /** All that was received so far. */
  readonly received: string;
  /** Status codes in order. */
  readonly statuses: readonly number[];
  send(text: string): void;
  /** Resolves once so many answers have begun. */
  untilAnswers(count: number): Promise<void>;
  /** Resolves once the other side ended or cut it. */
  readonly closed: Promise<void>;
}

/** Opens a connection, and with TLS waits for its handshake. Certificates are not checked. */
export function openRaw(place: RawPlace): Promise<RawConnection> {
  const socket =
    "path" in place
      ? connectTcp(place.path)
      : place.isTls === true
        ? connectTls({ port: place.port, host: "127.0.0.1", rejectUnauthorized: false })
        : connectTcp(place.port, "127.0.0.1");
  const isTls = "port" in place && place.isTls === true;
  let received = "";
  const waiting = new Set<() => void>();
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
    for (const check of waiting) check();
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const connection: RawConnection = {
    socket,
    closed,
    get received() {
      return received;
    },
    get statuses() {
      return [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, code]) => Number(code));
    },
    send: (text) => {
      socket.write(text);
    },
    untilAnswers: (count) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (connection.statuses.length < count) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        void closed.then(() => reject(new Error(`closed after: ${received.slice(0, 500)}`)));
        check();
      }),
  };
  return new Promise((resolve, reject) => {
    socket.once(isTls ? "secureConnect" : "connect", () => resolve(connection));
    socket.once("error", reject);
    socket.on("error", () => {});
  });
}

/** Sends this on a connection of its own and gives all that comes until the other side closes it, or answers once. */
export async function askRaw(place: RawPlace, text: string): Promise<RawConnection> {
  const connection = await openRaw(place);
  connection.send(text);
  await Promise.race([connection.untilAnswers(1).catch(() => {}), connection.closed]);
  return connection;
}
