/**
 * Shows operators the addresses in the cloud that belong to Services which do not exist any more.
 *
 * A user removed the finalizer of such a Service by hand, or restored the cluster. Landfall releases none of them: a
 * Service that is missing after a restore is no proof that nothing needs its address.
 * @module
 */
import type {
  LoadBalancerClaim,
  LoadBalancerLeftover,
  LoadBalancers,
} from "../../cloud/capabilities/load_balancers.ts";
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import type { StoreReader } from "../../kube/cache/store.ts";
import type { Service } from "../../kube/kinds/service.ts";
import { toLiveServices } from "./spec.ts";
import type { Observations } from "./passes.ts";

/** What {@linkcode Leftovers} need. */
interface LeftoversOptions {
  readonly log: Logger;
  readonly clock: Clock;
  readonly loadBalancers: Pick<LoadBalancers, "listLeftovers">;
  readonly observations: Pick<Observations, "last">;
  /** All Services of the cluster. Synced before the first look. */
  readonly services: Pick<StoreReader<Service>, "values">;
  /** Everything that may have a load balancer of this process, also what Kubernetes does not have any more. */
  readonly claims: () => Iterable<LoadBalancerClaim>;
}

/** An address without a Service, and when the cloud was last asked about it. */
export interface KnownLeftover extends LoadBalancerLeftover {
  /** When the cloud showed it; ISO 8601. */
  readonly asOf: string;
}

/** More leftovers than these are counted in the log, and not named. */
const LOGGED_MAX = 20;

/** The leftovers by the last look at the cloud. Costs the cloud nothing. */
export class Leftovers {
  readonly #options: LeftoversOptions;
  /** The IDs of those that were logged. */
  #logged = "";

  constructor(options: LeftoversOptions) {
    this.#options = options;
  }

  /**
   * Lists them. Empty before the first look. Without Services nothing is looked at, so the list of the last look stays:
   * an alert must not end only because the last Service goes.
   */
  list(): readonly KnownLeftover[] {
    const { clock, loadBalancers, observations, services, claims } = this.#options;
    const { last } = observations;
    if (last === undefined || loadBalancers.listLeftovers === undefined) return [];
    const claimed = new Set(Array.from(claims(), ({ owner }) => owner.uid));
    const live = toLiveServices(services.values());
    const uids = live.uids.union(claimed);
    const found = loadBalancers.listLeftovers(last, { ...live, uids });
    if (found.length === 0) return [];
    const ageMs = clock.monotonic() - last.takenAtMs;
    const asOf = new Date(clock.now() - ageMs).toISOString();
    return found.map((one) => ({ ...one, asOf }));
  }

  /** Writes them to the log if they are others than the last time. */
  log(): void {
    const leftovers = this.list();
    const ids = leftovers.map(({ id }) => id).join(" ");
    if (ids === this.#logged) return;
    this.#logged = ids;
    if (leftovers.length === 0) return;
    this.#options.log.warn(
      "Public addresses of this cluster have no Service; nothing is released",
      {
        count: leftovers.length,
        addresses: leftovers
          .slice(0, LOGGED_MAX)
          .map(({ ip, service }) => (service === undefined ? ip : `${ip} (${service})`))
          .join(", "),
      },
    );
  }
}
