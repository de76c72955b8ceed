/**
 * A simulated Xen Orchestra without sockets: requests in, outcomes out.
 * @module
 */
import { abortable, type Clock } from "../../core/clock.ts";
import type { Outcome } from "../loopback.ts";
import { toUuid } from "../uuid.ts";
import { Auth, type XoUser } from "./auth.ts";
import type { Lag } from "./world/cache.ts";
import { EventHub } from "./events.ts";
import { Faults } from "./faults.ts";
import { Front } from "./front.ts";
import type { World } from "./records.ts";
import { RequestCounter } from "./requests.ts";
import { createRoutes } from "./routes.ts";
import { RpcSession } from "./rpc/session.ts";
import { type RestartOptions, XenOrchestraState } from "./state.ts";
import type { Backend } from "./writes/backend.ts";
import { Hypervisor } from "./writes/hypervisor.ts";
import { ServerLife } from "./writes/life.ts";
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
