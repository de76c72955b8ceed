/**
 * Remembers the Services for which this process makes a load balancer, until nothing of it is left.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type {
  LoadBalancerIngress,
  LoadBalancerProblem,
} from "../../../cloud/capabilities/load_balancers.ts";
import type { Clock } from "../../../core/clock.ts";
import { type Key, toKey } from "../../../kube/cache/store.ts";
import type { Service } from "../../../kube/kinds/service.ts";
import type { NodeSet } from "../spec/node_set.ts";
import { listAsked } from "../spec/inputs.ts";
import { RECORD } from "../words.ts";

/**
 * How the load balancer of a Service stands.
 *
 * - `ready`: as the Service asks
 * - `working`: Landfall changes it, or waits for its turn
 * - `waiting`: something prevents it, see its problems
 * - `failing`: the last attempt failed
 */
export type ServiceState = "ready" | "working" | "waiting" | "failing";

/** What a load balancer had when it was last ready. */
interface Ensured {
  /** The fields of the Service that decide about it. */
  readonly inputs: readonly unknown[];
  readonly nodes: NodeSet;
}

/** A Service that has or gets a load balancer. */
export interface Managed {
  /** Its newest state; the last one if it is gone. */
  service: Service;
  state: ServiceState;
  /** When it was last ready, or first seen, in monotonic milliseconds. */
  readyAtMs: number;
  /** Since when something has prevented it, in monotonic milliseconds. */
  waitsSinceMs?: number;
  /** When it was last reconciled without a failure, in milliseconds since the epoch. */
  succeededAt?: number;
  /** What the work on it waits for. */
  waitsFor?: string;
  /** Why the last attempt failed, in one line. */
  failure?: string;
  /** The status that the last plan asked for. Absent: it must not change. */
  ingress?: readonly LoadBalancerIngress[];
  ensured?: Ensured;
  /** The Services that have a problem with this one. */
  others?: ReadonlySet<Key>;
  /** Whether this process began to change it. */
  isStarted?: true;
  /** How often another program wrote a load balancer of its own into the status since its user asked for this. */
  foreign?: { readonly asked: readonly unknown[]; readonly count: number };
  /** How often other programs changed its status since then, in monotonic milliseconds. */
  drift?: { readonly sinceMs: number; readonly count: number };
}

/** A program that writes its own load balancer so often into the status has it. */
const FOREIGN_MAX = 2;
/** How often a status is written again at once, in the time after the first change of another program. */
const RESTORES_MAX = 5;
const RESTORES_MS = 600_000;

/** The managed Services of a process. One for each name: a new Service of the same name waits for the old one. */
export class ManagedServices {
  readonly #clock: Clock;
  readonly #services = new Map<Key, Managed>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(key: Key): Managed | undefined {
    return this.#services.get(key);
  }

  entries(): Iterable<[Key, Managed]> {
    return this.#services.entries();
  }

  /** The state of each. */
  *listStates(): Iterable<ServiceState> {
    for (const { state } of this.#services.values()) yield state;
  }

  /** The keys of those that something prevents. */
  *listWaiting(): Iterable<Key> {
    for (const [key, { state }] of this.#services) if (state === "waiting") yield key;
  }

  /** How long something has prevented a Service, in milliseconds; 0 if nothing did at the last attempt. */
  findWaitedMs(key: Key): number {
    const { waitsSinceMs } = this.#services.get(key) ?? {};
    return waitsSinceMs === undefined ? 0 : this.#clock.monotonic() - waitsSinceMs;
  }

  /** How long the one that has waited the longest has not been ready, in milliseconds; 0 if all are. */
  readOldestPendingMs(): number {
    const nowMs = this.#clock.monotonic();
    let oldestMs = 0;
    for (const { state, readyAtMs } of this.#services.values()) {
      if (state !== "ready") oldestMs = Math.max(oldestMs, nowMs - readyAtMs);
    }
    return oldestMs;
  }

  /** Notes the newest state of a Service that gets a load balancer, before anything is made for it. */
  note(service: Service): Managed {
    const key = toKey(service);
    const known = this.#services.get(key);
    if (known !== undefined) {
      known.service = service;
      return known;
    }
    const readyAtMs = this.#clock.monotonic();
    const managed: Managed = { service, state: "working", readyAtMs };
    this.#services.set(key, managed);
    return managed;
  }

  /** Notes that this process begins to change the load balancer of a Service, if it is managed. */
  noteStart(key: Key): void {
    const managed = this.#services.get(key);
    if (managed !== undefined) managed.isStarted = true;
  }

  /** Sets the state of a Service, if it is managed. */
  setState(
    key: Key,
    state: ServiceState,
    reason: Pick<Managed, "failure" | "waitsFor"> = {},
  ): void {
    const managed = this.#services.get(key);
    if (managed === undefined) return;
    managed.state = state;
    delete managed.failure;
    delete managed.waitsFor;
    Object.assign(managed, reason);
    if (state === "ready") managed.readyAtMs = this.#clock.monotonic();
    if (state !== "waiting") delete managed.waitsSinceMs;
    else managed.waitsSinceMs ??= this.#clock.monotonic();
  }

  /**
   * Notes which Services have a problem with this one.
   *
   * @returns The keys of those that are new, and of those that have none any more
   */
  setOthers(key: Key, problems: readonly LoadBalancerProblem[]): Iterable<Key> {
    const managed = this.#services.get(key);
    if (managed === undefined) return [];
    const others = problems.flatMap((one) => one.others ?? []);
    const keys = new Set(others.map(({ namespace, name }): Key => `${namespace}/${name}`));
    const before = managed.others ?? new Set();
    managed.others = keys;
    return keys.symmetricDifference(before);
  }

  /** Notes that a Service was reconciled without a failure. */
  noteSuccess(key: Key): void {
    const managed = this.#services.get(key);
    if (managed !== undefined) managed.succeededAt = this.#clock.now();
  }

  /**
   * Notes that another program or a user wrote a load balancer of its own into the status of a Service.
   *
   * @returns Whether to look at it: to write it again, or to say that this one writes no more
   */
  noteForeign(service: Service): boolean {
    const managed = this.#services.get(toKey(service));
    if (managed === undefined) return true;
    const asked = listAsked(service);
    const before = managed.foreign;
    const count = before && isDeepStrictEqual(before.asked, asked) ? before.count : 0;
    managed.foreign = { asked, count: count + 1 };
    return count < FOREIGN_MAX;
  }

  /** Whether another program has the status of a Service, until the program empties it or the user asks for more. */
  isYielded(service: Service): boolean {
    if ((service.status?.loadBalancer?.ingress ?? []).length === 0) return false;
    const { asked, count = 0 } = this.#services.get(toKey(service))?.foreign ?? {};
    return count >= FOREIGN_MAX && isDeepStrictEqual(asked, listAsked(service));
  }

  /**
   * Notes that another program or a user changed the status of a Service. Two programs that both want to be right must
   * not write in turns for ever.
   *
   * @returns Whether to write it again now; `tooOften` the first time that it must wait for a full pass, then `wait`
   */
  noteDrift(key: Key): "restore" | "tooOften" | "wait" {
    const managed = this.#services.get(key);
    if (managed === undefined) return "restore";
    const nowMs = this.#clock.monotonic();
    const { sinceMs, count } = managed.drift ?? { sinceMs: nowMs, count: 0 };
    const isNew = nowMs - sinceMs >= RESTORES_MS;
    managed.drift = isNew ? { sinceMs: nowMs, count: 1 } : { sinceMs, count: count + 1 };
    if (managed.drift.count <= RESTORES_MAX) return "restore";
    return managed.drift.count === RESTORES_MAX + 1 ? "tooOften" : "wait";
  }

  /** Keeps the record of a Service that Kubernetes does not have any more. */
  setRecord(key: Key, text: string | undefined): void {
    const managed = this.#services.get(key);
    if (managed === undefined) return;
    const { service } = managed;
    const { [RECORD]: _old, ...others } = service.metadata.annotations ?? {};
    const annotations = { ...others, ...(text !== undefined && { [RECORD]: text }) };
    managed.service = { ...service, metadata: { ...service.metadata, annotations } };
  }

  /** Nothing of its load balancer is left. */
  forget(key: Key): void {
    this.#services.delete(key);
  }
}
