/**
 * Gives machines addresses from IPPools in Kubernetes, and takes them back.
 * @module
 */
import { type Clock, startDeadline, toBackoffMs } from "../../../core/clock.ts";
import { Limiter } from "../../../core/concurrency.ts";
import type { KubeClient } from "../../../kube/api/client.ts";
import { isKubeError, KubeError, type KubeErrorKind } from "../../../kube/api/errors.ts";
import { type StoreReader, toKey } from "../../../kube/cache/store.ts";
import { checkPoolSpec } from "../resource/check_spec.ts";
import { IP_POOLS, type IpPool, type IpPoolSpec } from "../resource/ip_pool.ts";
import { type AddressPlan, type AddressRequest, planAddresses, releaseAddresses } from "./ipam.ts";
import {
  type AddressOwner,
  parseOwner,
  PoolIndexes,
  type PoolFacts,
  type Pools,
} from "./pools/pool_set.ts";
import { describeError } from "../../../core/errors.ts";
import type { PoolUsage } from "../../../cloud/pools/usage.ts";
import { parseCidr } from "../../../core/net/ip.ts";
import { joinSpans, parseSubnet, toSpan } from "./subnets.ts";

/** What {@linkcode IpPools} need. */
interface IpPoolsOptions {
  /** Fenced: two processes that both lead may give two machines one MAC address. */
  readonly client: Pick<KubeClient, "create" | "patch">;
  readonly clock: Clock;
  /** The one namespace with all pools: Vinos of all namespaces share them. */
  readonly namespace: string;
  readonly store: Pick<StoreReader<IpPool>, "catchUp" | "untilSynced" | "values">;
}

/** What the objects of pools say, by their names. */
interface PoolState {
  /** Those that can be used. The same object as long as the pool is the same. */
  readonly pools: Pools;
  /** Why others cannot be used. */
  readonly damaged: ReadonlyMap<string, string>;
  /** Of all: a plan is written for these, because the watch may show newer ones meanwhile. */
  readonly versions: ReadonlyMap<string, string | undefined>;
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
 * owners, also when other processes write at the same time; without a change there is no request. A plan is made from
 * the cache, and each write is for the version that was planned on.
 */
export class IpPools {
  readonly #options: IpPoolsOptions;
  readonly #checked = new WeakMap<IpPool, ReturnType<typeof checkPoolSpec>>();
  readonly #indexes = new PoolIndexes();
  /** One call at a time, because MAC addresses are unique in all pools. */
  readonly #turns = new Limiter(1);

  constructor(options: IpPoolsOptions) {
    this.#options = options;
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
    return this.#change((state) => {
      const plan = planAddresses(request, { ...facts, ...state, indexes: this.#indexes });
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
    return this.#change(({ pools }) => {
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
    return this.#change(({ pools }) => {
      const all = [...pools.values()].flatMap(({ allocatedIPs = [] }) => allocatedIPs);
      const result = all.flatMap(({ allocatedTo }) => parseOwner(allocatedTo) ?? []);
      return { changed: new Map(), result };
    }, signal);
  }

  /** Plans and writes, until what was planned is stored. */
  async #change<R>(
    plan: (state: PoolState) => { readonly changed: Pools; readonly result: R },
    signal: AbortSignal,
  ): Promise<R> {
    const { clock, namespace, store } = this.#options;
    using deadline = startDeadline(signal, DEADLINE_MS, clock);
    const change = async (): Promise<R> => {
      await store.untilSynced(deadline.signal);
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        await clock.sleep(toBackoffMs(tries, PAUSE), deadline.signal);
        const state = this.#read();
        const { changed, result } = plan(state);
        if (await this.#writeAll(changed, state, deadline.signal)) return result;
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
  async #writeAll(changed: Pools, { versions }: PoolState, signal: AbortSignal): Promise<boolean> {
    for (const [name, spec] of changed) {
      const version = versions.get(name);
      try {
        await this.#write(name, spec, version, signal);
      } catch (error) {
        const isNew = version === undefined;
        const isOvertaken =
          isKubeError(error, isNew ? "alreadyExists" : "conflict") ||
          (!isNew && isKubeError(error, "notFound"));
        if (!isOvertaken) throw error;
        // The watch may be late. A signal of its own, because the last one was for an earlier state.
        await this.#options.store.catchUp(AbortSignal.any([signal]));
        return false;
      }
    }
    return true;
  }

  #write(
    name: string,
    spec: IpPoolSpec,
    resourceVersion: string | undefined,
    signal: AbortSignal,
  ): Promise<IpPool> {
    const { client, namespace } = this.#options;
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

  #read(): PoolState {
    const pools = new Map<string, IpPoolSpec>();
    const damaged = new Map<string, string>();
    const versions = new Map<string, string | undefined>();
    for (const pool of this.#options.store.values()) {
      const { name, namespace, resourceVersion } = pool.metadata;
      if (namespace !== this.#options.namespace) continue;
      versions.set(name, resourceVersion);
      const checked = this.#checked.get(pool) ?? checkPoolSpec(pool.spec);
      this.#checked.set(pool, checked);
      if (checked.isValid) pools.set(name, checked.spec);
      else {
        const [{ path, message } = { path: "spec", message: "cannot be read" }] = checked.problems;
        damaged.set(name, `${path}: ${message}`);
      }
    }
    return { pools, damaged, versions };
  }
}

/** Kubernetes refuses IPPools, and will do so until a person changes something. No full stop at the end. */
export class IpPoolError extends Error {
  override readonly name = "IpPoolError";
}

const FINAL: ReadonlySet<KubeErrorKind> = new Set(["forbidden", "invalid", "notFound"]);

/**
 * Says of a refusal what a person can do.
 *
 * @param namespace Of all pools
 * @returns The error itself if a try again may help
 */
export function explainRefusal(error: unknown, namespace: string): unknown {
  if (!(error instanceof KubeError) || !FINAL.has(error.kind)) return error;
  if (error.message.includes(`namespaces "${namespace}" not found`)) {
    const message =
      `namespace ${namespace} does not exist, and --ip-pool-namespace says that all IPPools are there. ` +
      "Correct the flag, or create the namespace";
    return new IpPoolError(message, { cause: error });
  }
  const message = `the API server refuses the IPPools in namespace ${namespace}: ${describeError(error)}`;
  const advice =
    error.kind === "invalid" ? "" : ". Run landfall check, which names what is missing";
  return new IpPoolError(`${message}${advice}`, { cause: error });
}

/**
 * Counts, for each pool that can be read, in the order of their namespaces and names: the addresses that are given
 * out, and all that its ranges have. Addresses that the ranges do not have any more count as long as they have an
 * owner.
 */
export function listPoolUsage(pools: Iterable<IpPool>): PoolUsage[] {
  return [...pools]
    .toSorted((a, b) => (toKey(a) < toKey(b) ? -1 : 1))
    .flatMap(({ metadata, spec }) => {
      const subnet = parseSubnet(spec?.subnet ?? "");
      if (spec === undefined || subnet === undefined) return [];
      const { ranges = [], allocatedIPs = [] } = spec;
      const spans = joinSpans(ranges.flatMap((range) => toSpan(range) ?? []));
      const size = spans.reduce((sum, { first, last }) => sum + (last - first + 1n), 0n);
      const outside = allocatedIPs.filter(({ ip }) => {
        const at = parseCidr(ip)?.first;
        return at !== undefined && !spans.some(({ first, last }) => first <= at && at <= last);
      });
      const family = subnet.block.family === 4 ? "IPv4" : "IPv6";
      const total = Number(size) + outside.length;
      return [{ pool: toKey({ metadata }), family, used: allocatedIPs.length, total }];
    });
}
