/**
 * Xen Orchestra in memory: what is true in it, and what it says.
 * @module
 */
import { Auth } from "../../../lib/simulator/xenorchestra/auth.ts";
import { EventHub } from "../../../lib/simulator/xenorchestra/events.ts";
import { Faults } from "../../../lib/simulator/xenorchestra/faults.ts";
import type { Outcome } from "../../../lib/simulator/loopback.ts";
import { Front } from "../../../lib/simulator/xenorchestra/front.ts";
import { toHost, toNetwork, toPool } from "../../../lib/simulator/xenorchestra/records.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import { RequestCounter } from "../../../lib/simulator/xenorchestra/requests.ts";
import { createRoutes } from "../../../lib/simulator/xenorchestra/routes.ts";
import type { XenOrchestraState } from "../../../lib/simulator/xenorchestra/state.ts";
import type { Timeline } from "../timeline.ts";
import { StateWithCopies } from "./copies.ts";

/** A pool and its hosts, the master first. */
export interface PoolPlace {
  readonly id: string;
  readonly hostIds: readonly string[];
}

/** Told of each answer that the cloud itself gave, right or wrong. */
export type OnAnswer = (asker: string, request: Request, response: Response) => void;

export const TOKEN = "simulated-token-of-forty-three-characters-00";
/** How often the cloud looks for changes to tell of: rarely, for looking is dear. */
const EVENT_PERIOD_MS = 5_000;
const HOSTS_PER_POOL = 2;

/** Xen Orchestra. */
export class Cloud {
  readonly state: StateWithCopies;
  readonly faults: Faults = new Faults();
  readonly events: EventHub;
  /** Those that it is connected to, or tries to be. */
  pools: readonly PoolPlace[];
  /** Whether the connection to a pool was removed. */
  hasForgotten = false;
  /** Whether the user may read the connections to pools. */
  hasConnections = true;
  readonly #front: Front;
  readonly #stopped = new AbortController();
  /** Told of each answer. */
  onAnswer: OnAnswer = () => undefined;

  constructor(clock: Timeline, poolCount: number) {
    const state = new StateWithCopies(clock);
    const user = { id: toUuid("user"), username: "admin", password: "admin" };
    const auth = new Auth(clock, [user]);
    auth.addToken(TOKEN, user, Infinity);
    const { signal } = this.#stopped;
    this.state = state;
    this.events = new EventHub({ state, clock, signal, periodMs: EVENT_PERIOD_MS });
    const routes = createRoutes({ state, auth, events: this.events, clock });
    this.#front = new Front({
      answer: (request) => Promise.resolve(routes.fetch(request)),
      faults: this.faults,
      requests: new RequestCounter(),
      clock,
      signal,
    });
    this.pools = Array.from({ length: poolCount }, (_, at) => addPool(state, `pool-${at + 1}`));
  }

  /** Answers a request of a process. */
  async answer(asker: string, request: Request): Promise<Outcome> {
    const outcome = await this.#front.answer(request);
    if (outcome.kind === "reply") this.onAnswer(asker, request, outcome.response);
    return outcome;
  }

  /** Takes the right to read the connections to pools from the user, until faults end. */
  hideConnections(): void {
    this.hasConnections = false;
    this.faults.set({ kind: "json", body: [] }, { route: "GET /servers" });
  }

  /** Ends what is wrong with answers, rights included, and with what is shown. */
  endFaults(): void {
    this.state.removeCopies();
    this.hasConnections = true;
    this.faults.clear();
  }

  /** Removes the connection to a pool for good. */
  forgetPool(poolId: string): void {
    this.state.forgetPool(poolId);
    this.pools = this.pools.filter(({ id }) => id !== poolId);
    this.hasForgotten = true;
  }

  /** Ends everything that still goes on in it. */
  stop(): void {
    this.#stopped.abort(new Error("the simulation is over"));
  }
}

function addPool(state: XenOrchestraState, name: string): PoolPlace {
  const hostIds = Array.from({ length: HOSTS_PER_POOL }, (_, at) => toUuid(`host/${name}-${at}`));
  const id = toUuid(`pool/${name}`);
  const [masterId = ""] = hostIds;
  state.addPool(toPool({ name, id, masterId }));
  hostIds.forEach((hostId, at) => {
    const address = `10.0.0.${at + 1}`;
    state.addHost(toHost({ name: `${name}-host-${at + 1}`, id: hostId, poolId: id, address }));
  });
  state.put("networks", toNetwork("eth0", id));
  return { id, hostIds };
}
