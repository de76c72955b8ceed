/**
 * Gives machines addresses from IPPools in Kubernetes, and takes them back.
 * @module
 */
import { toBackoffMs } from "../../../core/backoff.ts";
import { type Clock, startDeadline } from "../../../core/clock.ts";
import { Limiter } from "../../../core/concurrency.ts";
import type { KubeClient } from "../../../kube/api/client.ts";
import { isKubeError, KubeError } from "../../../kube/api/errors.ts";
import type { StoreReader } from "../../../kube/cache/store.ts";
import { IP_POOLS, type IpPool, type IpPoolSpec } from "../resource/ip_pool.ts";
import { type AddressPlan, type AddressRequest, planAddresses, releaseAddresses } from "./ipam.ts";
import { type AddressOwner, parseOwner } from "./owners.ts";
import { PoolIndexes } from "./pools/pool_index.ts";
import { PoolCache } from "./pools/pool_cache.ts";
import { explainRefusal } from "./pools/pool_error.ts";
import type { PoolFacts, Pools } from "./pools/pool_set.ts";

/** What {@linkcode IpPools} need. */
interface IpPoolsOptions {
  /** Fenced: two processes that both lead may give two machines one MAC address. */
  readonly client: Pick<KubeClient, "list" | "create" | "patch">;
  readonly clock: Clock;
  /** The one namespace with all pools: Vinos of all namespaces share them. */
  readonly namespace: string;
  /** Says when pools change. What it holds is not used. */
  readonly store: Pick<StoreReader<IpPool>, "subscribe">;
}

/** Who has what. The pools are written. */
export type GivenAddresses = Omit<AddressPlan, "changed">;

/** Conflicts with other writers before giving up. */
const TRIES_MAX = 10;
const PAUSE = { baseMs: 50, capMs: 1_000 } as const;
/** Of a call, with waiting for others. */
const DEADLINE_MS = 60_000;

/**
 * The pools. Every method throws {@linkcode IpPoolError} if Kubernetes refuses for good, another {@linkcode KubeError}
 * if a try again may help, or a `TimeoutError` after a minute.
 *
 * Guarantees: nothing is said to have an address before Kubernetes has stored that; an address of a pool never has two
 * owners, also when other processes write at the same time; without a change there is no request.
 */
export class IpPools {
  readonly #options: IpPoolsOptions;
  readonly #cache: PoolCache;
  readonly #indexes = new PoolIndexes();
  /** One call at a time, because MAC addresses are unique in all pools. */
  readonly #turns = new Limiter(1);

  constructor(options: IpPoolsOptions) {
    this.#options = options;
    this.#cache = new PoolCache(options);
  }

  /**
   * Gives addresses to the machines of a Vino: one write for each pool that changes. If that needs the MAC addresses of
   * the cloud, it writes nothing, and says so.
   */
  allocate(
    request: AddressRequest,
    facts: Pick<PoolFacts, "networks" | "known" | "seen">,
    signal: AbortSignal,
  ): Promise<GivenAddresses> {
    return this.#change((pools) => {
      const { damaged } = this.#cache;
      const plan = planAddresses(request, { ...facts, pools, damaged, indexes: this.#indexes });
      return { changed: plan.needsMacs ? new Map() : plan.changed, result: plan };
    }, signal);
  }

  /**
   * Takes back the addresses of machines that are proven gone.
   *
   * @param isGone Whether the machine of this owner is proven gone. Not called for owners of other programs
   * @returns Who had an address
   */
  release(
    isGone: (owner: AddressOwner) => boolean,
    signal: AbortSignal,
  ): Promise<readonly AddressOwner[]> {
    return this.#change((pools) => {
      const released: AddressOwner[] = [];
      const changed = releaseAddresses(pools, (text) => {
        const owner = parseOwner(text);
        if (owner === undefined || !isGone(owner)) return false;
        released.push(owner);
        return true;
      });
      return { changed, result: released };
    }, signal);
  }

  /** Who has an address. A machine is named once for each of its interfaces. */
  listOwners(signal: AbortSignal): Promise<readonly AddressOwner[]> {
    return this.#change((pools) => {
      const all = [...pools.values()].flatMap(({ allocatedIPs = [] }) => allocatedIPs);
      const result = all.flatMap(({ allocatedTo }) => parseOwner(allocatedTo) ?? []);
      return { changed: new Map(), result };
    }, signal);
  }

  /** Ends the subscription to the store. */
  close(): void {
    this.#cache.close();
  }

  /** Plans and writes, until what was planned is stored. */
  async #change<R>(
    plan: (pools: Pools) => { readonly changed: Pools; readonly result: R },
    signal: AbortSignal,
  ): Promise<R> {
    const { clock, namespace } = this.#options;
    using deadline = startDeadline(signal, DEADLINE_MS, clock);
    const change = async (): Promise<R> => {
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        await clock.sleep(toBackoffMs(tries, PAUSE), deadline.signal);
        await this.#cache.refresh(deadline.signal);
        const { changed, result } = plan(this.#cache.pools);
        if (await this.#writeAll(changed, deadline.signal)) return result;
      }
      throw new KubeError(
        "conflict",
        "Cannot change IPPools: other programs change them all the time",
      );
    };
    try {
      return await this.#turns.run(change, deadline.signal);
    } catch (error) {
      throw explainRefusal(error, namespace);
    }
  }

  /** @returns Whether all is written. If not, the pools are not as the plan saw them */
  async #writeAll(changed: Pools, signal: AbortSignal): Promise<boolean> {
    for (const [name, spec] of changed) {
      try {
        this.#cache.note(await this.#write(name, spec, signal));
      } catch (error) {
        const isNew = this.#cache.findVersion(name) === undefined;
        // Also after an error of another kind: the write may have been carried out.
        this.#cache.doubt();
        const isOvertaken =
          isKubeError(error, isNew ? "alreadyExists" : "conflict") ||
          (!isNew && isKubeError(error, "notFound"));
        if (!isOvertaken) throw error;
        return false;
      }
    }
    return true;
  }

  #write(name: string, spec: IpPoolSpec, signal: AbortSignal): Promise<IpPool> {
    const { client, namespace } = this.#options;
    const resourceVersion = this.#cache.findVersion(name);
    if (resourceVersion === undefined) {
      const { apiVersion, kind } = IP_POOLS;
      const body = { apiVersion, kind, metadata: { name, namespace }, spec };
      return client.create(IP_POOLS, { namespace }, body, signal);
    }
    // Other fields stay, also those that this version does not know.
    const { ranges, allocatedIPs = [] } = spec;
    const body = { metadata: { resourceVersion }, spec: { ranges, allocatedIPs } };
    return client.patch(IP_POOLS, { namespace, name }, { type: "merge", body }, signal);
  }
}
