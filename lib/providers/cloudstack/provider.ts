/**
 * Apache CloudStack as a provider, with one set of settings: finds the VMs of Nodes, and remembers what it saw.
 * @module
 */
import { CloudError } from "../../cloud/errors.ts";
import type { Inspection } from "../../cloud/inspection.ts";
import { type Inventory, LastSeen } from "../../cloud/inventory/inventory.ts";
import type { Instance, NodeIdentity, Place } from "../../cloud/instance.ts";
import { type Presence, type Provider, toUnknown } from "../../cloud/provider.ts";
import { abortable, type Clock } from "../../core/clock.ts";
import { assert } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { inspectCloudStack } from "./inspection/inspect.ts";
import { CloudStackLoadBalancers } from "./load_balancers/load_balancers.ts";
import type { ObservationStore } from "./load_balancers/store.ts";
import {
  type Backends,
  chooseByName,
  findInstance,
  findNamed,
  toBackends,
  toUndecodable,
} from "./model/matching.ts";
import {
  type CloudStackInventory,
  findOwner,
  type Identity,
  isGone,
  isNetworkMissing,
  NETWORK_ADVICE,
  parseIdentity,
  parseProviderId,
  renewInventory,
  toAskedFor,
  toInstance,
  toInventory,
  toNoNetwork,
  toUnreadableNames,
} from "./model/inventory.ts";
import { toPlaces } from "./model/places.ts";
import { proveAbsence, proveNeverKnown, toElsewhere, toGone } from "./proof/absence.ts";
import { Facts } from "./session/facts.ts";
import type { ListVersion, ObjectList } from "./session/lists.ts";
import type { CloudStackSession } from "./session/session.ts";
import type { CloudStackSettings } from "./settings/config.ts";
import { CloudStackApi } from "./wire/api.ts";
import { type Vm } from "./wire/schema.ts";
import { remember } from "../../core/maps.ts";

/** What the next provider gets. */
export interface CloudStackHandover {
  readonly settings: CloudStackSettings;
  readonly session: CloudStackSession;
  /** For the same user. */
  readonly memory: Memory;
  /** For the same project. */
  readonly store: ObservationStore;
}

/** The dependencies of a {@linkcode CloudStackProvider}. */
interface CloudStackOptions extends CloudStackHandover {
  readonly clock: Clock;
  readonly log: Logger;
}

const ADDRESSES: ReadonlySet<"addresses" | "zone"> = new Set(["addresses"]);
const NOTHING: ReadonlySet<"addresses" | "zone"> = new Set();

/** Implements {@linkcode Provider}. */
export class CloudStackProvider implements Provider {
  readonly name = "external-cloudstack";
  /** A guest may use addresses that CloudStack does not give out, such as secondary ones. */
  readonly providedNodeIps = "trusted";
  readonly handover: CloudStackHandover;
  readonly loadBalancers: CloudStackLoadBalancers;
  readonly settings: CloudStackSettings;
  readonly memory: Memory;
  readonly facts: Facts;
  readonly #api: CloudStackApi;
  readonly #clock: Clock;
  readonly #log: Logger;
  #last: Inventory | undefined;
  #hasWarned = false;
  /** The last whole list, and what became of it. */
  #known: { readonly version: ListVersion; readonly inventory: CloudStackInventory } | undefined;
  /** The newest list that is still read. */
  #running: { readonly observedAtMs: number; readonly done: Promise<Inventory> } | undefined;

  constructor(options: CloudStackOptions) {
    const { session, settings, clock, log, memory, store } = options;
    this.handover = { settings, session, memory, store };
    this.settings = settings;
    this.memory = memory;
    this.#api = new CloudStackApi(session);
    this.#clock = clock;
    this.#log = log;
    this.facts = new Facts(session, settings);
    this.loadBalancers = new CloudStackLoadBalancers({ session, clock, source: this, store });
  }

  get unmanaged(): ReadonlySet<"addresses" | "zone"> {
    return this.settings.leavesAddresses ? ADDRESSES : NOTHING;
  }

  get refreshIntervalMs(): number {
    return this.settings.refreshIntervalMs;
  }

  async listInventory(interest: readonly NodeIdentity[], signal: AbortSignal): Promise<Inventory> {
    const identities = interest.map(parseIdentity);
    const list = await this.#list(signal);
    const inventory = { ...list, askedFor: toAskedFor(identities) };
    this.#warnOfNetwork(inventory);
    this.#last = inventory;
    this.memory.noteInventory(inventory, toVmIds(identities, inventory));
    return inventory;
  }

  findInstance(inventory: Inventory, node: NodeIdentity): Presence {
    return findInstance(inventory, parseIdentity(node));
  }

  /**
   * The VMs of a list, for load balancers. Asks only if the last list is older, and none is read now that will do. An
   * inventory never waits for another list: it is for Nodes that may be newer than that.
   *
   * @param sinceMs Since when the list must have been requested, in monotonic milliseconds
   * @throws {CloudError} when CloudStack does not answer
   */
  async readBackends(sinceMs: number, signal: AbortSignal): Promise<Backends> {
    this.memory.followBackends();
    const isEnough = (this.memory.backends?.observedAtMs ?? -Infinity) >= sinceMs;
    if (!isEnough || this.memory.lacksBackends) await this.#joinList(sinceMs, signal);
    const { backends } = this.memory;
    assert(backends !== undefined, "a list that is followed gives backends");
    return backends;
  }

  async readInstance(
    _inventory: Inventory,
    node: NodeIdentity,
    signal: AbortSignal,
  ): Promise<Presence> {
    const identity = parseIdentity(node);
    try {
      if (identity.kind === "other") return identity.presence;
      if (identity.kind === "name") return await this.#readByName(identity, signal);
      return await this.#readById(identity.vmId, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof CloudError) return toUnknown(error.kind, error.message);
      throw error;
    }
  }

  /** By names, Nodes count as registered before the inventory. */
  inspect(signal: AbortSignal): Promise<Inspection> {
    const { settings } = this;
    return inspectCloudStack({ settings, listInventory: this.#list.bind(this) }, signal);
  }

  toInstanceId(providerId: string): string | undefined {
    const parsed = parseProviderId(providerId);
    return parsed.kind === "ours" ? parsed.vmId : undefined;
  }

  /** Its web page is beside its API. */
  toPage({ id }: Pick<Instance, "id">): string {
    return `${this.settings.url.replace(/\/client\/api.*$/, "/client")}/#/vm/${encodeURIComponent(id)}`;
  }

  toPlaces(
    instance: Instance | undefined,
    labels: Readonly<Record<string, string>>,
  ): readonly Place[] {
    return toPlaces(instance, labels);
  }

  async #readById(vmId: string, signal: AbortSignal): Promise<Presence> {
    const { memory, settings } = this;
    let wanted: string | undefined;
    const reading = await this.facts.inProject((projectId) => {
      wanted = projectId;
      return this.#api.readVm(vmId, projectId, signal);
    }, signal);
    if (reading.kind === "undecodable") return toUndecodable(vmId, reading.problem);
    if (reading.kind === "found") {
      const { vm } = reading;
      if (isGone(vm.state)) return toGone(vmId, vm.state);
      // To an administrator the server also shows it by its ID in a project that the lists leave out.
      if (vm.projectid && vm.projectid.toLowerCase() !== wanted) {
        return toElsewhere(vmId, vm.projectid);
      }
      return { kind: "present", instance: toInstance(vm, settings), matchedBy: "providerId" };
    }
    const wasRemoved = memory.wasRemoved(vmId);
    if (reading.kind === "empty") memory.noteRemoved(vmId);
    const question = {
      vmId,
      owner: memory.findOwner(vmId),
      wasRemoved,
      nodeVmIds: memory.nodeVmIds,
      trustsEmptyAnswer: settings.trustsEmptyAnswer,
    };
    const api = {
      readVmAnywhere: this.#api.readVmAnywhere.bind(this.#api),
      list: this.#list.bind(this),
    };
    const prove = reading.kind === "neverKnown" ? proveNeverKnown : proveAbsence;
    return await prove(api, question, signal);
  }

  /** Old servers also list VMs whose names only contain it, so names are compared here, too. */
  async #readByName(
    identity: Extract<Identity, { kind: "name" }>,
    signal: AbortSignal,
  ): Promise<Presence> {
    const { short, ...rest } = identity;
    const { name } = rest;
    for (const wanted of short === undefined ? [name] : [name, short]) {
      const list = await this.facts.inProject(
        (projectId) => this.#api.listVmsByName(wanted, projectId, signal),
        signal,
      );
      const shown = list.objects.filter(({ state }) => !isGone(state));
      const instances = new Map(shown.map((vm) => [vm.id, toInstance(vm, this.settings)]));
      const asked = { ...rest, name: wanted };
      const found = chooseByName(findNamed(instances, asked), asked, {
        ...list,
        unreadableNames: toUnreadableNames(list),
      });
      if (found.kind !== "unknown" || found.reason !== "notListed") return found;
    }
    const tried = short === undefined ? `"${name}"` : `"${name}" or "${short}"`;
    const advice =
      "check project-id and the name of the VM, or start the kubelet with " +
      "--provider-id=external-cloudstack://<VM UUID>";
    return toUnknown(
      "notFound",
      `CloudStack shows this user no VM with the name ${tried}; ${advice}`,
    );
  }

  /** Once: the settings stay as they are. */
  #warnOfNetwork(inventory: Inventory): void {
    if (this.#hasWarned || !isNetworkMissing(inventory)) return;
    this.#hasWarned = true;
    const { network = "" } = this.settings.addresses;
    this.#log.warn(toNoNetwork(network), { advice: NETWORK_ADVICE });
  }

  /** Waits for the list that is read now, or reads one if that fails or does not give the VMs. */
  async #joinList(sinceMs: number, signal: AbortSignal): Promise<void> {
    const running = this.#running;
    if (running !== undefined && running.observedAtMs >= sinceMs) {
      const isRead = await abortable(running.done, signal).then(
        () => true,
        () => false,
      );
      signal.throwIfAborted();
      if (isRead && !this.memory.lacksBackends) return;
    }
    await this.#list(signal);
  }

  async #list(signal: AbortSignal): Promise<Inventory> {
    const observedAtMs = this.#clock.monotonic();
    const done = this.#readList(observedAtMs, signal);
    const running = { observedAtMs, done };
    this.#running = running;
    try {
      return await done;
    } finally {
      if (this.#running === running) this.#running = undefined;
    }
  }

  async #readList(observedAtMs: number, signal: AbortSignal): Promise<Inventory> {
    const known = this.memory.lacksBackends ? undefined : this.#known;
    const listed = await this.facts.inProject(
      (projectId) => this.#api.listVms(projectId, known?.version, signal),
      signal,
    );
    const { settings, memory } = this;
    const { zones } = memory;
    if (listed === "unchanged") {
      assert(known !== undefined, "a list is unchanged only if one is known");
      memory.renewList(observedAtMs);
      return renewInventory(known.inventory, { zones, observedAtMs });
    }
    const { list, version } = listed;
    memory.noteList(list, observedAtMs);
    const inventory = toInventory(list, { settings, zones, before: this.#last, observedAtMs });
    this.#known = version && { version, inventory };
    return inventory;
  }
}

/** The IDs of the Nodes' VMs, shown or not. */
function toVmIds(identities: readonly Identity[], inventory: Inventory): Set<string> {
  const ids = new Set<string>();
  for (const identity of identities) {
    if (identity.kind === "providerId") ids.add(identity.vmId);
    if (identity.kind !== "name") continue;
    const found = findInstance(inventory, identity);
    if (found.kind === "present") ids.add(found.instance.id);
  }
  return ids;
}

const ZONES_MAX = 256;
const VMS_MAX = 10_000;

/**
 * The memory of a provider. It keeps Nodes safe, because it knows what the server should show to this user. It says
 * nothing about another CloudStack, nor about what another user may see.
 */
export class Memory {
  readonly #zones = new Map<string, string>();
  readonly #lastSeen = new LastSeen(VMS_MAX, findOwner);
  readonly #removed = new Map<string, true>();
  #nodeVmIds: ReadonlySet<string> = new Set();
  #hasInventory = false;
  #followsBackends = false;
  #backends: Backends | undefined;

  /** Names of all zones that were ever shown, by ID. */
  get zones(): ReadonlyMap<string, string> {
    return this.#zones;
  }

  /** The VMs of the Nodes that the last inventory was for: those that it shows, and those that provider IDs name. */
  get nodeVmIds(): ReadonlySet<string> {
    return this.#nodeVmIds;
  }

  /** Whether an inventory was taken: before, the VMs of Nodes are not known. */
  get hasInventory(): boolean {
    return this.#hasInventory;
  }

  /** The VMs of the last list, for load balancers; `undefined` before a list that was followed. */
  get backends(): Backends | undefined {
    return this.#backends;
  }

  /** Whether a list is wanted with all its VMs, because {@linkcode backends} are not known yet. */
  get lacksBackends(): boolean {
    return this.#followsBackends && this.#backends === undefined;
  }

  /** Remembers {@linkcode backends} from the next list on. Without load balancers they would only cost memory. */
  followBackends(): void {
    this.#followsBackends = true;
  }

  /** Records a list of all VMs. @param observedAtMs When it was requested, in monotonic milliseconds */
  noteList(list: ObjectList<Vm>, observedAtMs: number): void {
    for (const { zoneid, zonename } of list.objects) {
      if (zoneid) remember(this.#zones, zoneid, zonename ?? zoneid, ZONES_MAX);
    }
    if (this.#followsBackends) this.#backends = toBackends(list, observedAtMs);
  }

  /** Records that the last list is still the same. */
  renewList(observedAtMs: number): void {
    if (this.#backends !== undefined) this.#backends = { ...this.#backends, observedAtMs };
  }

  /** Records an inventory. @param nodeVmIds The VMs of all Nodes, shown or not */
  noteInventory({ instances }: Inventory, nodeVmIds: ReadonlySet<string>): void {
    this.#nodeVmIds = nodeVmIds;
    this.#hasInventory = true;
    this.#lastSeen.noteList({ instances, lookedFor: nodeVmIds, copies: new Set() });
    for (const vmId of this.#removed.keys()) if (instances.has(vmId)) this.#removed.delete(vmId);
  }

  /** Records that the server knows the ID of a VM, but shows none. */
  noteRemoved(vmId: string): void {
    remember(this.#removed, vmId, true, VMS_MAX);
  }

  /** Whether the server knew the ID of a VM after it showed the VM for the last time. */
  wasRemoved(vmId: string): boolean {
    return this.#removed.has(vmId);
  }

  /** Whose a VM was when this process saw it; `undefined` if it never did. Such a VM may be any account's. */
  findOwner(vmId: string): string | undefined {
    return this.#lastSeen.findPlace(vmId);
  }
}
