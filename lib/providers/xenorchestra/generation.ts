/**
 * Reads Xen Orchestra with one set of settings: an inventory for all Nodes, and single VMs that the inventory lacks.
 * @module
 */
import { CloudError } from "../../cloud/errors.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import type { Instance, NodeIdentity } from "../../cloud/instance.ts";
import { type Presence, type Provider, type ReadOptions, toUnknown } from "../../cloud/provider.ts";
import { assert } from "../../core/errors.ts";
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import type { Memory } from "./memory.ts";
import { parseIdentity, toVmIds } from "./model/identity.ts";
import {
  isPlaceKnown,
  type Surroundings,
  toInstance,
  toInventory,
  withDevices,
  withoutPools,
} from "./model/inventory.ts";
import { ConnectionWatch } from "./proof/connection_watch.ts";
import { DirectReads, withLosses } from "./proof/direct_reads.ts";
import { listHalted, listSuspects, mayBeCopy } from "./proof/whereabouts.ts";
import { NamedPools } from "./scope/named_pools.ts";
import { PoolScope } from "./scope/pool_scope.ts";
import { UnfitEntries } from "./scope/unfit_entries.ts";
import { toUnmanaged, type XenOrchestraSettings } from "./settings/config.ts";
import { byIds, byVms, FILTER_IDS_MAX, type XenOrchestraApi } from "./wire/api.ts";
import { type Followed, Lister, type Listing } from "./wire/lister.ts";
import type { Host, Vm } from "./wire/schema.ts";

/** The dependencies of a {@linkcode Generation}. */
export interface GenerationOptions {
  readonly api: XenOrchestraApi;
  readonly settings: XenOrchestraSettings;
  readonly clock: Clock;
  readonly log: Logger;
  /** What Landfall knows about the same Xen Orchestra, including what it learned under other settings. */
  readonly memory: Memory;
  /** Aborts when requests use another server or user, and at the end of the process. */
  readonly signal: AbortSignal;
}

/** What the last inventory showed, for machines. */
export interface LastListing {
  /** The same object for the same cloud. */
  readonly origin: object;
  /** The same object for the same settings, and so for the same user. */
  readonly source: object;
  readonly inventory: Inventory;
  readonly vms: readonly Vm[];
  readonly hosts: readonly Host[];
}

/** Time of the request for an inventory, and its VMs. */
type Asked = Pick<Inventory, "observedAtMs" | "lookedFor">;

/**
 * Reads inventories and single VMs with one set of settings. The methods are those of {@linkcode Provider}.
 */
export class Generation implements Pick<Provider, "listInventory" | "readInstance"> {
  readonly settings: XenOrchestraSettings;
  readonly memory: Memory;
  /** The pools whose Nodes are ours. */
  readonly scope: PoolScope;
  /** Watches the connections to pools. */
  readonly connections: ConnectionWatch;
  /** See `Provider.unmanaged`. */
  readonly unmanaged: ReadonlySet<"addresses" | "zone">;
  readonly #options: GenerationOptions;
  readonly #lister: Lister;
  readonly #namedPools: NamedPools;
  #last: Inventory | undefined;
  #surroundings: Surroundings = { pools: new Map(), hosts: new Map() };
  /** Pools in the last inventory; before the first inventory, those seen under other settings. */
  #shownPools: ReadonlySet<string>;
  readonly #reads: DirectReads;
  readonly #unfitEntries: UnfitEntries;
  /** What inventories show of machines; absent as long as no controller follows them. */
  #followed: Followed | undefined;
  #followedVms: readonly Vm[] | undefined;
  #shown: Inventory | undefined;

  constructor(options: GenerationOptions) {
    const { api, clock, settings, memory } = options;
    this.#options = options;
    this.settings = settings;
    this.memory = memory;
    this.connections = new ConnectionWatch(options);
    this.unmanaged = toUnmanaged(settings);
    this.scope = new PoolScope(settings.pools, memory.knownPools);
    this.#reads = new DirectReads({ api, settings, memory });
    this.#shownPools = new Set(memory.knownPools.keys());
    this.#namedPools = new NamedPools(this.scope, options.log);
    this.#unfitEntries = new UnfitEntries(settings, options.log);
    this.#lister = new Lister(api, clock, settings.addresses.network);
  }

  /** From now on inventories show the VMs that Landfall makes. */
  follow(followed: Followed): void {
    this.#followed = followed;
    this.#lister.follow(followed);
  }

  /** What the last inventory showed; `undefined` before the first one that shows machines. */
  findListing(): LastListing | undefined {
    const vms = this.#followedVms;
    const inventory = this.#shown;
    if (vms === undefined || inventory === undefined) return undefined;
    const hosts = [...this.#surroundings.hosts.values()];
    return { origin: this.memory, source: this, inventory, vms, hosts };
  }

  async listInventory(interest: readonly NodeIdentity[], signal: AbortSignal): Promise<Inventory> {
    const { clock } = this.#options;
    const observedAtMs = clock.monotonic();
    const identities = interest.map(parseIdentity);
    const lookedFor = toVmIds(identities);
    const isFew = lookedFor.size > 0 && lookedFor.size <= FILTER_IDS_MAX;
    // Always in the same order, so that equal requests have equal URLs.
    const listing = await this.#list(isFew ? [...lookedFor].sort() : undefined, signal);
    const asked = { observedAtMs, ...(interest.length > 0 && { lookedFor }) };
    this.#last = listing ? this.#take(listing, asked) : this.#repeatLast(asked);
    const { instances } = this.#last;
    const suspects = listSuspects(identities, instances, this.memory);
    const toAsk = { inventory: this.#last, poolIds: new Set(suspects.values()) };
    const inventory = await withLosses(this.#options.api, toAsk, signal);
    const isLost = ([, poolId]: readonly [string, string]): boolean =>
      inventory.coverage.get(poolId)?.complete !== true;
    const copies = new Set([...suspects].filter(isLost).map(([vmId]) => vmId));
    for (const vmId of listHalted(identities, instances)) copies.add(vmId);
    this.memory.noteInventory(inventory, { copies, answeredMs: clock.monotonic() });
    const whole = this.#namedPools.addTo(inventory, identities);
    // A pool that was removed for good is no longer part of the cloud, even if a Node names it.
    this.#shown = { ...whole, coverage: withoutPools(whole.coverage, this.memory.removedPools) };
    return this.#shown;
  }

  async readInstances(
    ids: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Instance>> {
    const { api, clock, settings } = this.#options;
    const { networkIds } = this.#surroundings;
    const atMs = clock.monotonic();
    const wanted = [...ids].sort();
    const [vms, vifs] = await Promise.all([
      api.list("vms", signal, byIds(wanted)),
      networkIds && api.list("vifs", signal, byVms(wanted)),
    ]);
    const surroundings = withDevices(this.#surroundings, vifs);
    const instances = new Map<string, Instance>();
    const shown = vms.objects.filter(({ id }) => ids.has(id));
    this.memory.migrations.noteSome(shown, atMs);
    for (const vm of shown) {
      const isMoving = this.memory.migrations.isMoving(vm.id, atMs);
      if (isMoving) this.memory.runs.noteMigrating([vm.id], atMs);
      this.memory.stays.noteRead(vm.id, { poolId: vm.$pool, isMoving, atMs });
      // Its pool or host was missing at the last refresh. The next refresh shows them.
      if (!isPlaceKnown(vm, surroundings)) continue;
      const instance = toInstance(vm, surroundings, settings);
      const listed = this.#last?.instances.get(vm.id)?.region;
      const before = this.memory.lastSeen.findPlace(vm.id) ?? listed;
      // Its old pool may have been lost since the last refresh. The next refresh shows that.
      if (mayBeCopy(instance, before)) continue;
      this.memory.runs.noteRead(instance);
      // The next list may lack it, although its old pool answers.
      if (before !== undefined && before !== vm.$pool) {
        this.memory.lastSeen.note(vm.id, vm.$pool);
      }
      instances.set(vm.id, instance);
    }
    return instances;
  }

  async readInstance(
    inventory: Inventory,
    node: NodeIdentity,
    signal: AbortSignal,
    { mayPartsBeLost = false }: ReadOptions = {},
  ): Promise<Presence> {
    const identity = parseIdentity(node);
    const refusal = this.scope.refuse(identity, inventory);
    if (refusal) return refusal;
    if (identity.kind === "other") return identity.presence;
    try {
      const known = { inventory, surroundings: this.#surroundings, mayPartsBeLost };
      const presence = await this.#reads.read(identity, known, signal);
      return this.scope.place(identity, presence, inventory);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof CloudError) return toUnknown(error.kind, error.message);
      throw error;
    }
  }

  async #list(ids: readonly string[] | undefined, signal: AbortSignal) {
    try {
      return await this.#lister.list(ids, signal);
    } catch (error) {
      this.memory.stays.noteFailure();
      throw error;
    }
  }

  #take({ vms, surroundings }: Listing, asked: Asked): Inventory {
    const { settings } = this.#options;
    const inventory = toInventory(vms, surroundings, {
      settings,
      known: this.memory.knownPools,
      ...asked,
    });
    this.#learn(surroundings, inventory);
    // All VMs were asked for with the fields that machines need.
    if (this.#followed) this.#followedVms = vms.objects.filter(this.#followed.isOurs);
    this.memory.migrations.note(vms.objects, asked.observedAtMs);
    return inventory;
  }

  /** Returns the last inventory with a new time and other requested Nodes. */
  #repeatLast(asked: Asked): Inventory {
    assert(this.#last !== undefined, "the first list cannot be unchanged");
    const { instances, coverage, undecodable } = this.#last;
    this.memory.migrations.noteUnchanged(asked.observedAtMs, instances);
    return { instances, coverage, undecodable, ...asked };
  }

  #learn(surroundings: Surroundings, inventory: Inventory): void {
    const { log, settings } = this.#options;
    for (const [id, { complete, name, reason }] of inventory.coverage) {
      const before = this.#shownPools.has(id);
      if (!complete && before && !surroundings.pools.has(id)) {
        log.warn("Xen Orchestra no longer shows a pool", { poolId: id, poolName: name, reason });
      }
      if (complete && !before)
        log.info("Xen Orchestra shows a pool", { poolId: id, poolName: name });
    }
    const { network } = settings.addresses;
    const isNew = this.#surroundings.networkIds?.size !== 0;
    if (surroundings.networkIds?.size === 0 && isNew) {
      log.warn("No network has the name or UUID of addresses.network", { network });
    }
    for (const { id, name_label } of surroundings.pools.values()) {
      this.memory.rememberPool(id, name_label ?? id);
      this.memory.connections.noteExists(id);
    }
    this.#unfitEntries.log(surroundings);
    this.#surroundings = surroundings;
    this.#shownPools = new Set(surroundings.pools.keys());
  }
}
