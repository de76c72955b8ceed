/**
 * Counts the bytes between two programs: a relay in front of a server.
 * @module
 */
import { connect, createServer, type Socket } from "node:net";

/** A running relay. */
export interface Meter {
  /** Where to connect instead, `http://127.0.0.1:12345`. */
  readonly url: string;
  /** Bytes so far, both ways, heads of requests and replies included. */
  readonly bytes: number;
}

/** Stands before a server on 127.0.0.1. Ends with the process. */
export async function startMeter(url: string): Promise<Meter> {
  const port = Number(new URL(url).port);
  const open = new Set<Socket>();
  let closed = 0;
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    open.add(client);
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    client.pipe(upstream);
    upstream.pipe(client);
    // When one side closes the connection, the relay closes the other side.
    const cut = (): void => {
      client.destroy();
      upstream.destroy();
    };
    client.once("error", cut);
    upstream.once("error", cut);
    upstream.once("close", cut);
    client.once("close", () => {
      closed += countBytes(client);
      open.delete(client);
      upstream.destroy();
    });
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the relay has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    get bytes(): number {
      return closed + [...open].reduce((sum, socket) => sum + countBytes(socket), 0);
    },
  };
}

function countBytes(socket: Socket): number {
  return socket.bytesRead + socket.bytesWritten;
}
