/**
 * A simulated Xen Orchestra without sockets: requests in, outcomes out. Before the routes, it counts each request,
 * applies faults, or passes it on; the server does with a connection what it decides.
 * @module
 */
import { abortable, type Clock } from "../../core/clock.ts";
import type { Outcome } from "../loopback.ts";
import { toUuid } from "../uuid.ts";
import { Auth, type XoUser } from "./auth.ts";
import { EventHub } from "./events.ts";
import { type Fault, Faults } from "./faults.ts";
import type { World } from "./records.ts";
import { toHtml, toJson, toStatus, toUnknownRoute } from "./replies.ts";
import { RequestCounter, toRoute } from "./requests.ts";
import { createRoutes, NON_ADMIN_HEADER } from "./routes.ts";
import { RpcSession } from "./rpc/session.ts";
import { type RestartOptions, XenOrchestraState } from "./state.ts";
import type { Lag } from "./world/cache.ts";
import type { Backend } from "./writes/backend.ts";
import { Hypervisor, ServerLife } from "./writes/hypervisor.ts";
import { Tasks } from "./writes/tasks.ts";

/** What a {@linkcode XenOrchestra} needs. */
export interface XenOrchestraOptions {
  readonly clock: Clock;
  /** Ends its actions and delays. */
  readonly signal: AbortSignal;
  /** The token from the start; it never expires. @default {43 characters made of a name} */
  readonly token?: string;
  /** Users that can sign in with Basic; the first one owns the token. @default {admin@admin.net with password admin} */
  readonly users?: readonly XoUser[];
  /** Objects it starts with. @default {none} */
  readonly world?: World;
  /** How often it looks for changes to report, in milliseconds. @default {200} */
  readonly eventPeriodMs?: number;
  /** Milliseconds that each call of a hypervisor takes. @default {0} */
  readonly operationMs?: number;
  /** How late reads and events show what changed. @default {as was measured} */
  readonly lag?: Lag;
}

const ADMIN: XoUser = {
  id: "8d5fd158-6f61-4ab5-a6ad-f208cb0b8a96",
  username: "admin@admin.net",
  password: "admin",
};

/** As long as the real server collects changes. */
const EVENT_PERIOD_MS = 200;

/** A Xen Orchestra: the process `xo-server`, what it knows, and the hypervisors behind it. */
export class XenOrchestra {
  readonly token: string;
  readonly state: XenOrchestraState;
  readonly faults: Faults = new Faults();
  readonly requests: RequestCounter = new RequestCounter();
  /** Streams of events, and their failures. */
  readonly events: EventHub;
  /** Tokens and users, to read and to revoke. */
  readonly auth: Auth;
  /** Calls that xo-server makes: their journal, their failures, and moments at which something happens. */
  readonly hypervisor: Hypervisor;
  /** Whether the process lives; a test kills and starts it. */
  readonly life: ServerLife = new ServerLife();
  /** What was written to disks, by their IDs. */
  readonly contents: Map<string, Uint8Array> = new Map();
  /** What writes work with. */
  readonly backend: Backend;
  readonly #front: Front;

  constructor(options: XenOrchestraOptions) {
    const { clock, signal, users = [ADMIN], world = {}, operationMs = 0 } = options;
    this.token = options.token ?? `simulated-${toUuid("token").replaceAll("-", "")}-`;
    this.state = new XenOrchestraState(clock, world, options.lag);
    const { state, life, contents } = this;
    this.auth = new Auth(clock, users);
    const owner = users[0];
    if (owner !== undefined) this.auth.addToken(this.token, owner, Infinity);
    const periodMs = options.eventPeriodMs ?? EVENT_PERIOD_MS;
    this.events = new EventHub({ state, clock, signal, periodMs });
    this.hypervisor = new Hypervisor({ clock, state, signal, operationMs });
    const tasks = new Tasks(clock, state, life);
    const { hypervisor } = this;
    const rolledBack = new Set<string>();
    const backend = { clock, state, hypervisor, tasks, life, contents, rolledBack };
    this.backend = backend;
    const routes = createRoutes({ state, auth: this.auth, events: this.events, clock, backend });
    this.#front = new Front({
      answer: (request) => Promise.resolve(routes.fetch(request)),
      faults: this.faults,
      requests: this.requests,
      clock,
      signal,
    });
    life.watch((isUp) => {
      if (!isUp) this.events.drop();
    });
  }

  /** Decides what happens to a request. A process that is killed meanwhile, or not there, answers nothing. */
  async answer(request: Request, onWait?: (isWaiting: boolean) => void): Promise<Outcome> {
    if (!this.life.isUp) return { kind: "reset" };
    const life = this.life.signal;
    const answered = this.#front.answer(request, onWait);
    try {
      const outcome = await abortable(answered, life);
      return life.aborted ? { kind: "reset" } : outcome;
    } catch (error) {
      if (life.aborted) return { kind: "reset" };
      throw error;
    }
  }

  /** Begins a connection of JSON-RPC. */
  openSession(): RpcSession {
    return new RpcSession({ auth: this.auth, backend: this.backend });
  }

  /** Ends the process at once. What hypervisors were asked for they finish. */
  kill(): void {
    this.life.kill();
  }

  /** Starts the process again. @param how When it shows the objects. @default {at once} */
  start(how: RestartOptions = { loadedAfterMs: 0 }): void {
    this.state.restart(how);
    this.life.start();
  }
}

/** The dependencies of a {@linkcode Front}. */
interface FrontOptions {
  /** Answers a request without faults. */
  readonly answer: (request: Request) => Promise<Response>;
  readonly faults: Faults;
  readonly requests: RequestCounter;
  readonly clock: Clock;
  /** Ends delays. */
  readonly signal: AbortSignal;
}

/** The front. */
export class Front {
  readonly #options: FrontOptions;

  constructor(options: FrontOptions) {
    this.#options = options;
  }

  /**
   * Decides what happens to a request, and creates its answer if it gets one.
   *
   * @param onWait Called when an intended delay begins and ends
   * @throws the signal's reason, if it ends a delay
   */
  async answer(request: Request, onWait?: (isWaiting: boolean) => void): Promise<Outcome> {
    const { faults, requests, clock, signal } = this.#options;
    const { method } = request;
    const { pathname } = new URL(request.url);
    const route = toRoute(method, pathname);
    requests.add(route);
    const fault = faults.take(route, pathname);
    if (fault?.kind === "hang" || fault?.kind === "reset") return { kind: fault.kind };
    if (fault?.kind === "delay") {
      onWait?.(true);
      await clock.sleep(fault.ms, signal).finally(() => onWait?.(false));
    }
    // Only the front may set this header.
    request.headers.delete(NON_ADMIN_HEADER);
    if (fault?.kind === "nonAdmin") request.headers.set(NON_ADMIN_HEADER, "true");
    const replaced = fault && toFaultReply(fault, method, pathname);
    const [first, second] = fault?.kind === "repeat" ? await copyTwice(request) : [request];
    if (second !== undefined) await this.#options.answer(second);
    const response = replaced ?? (await this.#options.answer(first));
    if (fault?.kind === "resetAfter") return { kind: "reset" };
    if (fault?.kind === "hangAfter") return { kind: "hang" };
    return { kind: "reply", response, isHalf: fault?.kind === "halfBody" };
  }
}

/** A body can be read only once. */
async function copyTwice(request: Request): Promise<readonly [Request, Request]> {
  const { url, method, headers } = request;
  const body = await request.arrayBuffer();
  const init = { method, headers, ...(body.byteLength > 0 && { body }) };
  return [new Request(url, init), new Request(url, init)];
}

function toFaultReply(fault: Fault, method: string, path: string): Response | undefined {
  switch (fault.kind) {
    case "status":
      return toStatus(fault.status, fault.retryAfterSeconds);
    case "html":
      if (fault.status === 404) return toUnknownRoute(method, path);
      return toHtml(fault.status, "Sign in", "Please sign in to continue");
    case "json":
      return toJson(fault.body, fault.status ?? 200);
    case "redirect":
      return new Response(undefined, { status: 302, headers: { location: fault.location } });
    default:
      return undefined;
  }
}
