/**
 * The sockets of a simulated server on 127.0.0.1: reads requests, and answers, delays or resets each as the server
 * decides.
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type Converse, openWebSocket } from "./web_socket.ts";

/** What the sockets do with a request. */
export type Outcome =
  /** Sends an answer. With `isHalf`, sends the head and half of the body, then ends the connection. */
  | { readonly kind: "reply"; readonly response: Response; readonly isHalf: boolean }
  /** The request is never answered; the connection stays open. */
  | { readonly kind: "hang" }
  /** The connection is reset without an answer. */
  | { readonly kind: "reset" };

/**
 * Decides what happens to a request.
 *
 * @param onWait Call it when an intended delay begins and ends
 */
type Decide = (request: Request, onWait: (isWaiting: boolean) => void) => Promise<Outcome>;

/** An HTTP server on loopback, which keeps its port while it refuses connections. */
export class Loopback {
  readonly #decide: Decide;
  readonly #server: Server;
  readonly #upgraded = new Set<Duplex>();
  #port = 0;
  /** Requests whose answer is late or never comes. */
  readonly hanging: Set<IncomingMessage> = new Set();
  /** Bytes written so far to each stream that is open. */
  readonly streamed: Map<IncomingMessage, number> = new Map();

  /** @param upgrade Begins a WebSocket at a path; without one, or if it returns `undefined`, there is no answer */
  constructor(decide: Decide, upgrade: (path: string) => Converse | undefined = () => undefined) {
    this.#decide = decide;
    this.#server = createServer((request, response) => void this.#try(request, response));
    this.#server.on("upgrade", (request, socket) => {
      this.#upgraded.add(socket);
      socket.once("close", () => this.#upgraded.delete(socket));
      const converse = upgrade(request.url ?? "");
      if (converse !== undefined) openWebSocket(request, socket, converse);
    });
  }

  /** `http://127.0.0.1:<port>`. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /**
   * Accepts connections.
   *
   * @param port The port. @default {the same as before; at first a free one}
   */
  async listen(port: number = this.#port): Promise<void> {
    this.#port = await listen(this.#server, port);
  }

  /** Closes connections and refuses new ones. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
      for (const socket of this.#upgraded) socket.destroy();
    });
  }

  async #try(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      await this.#handle(incoming, outgoing);
    } catch {
      // This happens only after a stop, or if the client closed the connection, so no client waits for an answer.
      incoming.socket.destroy();
    }
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await toRequest(incoming);
    const outcome = await this.#decide(request, (isWaiting) => {
      if (isWaiting) this.hanging.add(incoming);
      else this.hanging.delete(incoming);
    });
    if (outcome.kind === "hang") {
      this.hanging.add(incoming);
      outgoing.once("close", () => this.hanging.delete(incoming));
      return;
    }
    if (outcome.kind === "reset") {
      incoming.socket.destroy();
      return;
    }
    const { response, isHalf } = outcome;
    if (isStream(response)) return await this.#stream(response, incoming, outgoing);
    await write(response, outgoing, { half: isHalf, bodiless: incoming.method === "HEAD" });
  }

  /** Writes pieces as they arrive, until either side ends. */
  async #stream(
    response: Response,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void> {
    const reader = response.body?.getReader();
    // A client that waited too long has closed the connection already.
    if (outgoing.destroyed || incoming.socket.destroyed) return await reader?.cancel();
    outgoing.once("close", () => void reader?.cancel().catch(() => {}));
    outgoing.sendDate = false;
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.flushHeaders();
    this.streamed.set(incoming, 0);
    try {
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true };
        if (done || value === undefined) break;
        this.streamed.set(incoming, (this.streamed.get(incoming) ?? 0) + value.length);
        if (!outgoing.write(value)) await untilDrained(outgoing);
      }
      outgoing.end();
    } finally {
      this.streamed.delete(incoming);
    }
  }
}

/** Whether an answer continues until one side closes it. */
function isStream({ headers }: Response): boolean {
  return headers.get("content-type") === "text/event-stream";
}

function untilDrained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      outgoing.off("drain", end).off("close", end);
      resolve();
    };
    outgoing.on("drain", end).on("close", end);
  });
}

async function toRequest(incoming: IncomingMessage): Promise<Request> {
  const url = new URL(incoming.url ?? "/", "http://127.0.0.1");
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  const method = incoming.method ?? "GET";
  if (method === "GET" || method === "HEAD") return new Request(url.href, { method, headers });
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return new Request(url.href, { method, headers, body: new Blob(chunks) });
}

async function write(
  response: Response,
  outgoing: ServerResponse,
  { half, bodiless }: { half: boolean; bodiless: boolean },
): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
  // Whether an answer has a date is the simulated server's business.
  outgoing.sendDate = false;
  for (const [name, value] of response.headers) outgoing.setHeader(name, value);
  outgoing.statusCode = response.status;
  if (!half) {
    outgoing.end(bodiless ? undefined : body);
    return;
  }
  outgoing.write(body.subarray(0, Math.floor(body.length / 2)));
  setImmediate(() => outgoing.socket?.destroy());
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}
