/**
 * A server between a client and another server that stops in the middle of an answer and keeps the connection open.
 * @module
 */
import { readFileSync } from "node:fs";
import { createServer as createHttp, request as requestHttp } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer as createHttps, request as requestHttps } from "node:https";
import { join } from "node:path";

/** Which answers stop, and where. */
interface Stall {
  readonly method: string;
  /** Fits path and query. */
  readonly path: RegExp;
  /** Bytes of the body that pass. */
  readonly bytes: number;
}

/** A running front. */
export interface StallingFront {
  readonly url: string;
  /** How many answers were stopped so far. */
  readonly stalled: number;
  /** Stops the next answer that fits and has a body, and no other. */
  stallNext(stall: Stall): void;
  stop(): Promise<void>;
}

/**
 * Starts a front on 127.0.0.1.
 *
 * @param target Address of the server behind it
 * @param folder Of a cluster, whose certificates are used; absent for plain HTTP
 */
export async function startStallingFront(target: string, folder?: string): Promise<StallingFront> {
  let next: Stall | undefined;
  let stalled = 0;
  const tls = folder === undefined ? undefined : readTls(folder);
  const request = tls === undefined ? requestHttp : requestHttps;
  const answer = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { method = "", url = "", headers } = incoming;
    const upstream = request(new URL(url, target), { method, headers, ...tls, agent: false });
    upstream.on("response", (reply) => {
      // Nothing can stop in the answer to a list that is unchanged: it has no body.
      const isChosen = next?.method === method && next.path.test(url) && reply.statusCode !== 304;
      let left = isChosen ? (next?.bytes ?? 0) : Infinity;
      if (isChosen) {
        next = undefined;
        stalled += 1;
      }
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      outgoing.flushHeaders();
      reply.on("data", (chunk: Buffer) => {
        if (left > 0) outgoing.write(chunk.subarray(0, Math.min(left, chunk.length)));
        left -= chunk.length;
      });
      reply.on("end", () => {
        if (!isChosen) outgoing.end();
      });
    });
    upstream.on("error", () => outgoing.destroy());
    outgoing.on("close", () => upstream.destroy());
    incoming.pipe(upstream);
  };
  const server = tls === undefined ? createHttp(answer) : createHttps(tls, answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot find own port");
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${address.port}`,
    get stalled(): number {
      return stalled;
    },
    stallNext: (stall) => {
      next = stall;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** What the API server shows itself, and whom it is signed by. */
function readTls(folder: string): {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
} {
  const read = (name: string): Buffer => readFileSync(join(folder, name));
  return { ca: read("landfall-test-ca.crt"), cert: read("serving.crt"), key: read("serving.key") };
}
