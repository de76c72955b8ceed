/**
 * Address pools: the load balancers of a cloud that has none. Landfall only says which Service has which address;
 * another program, such as kube-vip or a BGP speaker, makes the address reachable.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import type {
  LoadBalancerOwner,
  LoadBalancerQuestion,
  LoadBalancers,
} from "../capabilities/load_balancers.ts";
import { Allocations, type Occupied } from "./allocations.ts";
import { planAddresses, planHeld, planRelease, type PoolStep, type PoolView } from "./plan.ts";
import { PoolMap } from "./pool.ts";
import type { LoadBalancerSettings } from "./settings.ts";
import { listRivals } from "./sharing.ts";
import { listUsage, type PoolUsage } from "./usage.ts";

/** What {@linkcode AddressPools} needs. */
interface AddressPoolsOptions {
  readonly settings: LoadBalancerSettings;
  readonly clock: Pick<Clock, "monotonic">;
  /** What else uses addresses; the same object while nothing changes. @default {nothing} */
  readonly findOccupied?: () => Occupied;
}

/**
 * A look at all Services is this fresh at least: then it shows what others changed by hand. What this process does is
 * in every look, without another one.
 */
const LOOK_MS_MAX = 5_000;

/**
 * See {@linkcode LoadBalancers}.
 *
 * Guarantees: no two Services get the same address, unless they share it. {@linkcode AddressPools.apply} reserves in
 * memory at once, and a plan sees every reservation. A reservation lasts until the next
 * one of the same Service, or until the Service goes. A Service never loses an address that its
 * status shows, with any settings.
 *
 * Assumes that the first look is made with Services that were listed under the Lease, because the only other state is
 * in the Services.
 */
export class AddressPools implements LoadBalancers<PoolView, PoolStep> {
  /** All that a Service has is in the Service itself. */
  readonly leavesNothingBehind = true;
  readonly plan: typeof planAddresses = planAddresses;
  readonly planHeld: typeof planHeld = planHeld;
  readonly planRelease: typeof planRelease = planRelease;
  readonly #clock: AddressPoolsOptions["clock"];
  readonly #findOccupied: AddressPoolsOptions["findOccupied"];
  readonly #allocations: Allocations;
  #settings: LoadBalancerSettings;
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor({ settings, clock, findOccupied }: AddressPoolsOptions) {
    this.#findOccupied = findOccupied;
    this.#settings = settings;
    this.#clock = clock;
    this.#allocations = new Allocations(new PoolMap(settings.pools, settings.sharing));
  }

  /** Uses other settings from now on. */
  reconfigure(settings: LoadBalancerSettings): void {
    this.#settings = settings;
    this.#allocations.setPools(new PoolMap(settings.pools, settings.sharing));
  }

  /** Addresses do not depend on the cluster. */
  setClusterIds(): void {}

  observe({ claims, maxAgeMs }: LoadBalancerQuestion): Promise<PoolView> {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#lookedAtMs >= Math.min(maxAgeMs, LOOK_MS_MAX)) {
      this.#allocations.sync(claims());
      this.#lookedAtMs = nowMs;
    }
    this.#noteOccupied();
    const { announce } = this.#settings;
    // All that counts is in the Services, and in memory.
    return Promise.resolve({ allocations: this.#allocations, announce, takenAtMs: nowMs });
  }

  /** Does nothing if another Service got one of the addresses in the meantime: the next plan finds another one. */
  apply({ claim, addresses }: PoolStep): Promise<void> {
    const { uid } = claim.owner;
    const allocations = this.#allocations;
    allocations.note(claim);
    const isTaken = addresses.some(
      (one) => !allocations.has(uid, one) && listRivals(allocations, one, claim).length > 0,
    );
    if (!isTaken) allocations.reserve(uid, addresses);
    return Promise.resolve();
  }

  /** How full each pool is, from the index. Empty before the first look: then nothing is known of Services. */
  listUsage(): readonly PoolUsage[] {
    return this.#lookedAtMs === Number.NEGATIVE_INFINITY ? [] : listUsage(this.#allocations);
  }

  /** The Services whose address something else began or ceased to use since the last call. */
  takeDisturbed(): LoadBalancerOwner[] {
    // Before the first look, nothing is known of Services.
    if (this.#lookedAtMs === Number.NEGATIVE_INFINITY) return [];
    this.#noteOccupied();
    return this.#allocations.takeDisturbed();
  }

  #noteOccupied(): void {
    const occupied = this.#findOccupied?.();
    if (occupied !== undefined) this.#allocations.setOccupied(occupied);
  }

  forget(uid: string): void {
    this.#allocations.forget(uid);
  }
}
