/**
 * Runs the simulated Xen Orchestra on loopback, faults included.
 * @module
 */
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../core/clock.ts";
import { Loopback } from "../loopback.ts";
import { toUuid } from "../uuid.ts";
import { Auth, type XoUser } from "./auth.ts";
import { EventHub } from "./events.ts";
import { Faults } from "./faults.ts";
import { Front } from "./front.ts";
import type { World } from "./records.ts";
import { RequestCounter } from "./requests.ts";
import { createRoutes } from "./routes.ts";
import { XenOrchestraState, type RestartOptions } from "./state.ts";

/** Options of {@linkcode startXenOrchestraSimulator}. */
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
  const loopback = new Loopback((request, onWait) => front.answer(request, onWait));
  await loopback.listen(options.port);
  return {
    url: loopback.url,
    token,
    state,
    faults,
    requests,
    events,
    streamed: loopback.streamed,
    hanging: loopback.hanging,
    auth,
    refuse: () => loopback.close(),
    accept: () => loopback.listen(),
    restart: async (how) => {
      await loopback.close();
      state.restart(how);
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
