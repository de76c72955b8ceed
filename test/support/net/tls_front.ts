/**
 * TLS in front of a server on loopback, behind one address whose certificate a test may change.
 * @module
 */
import { connect, type Socket } from "node:net";
import { createServer, type Server } from "node:tls";
import { startTcpProxy } from "./tcp_proxy.ts";
import { readTls } from "./tls_fixtures.ts";

/** Certificates of the fixtures: `server` is signed by `ca.crt`, `other_server` by `other_ca.crt`. */
type Face = "server" | "other_server";

/** A running front. */
export interface TlsFront {
  /** `https://127.0.0.1:<port>` */
  readonly url: string;
  /** Shows this certificate to new connections, and resets those that are open. */
  show(face: Face): void;
  stop(): Promise<void>;
}

/** Starts a front that shows the certificate `server`. @param targetPort Port of 127.0.0.1 behind it */
export async function startTlsFront(targetPort: number): Promise<TlsFront> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket, other: () => Socket | undefined): void => {
    sockets.add(socket);
    socket.on("error", () => other()?.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      other()?.destroy();
    });
  };
  const listen = async (face: Face): Promise<[Server, number]> => {
    const tls = { cert: readTls(`${face}.crt`), key: readTls(`${face}.key`) };
    const server = createServer(tls, (client) => {
      const upstream = connect(targetPort, "127.0.0.1");
      keep(client, () => upstream);
      keep(upstream, () => client);
      client.pipe(upstream);
      upstream.pipe(client);
    });
    // A client that does not believe hangs up.
    server.on("tlsClientError", () => {});
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("Cannot find own port");
    return [server, address.port];
  };
  const [[first, firstPort], [other, otherPort]] = [
    await listen("server"),
    await listen("other_server"),
  ];
  const proxy = await startTcpProxy(firstPort);
  return {
    url: `https://127.0.0.1:${proxy.port}`,
    show: (face) => {
      proxy.aim(face === "server" ? firstPort : otherPort);
      proxy.cut();
    },
    stop: async () => {
      await proxy.stop();
      for (const socket of sockets) socket.destroy();
      for (const server of [first, other]) server.close();
    },
  };
}
