/**
 * Runs the simulated Xen Orchestra on loopback, faults included.
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Clock } from "../../core/clock.ts";
import { Auth, type XoUser } from "./auth.ts";
import { EventHub } from "./events.ts";
import { Faults } from "./faults.ts";
import { Front, isStream } from "./front.ts";
import type { World } from "./records.ts";
import { toUuid } from "./records.ts";
import { RequestCounter } from "./requests.ts";
import { createRoutes } from "./routes.ts";
import { XenOrchestraState, type RestartOptions } from "./state.ts";

/** What {@linkcode startXenOrchestraSimulator} takes. */
export interface XenOrchestraSimulatorOptions {
  readonly clock: Clock;
  /** @default {0, a free one} */
  readonly port?: number;
  /** The token from the start; it never expires. @default {43 characters made of a name} */
  readonly token?: string;
  /** Users that may sign in with Basic; the first one owns the token. @default {admin@admin.net with password admin} */
  readonly users?: readonly XoUser[];
  /** Objects it starts with. @default {none} */
  readonly world?: World;
  /** How often it looks for changes to report, in milliseconds. @default {200} */
  readonly eventPeriodMs?: number;
}

/** A running simulator. */
export interface XenOrchestraSimulator {
  /** `http://127.0.0.1:<port>`, without the base path of the API. */
  readonly url: string;
  readonly token: string;
  readonly state: XenOrchestraState;
  readonly faults: Faults;
  readonly requests: RequestCounter;
  /** Streams of events, and their failures. */
  readonly events: EventHub;
  /** Bytes written so far to each stream that is open. */
  readonly streamed: ReadonlyMap<IncomingMessage, number>;
  /** Requests that wait for an answer that is late or never comes. */
  readonly hanging: ReadonlySet<IncomingMessage>;
  /** Tokens and users, to read and to revoke. */
  readonly auth: Auth;
  /** Stops listening: new connections are refused, old ones are closed. */
  refuse(): Promise<void>;
  /** Listens again on the same port. */
  accept(): Promise<void>;
  /**
   * Restarts like the real one: connections are closed, one request is never answered, the next gets 401 although its
   * token is right; then the pools load.
   */
  restart(options: RestartOptions): Promise<void>;
  /** Stops for good. */
  stop(): Promise<void>;
}

const ADMIN: XoUser = {
  id: "8d5fd158-6f61-4ab5-a6ad-f208cb0b8a96",
  username: "admin@admin.net",
  password: "admin",
};

/** As long as the real server collects changes. */
const EVENT_PERIOD_MS = 200;

/**
 * Starts a simulated Xen Orchestra on 127.0.0.1. Resolves once it answers.
 *
 * Request heads of more than 16 KiB get 431 before they reach this code: the limit of the HTTP server, as on the real
 * server.
 */
export async function startXenOrchestraSimulator(
  options: XenOrchestraSimulatorOptions,
): Promise<XenOrchestraSimulator> {
  const { clock, users = [ADMIN], world = {} } = options;
  const token = options.token ?? `simulated-${toUuid("token").replaceAll("-", "")}-`;
  const state = new XenOrchestraState(clock, world);
  const auth = new Auth(clock, users);
  const owner = users[0];
  if (owner !== undefined) auth.addToken(token, owner, Infinity);
  const faults = new Faults();
  const requests = new RequestCounter();
  const stopped = new AbortController();
  const events = new EventHub({
    state,
    clock,
    signal: stopped.signal,
    periodMs: options.eventPeriodMs ?? EVENT_PERIOD_MS,
  });
  const routes = createRoutes({ state, auth, events, clock });
  const answer = (request: Request): Promise<Response> => Promise.resolve(routes.fetch(request));
  const front = new Front({ answer, faults, requests, clock, signal: stopped.signal });
  const wire = new Wire(front);
  const server = createServer((request, response) => void wire.handle(request, response));
  const port = await listen(server, options.port ?? 0);
  return {
    url: `http://127.0.0.1:${port}`,
    token,
    state,
    faults,
    requests,
    events,
    streamed: wire.streamed,
    hanging: wire.hanging,
    auth,
    refuse: () => close(server),
    accept: async () => {
      await listen(server, port);
    },
    restart: async (how) => {
      await close(server);
      state.restart(how);
      faults.set({ kind: "status", status: 401 }, { times: 1 });
      faults.set({ kind: "hang" }, { times: 1 });
      await listen(server, port);
    },
    stop: async () => {
      stopped.abort();
      await close(server);
    },
  };
}

/** Writes to sockets what the front decided. */
class Wire {
  readonly #front: Front;
  readonly hanging = new Set<IncomingMessage>();
  readonly streamed = new Map<IncomingMessage, number>();

  constructor(front: Front) {
    this.#front = front;
  }

  async handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      await this.#handle(incoming, outgoing);
    } catch {
      // Only a stop or a client that left ends here; no reader is left for an answer.
      incoming.socket.destroy();
    }
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await toRequest(incoming);
    const outcome = await this.#front.answer(request, (isWaiting) => {
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
    // A client that waited too long is gone, and does not close again.
    if (outgoing.destroyed || incoming.socket.destroyed) return await reader?.cancel();
    outgoing.once("close", () => void reader?.cancel().catch(() => {}));
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
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
  return new Request(url.href, { method, headers, body: Buffer.concat(chunks).toString() });
}

async function write(
  response: Response,
  outgoing: ServerResponse,
  { half, bodiless }: { half: boolean; bodiless: boolean },
): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
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

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
