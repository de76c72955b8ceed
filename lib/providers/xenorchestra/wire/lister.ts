/**
 * Lists everything that an inventory needs, in one round. The server does not send unchanged lists again.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import type { ListReply } from "../../../cloud_http/decode.ts";
import type { Clock } from "../../../core/clock.ts";
import {
  byIds,
  type ListVersion,
  type ListWish,
  type VersionedList,
  type XenOrchestraApi,
} from "./api.ts";
import { type Surroundings, toSurroundings } from "../model/inventory.ts";
import type { Host, Network, Pool, Vif, Vm } from "./schema.ts";

/** The result of one round. */
export interface Listing {
  readonly vms: ListReply<Vm>;
  readonly surroundings: Surroundings;
}

/** The small lists around the VMs, which stay in memory. */
interface Kept {
  readonly hosts: VersionedList<Host>;
  readonly pools: VersionedList<Pool>;
  readonly networks?: VersionedList<Network>;
  readonly vifs?: VersionedList<Vif>;
}

interface Round extends Kept {
  /** Only the version of the VMs: there may be thousands of them. */
  readonly vms: ListVersion | undefined;
}

/** What lists show beside what inventories need. */
export interface Followed {
  /** Fields of VMs. The filter matches the VMs that lists show, too. */
  readonly vms: ListWish<Vm> & { readonly filter: string };
  readonly hosts: ListWish<Host>;
  /** Whether to keep a VM: there may be thousands of others. */
  readonly isOurs: (vm: Vm) => boolean;
}

/** What the last inventory showed, for machines. */
export interface LastListing {
  readonly inventory: Inventory;
  readonly vms: readonly Vm[];
  readonly hosts: readonly Host[];
}

/** How often Landfall requests everything in full, in case a cache in between keeps old answers. */
const WHOLE_INTERVAL_MS = 600_000;

/** Lists VMs and their surroundings. One round at a time. */
export class Lister {
  readonly #api: XenOrchestraApi;
  readonly #clock: Clock;
  readonly #network: string | undefined;
  /** The last round that succeeded. */
  #last: Round | undefined;
  #wholeAtMs = -Infinity;
  #followed: Followed | undefined;

  /** @param network Name or UUID of the only network whose addresses count; it needs two more lists */
  constructor(api: XenOrchestraApi, clock: Clock, network: string | undefined) {
    this.#api = api;
    this.#clock = clock;
    this.#network = network;
  }

  /** From now on lists show this, too. */
  follow(followed: Followed): void {
    this.#followed = followed;
  }

  /**
   * Sends all requests at the same time. The first failure aborts the others.
   *
   * @param ids Only these VMs; absent: all
   * @returns `undefined` if nothing changed since the last round
   * @throws {CloudError} if a list fails; the last lists stay
   */
  async list(
    ids: readonly string[] | undefined,
    signal: AbortSignal,
  ): Promise<Listing | undefined> {
    const failed = new AbortController();
    try {
      return await this.#list(ids, AbortSignal.any([signal, failed.signal]));
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  }

  async #list(
    ids: readonly string[] | undefined,
    signal: AbortSignal,
  ): Promise<Listing | undefined> {
    const startedMs = this.#clock.monotonic();
    const isWhole = startedMs - this.#wholeAtMs >= WHOLE_INTERVAL_MS;
    const last = isWhole ? undefined : this.#last;
    const more = this.#followed?.vms;
    const filter = ids && (more ? `|(${byIds(ids)} ${more.filter})` : byIds(ids));
    const [vms, around] = await Promise.all([
      this.#api.relist("vms", { filter, known: last?.vms, more }, signal),
      this.#listAround(last, signal),
    ]);
    if (vms === "unchanged" && last && isSame(around, last)) return undefined;
    // An instance depends on its VM and on its surroundings.
    const all = vms === "unchanged" ? await this.#api.list("vms", signal, filter, more) : vms;
    const surroundings = toSurroundings(around, this.#network);
    this.#last = { ...around, vms: all.version };
    if (isWhole) this.#wholeAtMs = startedMs;
    return { vms: all, surroundings };
  }

  async #listAround(last: Round | undefined, signal: AbortSignal): Promise<Kept> {
    const [hosts, pools, networks, vifs] = await Promise.all([
      this.#relist("hosts", last?.hosts, signal, this.#followed?.hosts),
      this.#relist("pools", last?.pools, signal),
      ...(this.#network === undefined
        ? []
        : ([
            this.#relist("networks", last?.networks, signal),
            this.#relist("vifs", last?.vifs, signal),
          ] as const)),
    ]);
    return { hosts, pools, ...(networks && { networks }), ...(vifs && { vifs }) };
  }

  async #relist<C extends "hosts" | "pools" | "networks" | "vifs">(
    collection: C,
    kept: VersionedList<Around[C]> | undefined,
    signal: AbortSignal,
    more?: ListWish<Around[C]>,
  ): Promise<VersionedList<Around[C]>> {
    const list = await this.#api.relist(collection, { known: kept?.version, more }, signal);
    if (list !== "unchanged") return list;
    return kept ?? (await this.#api.list(collection, signal, undefined, more));
  }
}

interface Around {
  readonly hosts: Host;
  readonly pools: Pool;
  readonly networks: Network;
  readonly vifs: Vif;
}

/** Whether nothing changed: a list that was not sent again is the same object. */
function isSame(after: Kept, before: Kept): boolean {
  return (
    after.hosts === before.hosts &&
    after.pools === before.pools &&
    after.networks === before.networks &&
    after.vifs === before.vifs
  );
}
