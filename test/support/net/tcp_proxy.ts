/**
 * A hop on loopback between a client and a server, to cut connections or let them go silent.
 * @module
 */
import { connect, createServer, type Socket } from "node:net";

/** A running proxy. */
export interface TcpProxy {
  readonly port: number;
  /** How many connections were accepted so far. */
  readonly accepted: number;
  /** Resets all connections. New ones are accepted. */
  cut(): void;
  /** Passes no byte any more on the connections there are, and keeps them open. New ones work. */
  silence(): void;
  /** Passes what the silent connections have held back, and goes on. */
  resume(): void;
  /** Sends new connections to another port of 127.0.0.1; those that are open stay where they are. */
  aim(port: number): void;
  stop(): Promise<void>;
}

/** How a proxy differs from a plain one. */
interface TcpProxyOptions {
  /** Where it listens. @default {"127.0.0.1"} */
  readonly host?: string;
  /** How much later everything arrives, in either direction, in milliseconds. @default {0} */
  readonly delayMs?: number;
}

/** Starts a proxy on a free port to a port of 127.0.0.1. */
export async function startTcpProxy(
  targetPort: number,
  { host = "127.0.0.1", delayMs = 0 }: TcpProxyOptions = {},
): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let accepted = 0;
  let target = targetPort;
  const server = createServer((client) => {
    accepted += 1;
    const upstream = connect(target, "127.0.0.1");
    const pair = [client, upstream] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [upstream, client]] as const) {
      from.setNoDelay(true);
      const later = (act: () => void): void => {
        if (delayMs === 0) act();
        else setTimeout(act, delayMs);
      };
      from.on("data", (chunk) => {
        later(() => {
          if (!to.destroyed && !to.write(chunk)) from.pause();
        });
      });
      to.on("drain", () => from.resume());
      from.on("end", () => later(() => to.end()));
      from.on("error", () => to.destroy());
      from.on("close", () => {
        to.destroy();
        pairs.delete(pair);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot find own port");
  const each = (act: (socket: Socket) => void): void => {
    for (const pair of pairs) for (const socket of pair) act(socket);
  };
  return {
    port: address.port,
    get accepted(): number {
      return accepted;
    },
    cut: () => each((socket) => socket.resetAndDestroy()),
    silence: () => each((socket) => socket.pause()),
    resume: () => each((socket) => socket.resume()),
    aim: (to) => {
      target = to;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        each((socket) => socket.destroy());
      }),
  };
}
