/**
 * Xen Orchestra as a provider: one inventory for all Nodes, and direct questions for the few it lacks.
 * @module
 */
import { CloudError } from "../../cloud/errors.ts";
import type { Inspection } from "../../cloud/inspection.ts";
import type { Inventory } from "../../cloud/inventory.ts";
import type {
  ChangeHint,
  Instance,
  MatchedBy,
  NodeIdentity,
  Place,
  Presence,
  Provider,
} from "../../cloud/provider.ts";
import { assert } from "../../core/assert.ts";
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import { type AbsenceQuestion, proveAbsence } from "./absence.ts";
import { ORIGIN_LABELS } from "./labels.ts";
import { Lister, type Listing } from "./lister.ts";
import { byIds, byVms, FILTER_IDS_MAX, type XenOrchestraApi } from "./api.ts";
import type { XenOrchestraSettings } from "./config.ts";
import type { EventFeed } from "./events.ts";
import { toIdentity, toVmIds, type Identity, type IdentityByProviderId } from "./identity.ts";
import { inspectXenOrchestra } from "./inspect.ts";
import { isPlaceKnown, toInstance, toInventory, withDevices } from "./inventory.ts";
import type { Surroundings } from "./inventory.ts";
import { Memory } from "./memory.ts";
import { NamedPools } from "./named_pools.ts";
import { judgeUnlisted } from "./observation.ts";
import { toContradiction, toNotFound, toPresent, toUndecodable, toUnknown } from "./presence.ts";
import { PoolScope } from "./pool_scope.ts";
import { toPlaces } from "./places.ts";
import { parseProviderId } from "./provider_id.ts";

/** What a {@linkcode XenOrchestraProvider} is made of. */
export interface XenOrchestraOptions {
  readonly api: XenOrchestraApi;
  readonly events: Pick<EventFeed, "run">;
  readonly settings: XenOrchestraSettings;
  readonly clock: Clock;
  readonly log: Logger;
  /** What was known of the same Xen Orchestra under other settings. @default {nothing} */
  readonly memory?: Memory;
}

/** When an inventory was asked for, and for which VMs. */
type Asked = Pick<Inventory, "observedAtMs" | "lookedFor">;

/** See {@linkcode Provider}. */
export class XenOrchestraProvider implements Provider {
  readonly name = "xenorchestra";
  /** Guest tools often report nothing, or not everything. */
  readonly providedNodeIps = "trusted";
  readonly originLabels: Readonly<Record<string, string>> = ORIGIN_LABELS;
  readonly refreshIntervalMs: number;
  readonly #options: XenOrchestraOptions;
  readonly #lister: Lister;
  readonly #namedPools: NamedPools;
  #last: Inventory | undefined;
  #surroundings: Surroundings = { pools: new Map(), hosts: new Map() };
  /** Pools that the last inventory showed; before the first one those that were seen under other settings. */
  #shownPools: ReadonlySet<string>;
  readonly #memory: Memory;

  constructor(options: XenOrchestraOptions) {
    const { api, clock, settings } = options;
    this.#options = options;
    this.#memory = options.memory ?? new Memory();
    this.#shownPools = new Set(this.#memory.knownPools.keys());
    this.#namedPools = new NamedPools(new PoolScope(settings.pools), options.log);
    this.#lister = new Lister(api, clock, settings.addresses.network);
    this.refreshIntervalMs = options.settings.refreshIntervalMs;
  }

  async listInventory(interest: readonly NodeIdentity[], signal: AbortSignal): Promise<Inventory> {
    const { clock } = this.#options;
    const observedAtMs = clock.monotonic();
    const identities = interest.map(toIdentity);
    const lookedFor = toVmIds(identities);
    const isFew = lookedFor.size > 0 && lookedFor.size <= FILTER_IDS_MAX;
    // In one order, whatever that of the Nodes: the same question gets the same answer.
    const listing = await this.#lister.list(isFew ? [...lookedFor].sort() : undefined, signal);
    const asked = { observedAtMs, ...(interest.length > 0 && { lookedFor }) };
    const inventory = listing ? this.#take(listing, asked) : this.#takeAgain(asked);
    this.#last = inventory;
    this.#memory.lastSeen.noteList({ instances: inventory.instances, lookedFor });
    return this.#namedPools.addTo(inventory, identities);
  }

  watchChanges(onHint: (hint: ChangeHint) => void, signal: AbortSignal): Promise<void> {
    return this.#options.events.run(onHint, signal);
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
    this.#memory.migrations.noteSome(shown, atMs);
    for (const vm of shown) {
      // Where it is now was not there at the last refresh: that takes the next one.
      if (!isPlaceKnown(vm, surroundings)) continue;
      const before = this.#last?.instances.get(vm.id)?.region ?? vm.$pool;
      // The next list may lack it, and its old pool be well.
      if (before !== vm.$pool) this.#memory.lastSeen.note(vm.id, vm.$pool);
      instances.set(vm.id, toInstance(vm, surroundings, settings));
    }
    return instances;
  }

  inspect(signal: AbortSignal): Promise<Inspection> {
    const listInventory = (both: AbortSignal): Promise<Inventory> => this.listInventory([], both);
    return inspectXenOrchestra({ ...this.#options, listInventory }, signal);
  }

  findInstance(inventory: Inventory, node: NodeIdentity): Presence {
    const identity = toIdentity(node);
    if (identity.kind === "other") return identity.presence;
    const id = identity.kind === "providerId" ? identity.vmId : identity.direct;
    const other =
      identity.kind === "providerId" &&
      identity.reported?.find((reported) => inventory.instances.has(reported));
    if (other) return toContradiction(id, other);
    const listed = inventory.instances.get(id);
    if (listed) return toPresent(listed, identity.kind);
    const problem = inventory.undecodable.get(id);
    if (problem !== undefined) return toUndecodable(id, problem);
    if (identity.kind === "providerId") return judgeUnlisted(this.#toQuestion(inventory, identity));
    const swapped = inventory.instances.get(identity.swapped);
    if (swapped && this.#memory.isNoVm(id)) return toPresent(swapped, "swappedSystemUuid");
    const message = swapped
      ? `No VM ${id} is listed, but one with the bytes of a UEFI guest is (${identity.swapped}); still to be confirmed`
      : `No VM with the system UUID ${id} is listed`;
    return toUnknown("notListed", message);
  }

  async readInstance(
    inventory: Inventory,
    node: NodeIdentity,
    signal: AbortSignal,
  ): Promise<Presence> {
    const identity = toIdentity(node);
    if (identity.kind === "other") return identity.presence;
    try {
      return identity.kind === "providerId"
        ? await this.#readByProviderId(inventory, identity, signal)
        : await this.#readBySystemUuid(inventory, identity, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof CloudError) return toUnknown(error.kind, error.message);
      throw error;
    }
  }

  toInstanceId(providerId: string): string | undefined {
    const parsed = parseProviderId(providerId);
    return parsed.kind === "ours" ? parsed.vmId : undefined;
  }

  toPlaces(
    instance: Instance | undefined,
    labels: Readonly<Record<string, string>>,
  ): readonly Place[] {
    return toPlaces(instance, labels);
  }

  async #readByProviderId(
    inventory: Inventory,
    identity: IdentityByProviderId,
    signal: AbortSignal,
  ): Promise<Presence> {
    const read = await this.#readVm(identity.vmId, "providerId", signal);
    if (read !== "missing") {
      const region = read.kind === "present" ? read.instance.region : undefined;
      if (region !== undefined) this.#memory.lastSeen.note(identity.vmId, region);
      return read;
    }
    for (const other of identity.reported ?? []) {
      const reported = await this.#readVm(other, "systemUuid", signal);
      if (reported !== "missing") return toContradiction(identity.vmId, other);
    }
    return await proveAbsence(this.#options.api, this.#toQuestion(inventory, identity), signal);
  }

  async #readBySystemUuid(
    inventory: Inventory,
    { direct, swapped }: Identity & { kind: "systemUuid" },
    signal: AbortSignal,
  ): Promise<Presence> {
    const read = await this.#readVm(direct, "systemUuid", signal);
    if (read !== "missing") {
      this.#memory.rememberNoVm(direct, false);
      return read;
    }
    this.#memory.rememberNoVm(direct, true);
    const listed = inventory.instances.get(swapped);
    if (listed) return toPresent(listed, "swappedSystemUuid");
    const second = await this.#readVm(swapped, "swappedSystemUuid", signal);
    return second === "missing" ? toNotFound(inventory, direct, swapped) : second;
  }

  async #readVm(
    id: string,
    matchedBy: MatchedBy,
    signal: AbortSignal,
  ): Promise<Presence | "missing"> {
    const { api, settings } = this.#options;
    const reply = await api.readVm(id, signal);
    if (reply.kind === "missing") return "missing";
    if (reply.kind === "undecodable") return toUndecodable(id, reply.problem);
    const { networkIds } = this.#surroundings;
    const vifs = networkIds && (await api.list("vifs", signal, byVms([id])));
    const surroundings = withDevices(this.#surroundings, vifs);
    return toPresent(toInstance(reply.value, surroundings, settings), matchedBy);
  }

  #take({ vms, surroundings }: Listing, asked: Asked): Inventory {
    const { settings } = this.#options;
    const inventory = toInventory(vms, surroundings, {
      settings,
      known: this.#memory.knownPools,
      ...asked,
    });
    this.#learn(surroundings, inventory);
    this.#memory.migrations.note(vms.objects, asked.observedAtMs);
    return inventory;
  }

  /** Nothing changed: only the time is another, and for whom it was asked. */
  #takeAgain(asked: Asked): Inventory {
    assert(this.#last !== undefined, "nothing can be unchanged before the first list");
    const { instances, coverage, undecodable } = this.#last;
    this.#memory.migrations.noteUnchanged(asked.observedAtMs, instances);
    return { instances, coverage, undecodable, ...asked };
  }

  #learn(surroundings: Surroundings, inventory: Inventory): void {
    const { log, settings } = this.#options;
    for (const [id, { complete, name, reason }] of inventory.coverage) {
      const before = this.#shownPools.has(id);
      if (!complete && before && !surroundings.pools.has(id)) {
        log.warn("Xen Orchestra lost a pool", { poolId: id, poolName: name, reason });
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
      this.#memory.rememberPool(id, name_label ?? id);
    }
    this.#surroundings = surroundings;
    this.#shownPools = new Set(surroundings.pools.keys());
  }

  #toQuestion(inventory: Inventory, identity: IdentityByProviderId): AbsenceQuestion {
    const { vmId } = identity;
    const isMoving = this.#memory.migrations.isMoving(vmId, inventory.observedAtMs);
    const isSeen = this.#memory.lastSeen.findPool(vmId) !== undefined;
    return { vmId, poolIds: this.#toPools(identity), inventory, isMoving, isSeen };
  }

  /**
   * Pools that may hold a VM that is not shown: the one of its provider ID, and where it was last seen. None without a
   * pool in the provider ID: a label alone, which anybody may write, must not say where to look.
   */
  #toPools({ vmId, poolId, labelledPoolId }: IdentityByProviderId): string[] {
    if (poolId === undefined) return [];
    const all = [poolId, this.#memory.lastSeen.findPool(vmId), labelledPoolId];
    return [...new Set(all.filter((one) => one !== undefined))];
  }
}
