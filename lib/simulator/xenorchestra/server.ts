/**
 * Runs the simulated Xen Orchestra on loopback, faults included.
 * @module
 */
import type { IncomingMessage } from "node:http";
import { Loopback } from "../loopback.ts";
import type { Auth } from "./auth.ts";
import type { EventHub } from "./events.ts";
import type { Faults } from "./faults.ts";
import type { RequestCounter } from "./requests.ts";
import type { RestartOptions, XenOrchestraState } from "./state.ts";
import { XenOrchestra, type XenOrchestraOptions } from "./xenorchestra.ts";

/** Options of {@linkcode startXenOrchestraSimulator}. */
export interface XenOrchestraSimulatorOptions extends Omit<XenOrchestraOptions, "signal"> {
  /** @default {0, a free one} */
  readonly port?: number;
}

/** A running simulator. */
export interface XenOrchestraSimulator {
  /** `http://127.0.0.1:<port>`, without the base path of the API. */
  readonly url: string;
  readonly token: string;
  /** What is behind the sockets. */
  readonly cloud: XenOrchestra;
  readonly state: XenOrchestraState;
  readonly faults: Faults;
  readonly requests: RequestCounter;
  /** Streams of events, and their failures. */
  readonly events: EventHub;
  /** Bytes written so far to each stream that is open. */
  readonly streamed: ReadonlyMap<IncomingMessage, number>;
  /** Requests whose answer is late or never comes. */
  readonly hanging: ReadonlySet<IncomingMessage>;
  /** Tokens and users, to read and to revoke. */
  readonly auth: Auth;
  /** Stops listening: new connections are refused, old ones are closed. */
  refuse(): Promise<void>;
  /** Listens again on the same port. */
  accept(): Promise<void>;
  /**
   * Restarts like the real server: it closes connections, never answers one request, and answers 401 to the next
   * although its token is right. Then the pools load.
   */
  restart(options: RestartOptions): Promise<void>;
  /** Stops for good. */
  stop(): Promise<void>;
}

/**
 * Starts a simulated Xen Orchestra on 127.0.0.1. Resolves once it answers.
 *
 * Request heads of more than 16 KiB get 431 before they reach this code: the limit of the HTTP server, as on the real
 * server.
 */
export async function startXenOrchestraSimulator(
  options: XenOrchestraSimulatorOptions,
): Promise<XenOrchestraSimulator> {
  const stopped = new AbortController();
  const cloud = new XenOrchestra({ ...options, signal: stopped.signal });
  const { state, faults, token } = cloud;
  const loopback = new Loopback(
    (request, onWait) => cloud.answer(request, onWait),
    // Another path, even without the slash, gets no answer, as on the real server.
    (path) => {
      const session = path === "/api/" ? cloud.openSession() : undefined;
      return session && ((message) => session.answer(message));
    },
  );
  await loopback.listen(options.port);
  return {
    url: loopback.url,
    token,
    cloud,
    state,
    faults,
    requests: cloud.requests,
    events: cloud.events,
    streamed: loopback.streamed,
    hanging: loopback.hanging,
    auth: cloud.auth,
    refuse: () => loopback.close(),
    accept: () => loopback.listen(),
    restart: async (how) => {
      cloud.kill();
      await loopback.close();
      cloud.start(how);
      faults.set({ kind: "status", status: 401 }, { times: 1 });
      faults.set({ kind: "hang" }, { times: 1 });
      await loopback.listen();
    },
    stop: async () => {
      stopped.abort();
      await loopback.close();
    },
  };
}
