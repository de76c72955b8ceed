/**
 * All IPPools as this process knows them. The watch is only a bell: a list is read when it rings, so that no decision
 * is made from what was true some time ago.
 * @module
 */
import { toKey, type StoreReader } from "../../../../kube/cache/store.ts";
import type { KubeClient } from "../../../../kube/api/client.ts";
import { listAll } from "../../../../kube/cache/list_all.ts";
import { WrittenVersions } from "../../../../engine/written_versions.ts";
import { findDamage } from "../../../../kube/kinds/shape.ts";
import { trimObject } from "../../../../kube/kinds/trim.ts";
import { checkPoolSpec } from "../../resource/check_spec.ts";
import { IP_POOLS, type IpPool, type IpPoolSpec } from "../../resource/ip_pool.ts";
import type { Pools } from "./pool_set.ts";

/** What a {@linkcode PoolCache} needs. */
interface PoolCacheOptions {
  readonly client: Pick<KubeClient, "list">;
  /** Where all pools are. */
  readonly namespace: string;
  readonly store: Pick<StoreReader<IpPool>, "subscribe">;
}

/** What is known of a pool. */
interface Known {
  readonly pool: IpPool;
  /** Absent: it cannot be used, and the problem says why. */
  readonly spec?: IpPoolSpec;
  readonly problem?: string;
}

/** A pool may have more than a megabyte. */
const PAGE_SIZE = 10;

/**
 * The pools of one namespace.
 *
 * Guarantees: after {@linkcode PoolCache.refresh} it has every change that the watch reported. If it lacks another
 * one, the version of the pool is old, and a write that depends on it is refused.
 */
export class PoolCache {
  readonly #options: PoolCacheOptions;
  readonly #written = new WrittenVersions();
  #known: ReadonlyMap<string, Known> = new Map();
  #isListed = false;
  /** Versions of pools that the watch showed and that are not known here; `undefined` for a deleted one. By name. */
  readonly #heard = new Map<string, string | undefined>();
  /** Ends the subscription. */
  readonly close: () => void;

  constructor(options: PoolCacheOptions) {
    this.#options = options;
    this.close = options.store.subscribe((_key, before, after) => this.#hear(before, after));
  }

  /** Specs that can be used, by name of their object. The same object as long as the pool is the same. */
  get pools(): Pools {
    const all = [...this.#known];
    return new Map(all.flatMap(([name, { spec }]) => (spec === undefined ? [] : [[name, spec]])));
  }

  /** Why other pools cannot be used, by name of their object. */
  get damaged(): ReadonlyMap<string, string> {
    const all = [...this.#known];
    return new Map(
      all.flatMap(([name, { problem }]) => (problem === undefined ? [] : [[name, problem]])),
    );
  }

  /** The version of a pool. @returns `undefined` if there is no such pool */
  findVersion(name: string): string | undefined {
    return this.#known.get(name)?.pool.metadata.resourceVersion;
  }

  /** Reads all pools again, unless nothing changed since. */
  async refresh(signal: AbortSignal): Promise<void> {
    if (this.#isListed && this.#heard.size === 0) return;
    const { client, namespace } = this.#options;
    this.#isListed = false;
    // What the watch shows from now on may be newer than the list.
    this.#heard.clear();
    const { items } = await listAll(client, IP_POOLS, { namespace, limit: PAGE_SIZE }, signal);
    this.#known = new Map(items.map((pool) => [pool.metadata.name, this.#toKnown(pool)]));
    this.#isListed = true;
  }

  /** Takes the answer to a write. */
  note(answer: IpPool): void {
    const { name, resourceVersion } = answer.metadata;
    const before = this.#known.get(name)?.pool;
    if (before !== undefined) this.#written.note(before, answer);
    this.#known = new Map(this.#known).set(name, this.#toKnown(answer));
    // The watch may be quicker than the answer.
    if (this.#heard.get(name) === resourceVersion) this.#heard.delete(name);
  }

  /** The next {@linkcode PoolCache.refresh} reads all pools. */
  doubt(): void {
    this.#isListed = false;
  }

  #hear(before: IpPool | undefined, after: IpPool | undefined): void {
    const { namespace, name, resourceVersion } = (after ?? before)?.metadata ?? {};
    if (namespace !== this.#options.namespace || name === undefined) return;
    const isOurs = after !== undefined && this.#written.isStale(after);
    const isKnown = after !== undefined && resourceVersion === this.findVersion(name);
    if (isKnown) this.#heard.delete(name);
    else if (!isOurs) this.#heard.set(name, after && resourceVersion);
  }

  #toKnown(answer: IpPool): Known {
    const damage = findDamage(IP_POOLS, answer);
    if (damage !== undefined) return { pool: answer, problem: damage };
    const pool = trimObject(IP_POOLS, answer);
    const last = this.#known.get(pool.metadata.name);
    const isSame = last !== undefined && toVersion(last.pool) === toVersion(pool);
    if (isSame) return last;
    const checked = checkPoolSpec(pool.spec);
    if (checked.isValid) return { pool, spec: checked.spec };
    const [{ path, message } = { path: "spec", message: "cannot be read" }] = checked.problems;
    return { pool, problem: `${path}: ${message}` };
  }
}

function toVersion({ metadata }: IpPool): string {
  return `${toKey({ metadata })} ${metadata.uid} ${metadata.resourceVersion}`;
}
