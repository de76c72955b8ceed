/**
 * Finds out what is to do for each Service, and lists everything that may have a load balancer.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type {
  LoadBalancerClaim,
  LoadBalancerHolder,
} from "../../../cloud/capabilities/load_balancers.ts";
import type { Clock } from "../../../core/clock.ts";
import { type Key, type StoreReader, toKey } from "../../../kube/cache/store.ts";
import { hasCloudLoadBalancer, type Service } from "../../../kube/kinds/service.ts";
import type { ManagedServices } from "./managed.ts";
import { listInputs } from "../spec/inputs.ts";
import { toClaim } from "../spec/spec.ts";
import { findNeed, mayHold, type ServedClasses, type ServiceNeed } from "../spec/which.ts";

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
