/**
 * Remembers the Services for which this process makes a load balancer, until nothing of it is left, with their tasks.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type {
  LoadBalancerClaim,
  LoadBalancerHolder,
  LoadBalancerIngress,
  LoadBalancerProblem,
  LoadBalancerRecord,
} from "../../cloud/capabilities/load_balancers.ts";
import type { Clock } from "../../core/clock.ts";
import { type Key, type StoreReader, toKey } from "../../kube/cache/store.ts";
import { hasCloudLoadBalancer, type Service } from "../../kube/kinds/service.ts";
import type { NodeSet } from "./node_set.ts";
import {
  findNeed,
  listAsked,
  listInputs,
  mayHold,
  type ServedClasses,
  type ServiceNeed,
  toClaim,
} from "./spec.ts";
import { RECORD } from "./words.ts";
import type { ServiceWriter } from "./service_writer.ts";

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
  /** Says what the work on it waits for. */
  waitsFor?: () => string;
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

/** Longest record, in bytes. */
const RECORD_BYTES_MAX = 1_024;

/**
 * The record of one Service. If Kubernetes does not have this Service any more, the record is in memory only.
 *
 * @param uid Of the Service; another one of the same name has another record
 */
export function createRecord(
  key: Key,
  uid: string | undefined,
  options: {
    readonly services: StoreReader<Service>;
    readonly managed: ManagedServices;
    readonly writer: Pick<ServiceWriter, "setRecord">;
  },
): LoadBalancerRecord {
  const { services, managed, writer } = options;
  return {
    async save(text, signal) {
      const bytes = Buffer.byteLength(text ?? "");
      if (bytes > RECORD_BYTES_MAX) {
        throw new RangeError(
          `Cannot keep a record of ${bytes} bytes: the limit is ${RECORD_BYTES_MAX} bytes`,
        );
      }
      const service = services.get(key);
      if (service === undefined || service.metadata.uid !== uid) {
        return managed.setRecord(key, text);
      }
      if (service.metadata.annotations?.[RECORD] === text) return;
      await writer.setRecord(service, text, signal);
    },
  };
}

/**
 * What to do for one Service now. `adopt`: it must get the finalizer before anything is made for it. `isGone`:
 * Kubernetes does not have it any more, or has another one of its name.
 */
export type Task =
  | { readonly kind: "adopt" | "conflict" | "ensure"; readonly service: Service }
  | { readonly kind: "release"; readonly service: Service; readonly isGone: boolean };

/** What {@linkcode ServiceTasks} need. */
interface ServiceTasksOptions {
  readonly clock: Clock;
  readonly services: StoreReader<Service>;
  readonly managed: ManagedServices;
  readonly classes: ServedClasses;
  /** Whether load balancers leave nothing behind, so that Services need no finalizer. */
  readonly leavesNothingBehind: boolean;
}

/** The tasks of a process. */
export class ServiceTasks {
  readonly #options: ServiceTasksOptions;
  /** The same claim for the same Service: a cloud may compare them by identity. */
  readonly #claims = new WeakMap<Service, LoadBalancerClaim>();

  /** When this process saw the last change of what decides about each, in monotonic milliseconds. */
  readonly #changedMs = new WeakMap<Service, number>();

  constructor(options: ServiceTasksOptions) {
    this.#options = options;
  }

  /** Notes from now on when Services change. Returns the function that ends this. */
  follow(): () => void {
    const { clock, services, classes } = this.#options;
    return services.subscribe((_key, before, after) => {
      if (after === undefined) return;
      const [old, now] = [before, after].map((one) => one && listInputs(one, classes));
      const isSame = before !== undefined && isDeepStrictEqual(old, now);
      this.#changedMs.set(after, isSame ? this.findChangedMs(before) : clock.monotonic());
    });
  }

  /** When this process saw the last change of what decides about a Service, in monotonic milliseconds. */
  findChangedMs(service: Service): number {
    return this.#changedMs.get(service) ?? -Infinity;
  }

  /** What to do for a key, and from now on remember its Service. `undefined`: nothing. */
  find(key: Key): Task | undefined {
    const { services, managed } = this.#options;
    const service = services.get(key);
    const known = managed.get(key)?.service;
    if (known !== undefined && known.metadata.uid !== service?.metadata.uid) {
      return { kind: "release", service: known, isGone: true };
    }
    if (service === undefined) return undefined;
    const need = this.findNeed(service);
    if (need === "nothing") return undefined;
    if (need === "conflict") return { kind: "conflict", service };
    managed.note(service);
    if (need === "release") return { kind: "release", service, isGone: false };
    return { kind: this.lacksFinalizer(service) ? "adopt" : "ensure", service };
  }

  /** What a Service needs. */
  findNeed(service: Service): ServiceNeed {
    const { managed, ...options } = this.#options;
    const known = managed.get(toKey(service))?.service;
    const isManaged = known !== undefined && known.metadata.uid === service.metadata.uid;
    return findNeed(service, { ...options, isManaged });
  }

  /** Whether a Service must get the finalizer before anything is made for it. */
  lacksFinalizer(service: Service): boolean {
    return !this.#options.leavesNothingBehind && !hasCloudLoadBalancer(service);
  }

  /** The keys of all Services for which there may be something to do. */
  *listKeys(): Iterable<Key> {
    for (const service of this.#listServices()) yield toKey(service);
  }

  /** Everything that may have a load balancer of this process, with its newest state. */
  *listClaims(): Iterable<LoadBalancerClaim> {
    for (const service of this.#listServices()) yield this.#toClaim(service);
  }

  /**
   * Finds the Service with a UID that a test accepts, as it is now, if it may have a load balancer: of this process, or
   * of a class that Landfall does not serve.
   */
  findHolder(isIt: (uid: string) => boolean): LoadBalancerHolder | undefined {
    const { services } = this.#options;
    const isFound = ({ metadata }: Service): boolean => isIt(metadata.uid ?? "");
    for (const service of services.values()) {
      if (!isFound(service)) continue;
      const need = this.findNeed(service);
      if (need === "nothing" && !mayHold(service)) return undefined;
      return { claim: this.#toClaim(service), isLeaving: need === "release" };
    }
    for (const service of this.#listGone()) {
      if (isFound(service)) return { claim: this.#toClaim(service), isLeaving: true };
    }
    return undefined;
  }

  *#listServices(): Iterable<Service> {
    for (const service of this.#options.services.values()) {
      if (this.findNeed(service) !== "nothing") yield service;
    }
    yield* this.#listGone();
  }

  #toClaim(service: Service): LoadBalancerClaim {
    const claim = this.#claims.get(service) ?? toClaim(service);
    this.#claims.set(service, claim);
    return claim;
  }

  *#listGone(): Iterable<Service> {
    const { services, managed } = this.#options;
    for (const [key, { service }] of managed.entries()) {
      if (services.get(key)?.metadata.uid !== service.metadata.uid) yield service;
    }
  }
}
