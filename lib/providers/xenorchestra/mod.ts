/**
 * The provider for Xen Orchestra, which manages pools of XCP-ng and XenServer hosts: its definition, and the provider
 * with one set of settings, which finds the VMs of Nodes.
 * @module
 */
import type { Machines } from "../../cloud/capabilities/machines.ts";
import type { ProvenOff } from "../../cloud/capabilities/proven_off.ts";
import { CloudError } from "../../cloud/errors.ts";
import type { Inspection } from "../../cloud/inspection.ts";
import type { Instance, NodeIdentity } from "../../cloud/instance.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import {
  type ChangeHint,
  type Changes,
  type Presence,
  type Provider,
  type ReadOptions,
  toUnknown,
} from "../../cloud/provider.ts";
import {
  compareSettings,
  type ProviderDefinition,
  type ProviderDeps,
} from "../../cloud/provider_definition.ts";
import type { ChangeFeed } from "../../cloud_http/change_feed.ts";
import { assert } from "../../core/errors.ts";
import {
  byIds,
  byVms,
  createEventFeed,
  FILTER_IDS_MAX,
  type Vm,
  XenOrchestraApi,
} from "./client.ts";
import { parseIdentity, parseProviderId, toVmIds } from "./identity.ts";
import { inspectXenOrchestra } from "./inspect.ts";
import {
  type Followed,
  isPlaceKnown,
  type LastListing,
  Lister,
  type Listing,
  type Surroundings,
  toInstance,
  toInventory,
  withDevices,
  withoutPools,
} from "./inventory.ts";
import {
  createEntryLog,
  LABEL_DESCRIPTIONS,
  LABEL_KEYS,
  ORIGIN_LABELS,
  toPlaces,
} from "./labels.ts";
import type { Observation as MachinesObservation } from "./machines/observe/observation.ts";
import type { MachinesOptions, XenOrchestraMachines } from "./machines/machines.ts";
import type { Step } from "./machines/steps.ts";
import { Memory } from "./memory.ts";
import { PoolScope } from "./pools.ts";
import { isShownOff, readPower } from "./power.ts";
import { listDoubtful, mayBeCopy, VmFinder, withLosses } from "./presence.ts";
import { Session } from "./session/session.ts";
import { inspectToken, TokenWatch } from "./session/tokens.ts";
import {
  INSTANCE_SETTINGS,
  parseXenOrchestraConfig,
  SETTINGS,
  toUnmanaged,
  type XenOrchestraSettings,
} from "./settings.ts";

/** The settings on which no request depends. */
const LOCAL = [...INSTANCE_SETTINGS, "pools", "refreshIntervalMs"] as const;

/** The provider `xenorchestra`. */
export const xenOrchestra: ProviderDefinition<XenOrchestraSettings, XenOrchestraHandover> = {
  name: "xenorchestra",
  docs: {
    title: "Xen Orchestra",
    topology: {
      instanceType: "`4vCPU-8GB`, or the value of a tag of the VM",
      zone: "UUID of the host, or another value by `zoneLabelFrom`",
      region: "UUID of the pool",
    },
    labels: LABEL_DESCRIPTIONS,
    providerId: {
      form: "xenorchestra://<pool UUID>/<VM UUID>",
      meaning:
        "The VM, and the pool where Landfall first found it. The ID does not change when the VM moves.",
    },
    example: { url: "https://xo.example.org", token: "none" },
  },
  /** The Secret of the Go controller and of the CSI driver. */
  install: {
    other: "Go controller for Xen Orchestra",
    lease: "cloud-controller-manager-xenorchestra",
    secret: "xenorchestra-cloud-controller-manager",
    example: "url: https://xo.example.com\ntoken: REPLACE-ME\n",
    variable: "XOA_URL",
  },
  loadRoles: async () => [(await import("./machines/privileges.ts")).MACHINES_ROLE],
  settings: SETTINGS,
  parseConfig: parseXenOrchestraConfig,
  compare: (before, after) => compareSettings(before, after, LOCAL),
  create(settings, deps, before) {
    const { change = "otherCloud", from } = before ?? {};
    // It protects Nodes, because it knows what the server should show.
    const memory = from === undefined || change === "otherCloud" ? new Memory() : from.memory;
    const isSameUser = from !== undefined && change === "sameUser";
    const connection = isSameUser ? from.connection : connect(settings, deps);
    // Another user may see less, so counts of what a list lacks start again.
    if (!isSameUser) memory.pools.noteOtherUser();
    return new XenOrchestraProvider(settings, deps, { memory, connection });
  },
};

/** Creates what depends on the server and the user. */
function connect(settings: XenOrchestraSettings, deps: ProviderDeps): Connection {
  const session = new Session(settings, deps);
  const api = new XenOrchestraApi(session, deps.metrics);
  return {
    session,
    api,
    events: createEventFeed({ ...deps, session }),
    tokenWatch: new TokenWatch({ ...deps, session }),
  };
}

/** See {@linkcode connect}. */
interface Connection {
  readonly session: Session;
  readonly api: XenOrchestraApi;
  readonly events: Pick<ChangeFeed, "run">;
  readonly tokenWatch: Pick<TokenWatch, "look">;
}

/** What the next provider gets. */
interface XenOrchestraHandover {
  /** Stays true for the same server. */
  readonly memory: Memory;
  /** Stays the same for the same server and user. */
  readonly connection: Connection;
}

/** Time of the request for an inventory, and its VMs. */
type Asked = Pick<Inventory, "observedAtMs" | "lookedFor">;

/** Implements {@linkcode Provider}. */
class XenOrchestraProvider implements Provider, Changes {
  readonly name = "xenorchestra";
  /** Guest tools often report no addresses, or not all. */
  readonly providedNodeIps = "trusted";
  readonly originLabels: Readonly<Record<string, string>> = ORIGIN_LABELS;
  readonly labelKeys: ReadonlySet<string> = LABEL_KEYS;
  readonly refreshIntervalMs: number;
  readonly unmanaged: ReadonlySet<"addresses" | "zone">;
  readonly handover: XenOrchestraHandover;
  readonly changes: Changes = this;
  readonly toPlaces: NonNullable<Provider["toPlaces"]> = toPlaces;
  readonly toPage = ({ id }: Pick<Instance, "id">): string =>
    `${this.#settings.url.replace(/\/+$/, "")}/#/vms/${encodeURIComponent(id)}/general`;
  readonly provenOff: ProvenOff;
  readonly machines: LazyMachines;
  readonly #settings: XenOrchestraSettings;
  readonly #deps: Pick<ProviderDeps, "clock" | "log">;
  readonly #api: XenOrchestraApi;
  readonly #memory: Memory;
  /** The pools whose Nodes are ours. */
  readonly #scope: PoolScope;
  readonly #lister: Lister;
  readonly #finder: VmFinder;
  readonly #logEntries: ReturnType<typeof createEntryLog>;
  #last: Inventory | undefined;
  #surroundings: Surroundings = { pools: new Map(), hosts: new Map() };
  /** Pools in the last inventory; before the first inventory, those seen under other settings. */
  #shownPools: ReadonlySet<string>;
  /** What inventories show of machines; absent as long as no controller follows them. */
  #followed: Followed | undefined;
  #followedVms: readonly Vm[] | undefined;
  #shown: Inventory | undefined;

  constructor(
    settings: XenOrchestraSettings,
    deps: Pick<ProviderDeps, "clock" | "log">,
    handover: XenOrchestraHandover,
  ) {
    const { clock, log } = deps;
    const { memory, connection } = handover;
    const { api, session } = connection;
    this.#settings = settings;
    this.#deps = deps;
    this.#api = api;
    this.#memory = memory;
    this.handover = handover;
    this.refreshIntervalMs = settings.refreshIntervalMs;
    this.unmanaged = toUnmanaged(settings);
    this.#scope = new PoolScope(settings.pools, memory.pools.names, log);
    this.#lister = new Lister(api, clock, settings.addresses.network);
    this.#finder = new VmFinder({ api, settings, memory });
    this.#logEntries = createEntryLog(settings, log);
    this.#shownPools = new Set(memory.pools.names.keys());
    const power = { api, clock, memory, find: this.findInstance.bind(this) };
    this.provenOff = {
      prepare: () => memory.runs.follow(),
      isShownOff: (question) => isShownOff(question, power),
      readPower: (question, signal) => readPower(question, power, signal),
    };
    this.machines = createLazyMachines({
      api,
      session,
      clock,
      memory,
      settings,
      findListing: () => this.#findListing(),
      follow: (followed) => {
        this.#followed = followed;
        this.#lister.follow(followed);
      },
    });
    // A refused token is not sent again for a part of the interval.
    session.refreshIntervalMs = settings.refreshIntervalMs;
  }

  async listInventory(interest: readonly NodeIdentity[], signal: AbortSignal): Promise<Inventory> {
    await this.machines.whenFollowed();
    const inventory = await this.#takeInventory(interest, signal);
    void this.handover.connection.tokenWatch.look(this.#settings.credentials, signal);
    const look = { ...this.#deps, api: this.#api };
    void this.#memory.pools.look(inventory.coverage, look, signal);
    return inventory;
  }

  watchChanges(onHint: (hint: ChangeHint) => void, signal: AbortSignal): Promise<void> {
    return this.handover.connection.events.run(onHint, signal);
  }

  async readInstances(
    ids: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Instance>> {
    const settings = this.#settings;
    const api = this.#api;
    const { networkIds } = this.#surroundings;
    const atMs = this.#deps.clock.monotonic();
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
      const isMoving = this.#memory.migrations.isMoving(vm.id, atMs);
      this.#memory.stays.noteRead(vm.id, { poolId: vm.$pool, isMoving, atMs });
      // Its pool or host was missing at the last refresh. The next refresh shows them.
      if (!isPlaceKnown(vm, surroundings)) continue;
      const instance = toInstance(vm, surroundings, settings);
      const listed = this.#last?.instances.get(vm.id)?.region;
      const before = this.#memory.lastSeen.findPlace(vm.id) ?? listed;
      // Its old pool may have been lost since the last refresh. The next refresh shows that.
      if (mayBeCopy(instance, before)) continue;
      this.#memory.runs.noteRead(instance);
      // The next list may lack it, although its old pool answers.
      if (before !== undefined && before !== vm.$pool) {
        this.#memory.lastSeen.note(vm.id, vm.$pool);
      }
      instances.set(vm.id, instance);
    }
    return instances;
  }

  findInstance(inventory: Inventory, node: NodeIdentity): Presence {
    const identity = parseIdentity(node);
    if (identity.kind === "other") return identity.presence;
    const refusal = this.#scope.refuse(identity, inventory);
    return (
      refusal ?? this.#scope.place(identity, this.#finder.find(inventory, identity), inventory)
    );
  }

  async readInstance(
    inventory: Inventory,
    node: NodeIdentity,
    signal: AbortSignal,
    { mayPartsBeLost = false }: ReadOptions = {},
  ): Promise<Presence> {
    const identity = parseIdentity(node);
    if (identity.kind === "other") return identity.presence;
    const refusal = this.#scope.refuse(identity, inventory);
    if (refusal) return refusal;
    try {
      const known = { inventory, surroundings: this.#surroundings, mayPartsBeLost };
      const presence = await this.#finder.read(identity, known, signal);
      return this.#scope.place(identity, presence, inventory);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof CloudError) return toUnknown(error.kind, error.message);
      throw error;
    }
  }

  async inspect(signal: AbortSignal): Promise<Inspection> {
    const settings = this.#settings;
    const listAll = async (both: AbortSignal) => {
      const inventory = await this.#takeInventory([], both);
      return { inventory, surroundings: this.#surroundings };
    };
    const inspection = await inspectXenOrchestra({ api: this.#api, settings, listAll }, signal);
    if (inspection.findings.some(({ level }) => level === "failure")) return inspection;
    const at = { nowMs: this.#deps.clock.now(), signal };
    const found = await inspectToken(this.handover.connection.session, settings.credentials, at);
    return { ...inspection, findings: [...inspection.findings, ...found] };
  }

  toInstanceId(providerId: string): string | undefined {
    const parsed = parseProviderId(providerId);
    return parsed.kind === "ours" ? parsed.vmId : undefined;
  }

  /** `undefined` before the first inventory that shows machines. */
  #findListing(): LastListing | undefined {
    const vms = this.#followedVms;
    const inventory = this.#shown;
    if (vms === undefined || inventory === undefined) return undefined;
    return { inventory, vms, surroundings: this.#surroundings };
  }

  async #takeInventory(interest: readonly NodeIdentity[], signal: AbortSignal): Promise<Inventory> {
    const { clock } = this.#deps;
    const observedAtMs = clock.monotonic();
    const identities = interest.map(parseIdentity);
    const lookedFor = toVmIds(identities);
    const isFew = lookedFor.size > 0 && lookedFor.size <= FILTER_IDS_MAX;
    // Always in the same order, so that equal requests have equal URLs.
    const listing = await this.#list(isFew ? [...lookedFor].sort() : undefined, signal);
    const asked = { observedAtMs, ...(interest.length > 0 && { lookedFor }) };
    this.#last = listing ? this.#take(listing, asked) : this.#repeatLast(asked);
    const { instances } = this.#last;
    const { suspects, halted } = listDoubtful(identities, instances, this.#memory);
    const toAsk = { inventory: this.#last, poolIds: new Set(suspects.values()) };
    const inventory = await withLosses(this.#api, toAsk, signal);
    const isLost = ([, poolId]: readonly [string, string]): boolean =>
      inventory.coverage.get(poolId)?.complete !== true;
    const lost = [...suspects].filter(isLost).map(([vmId]) => vmId);
    const copies = new Set([...lost, ...halted]);
    this.#memory.noteInventory(inventory, { copies, answeredMs: clock.monotonic() });
    const whole = this.#scope.addNamed(inventory, identities);
    // A pool that was removed for good is no longer part of the cloud, even if a Node names it.
    this.#shown = { ...whole, coverage: withoutPools(whole.coverage, this.#memory.pools.removed) };
    return this.#shown;
  }

  async #list(ids: readonly string[] | undefined, signal: AbortSignal) {
    try {
      return await this.#lister.list(ids, signal);
    } catch (error) {
      this.#memory.stays.noteFailure();
      throw error;
    }
  }

  #take({ vms, surroundings }: Listing, asked: Asked): Inventory {
    const inventory = toInventory(vms, surroundings, {
      settings: this.#settings,
      known: this.#memory.pools.names,
      ...asked,
    });
    this.#learn(surroundings, inventory);
    // All VMs were asked for with the fields that machines need.
    if (this.#followed) this.#followedVms = vms.objects.filter(this.#followed.isOurs);
    this.#memory.migrations.note(vms.objects, asked.observedAtMs);
    return inventory;
  }

  /** Returns the last inventory with a new time and other requested Nodes. */
  #repeatLast(asked: Asked): Inventory {
    assert(this.#last !== undefined, "the first list cannot be unchanged");
    const { instances, coverage, undecodable } = this.#last;
    this.#memory.migrations.noteUnchanged(asked.observedAtMs, instances);
    return { instances, coverage, undecodable, ...asked };
  }

  #learn(surroundings: Surroundings, inventory: Inventory): void {
    const { log } = this.#deps;
    for (const [id, { complete, name, reason }] of inventory.coverage) {
      const before = this.#shownPools.has(id);
      if (!complete && before && !surroundings.pools.has(id)) {
        log.warn("Xen Orchestra no longer shows a pool", { poolId: id, poolName: name, reason });
      }
      if (complete && !before)
        log.info("Xen Orchestra shows a pool", { poolId: id, poolName: name });
    }
    const { network } = this.#settings.addresses;
    const isNew = this.#surroundings.networkIds?.size !== 0;
    if (surroundings.networkIds?.size === 0 && isNew) {
      log.warn("No network has the name or UUID of addresses.network", { network });
    }
    for (const { id, name_label } of surroundings.pools.values()) {
      this.#memory.pools.noteShown(id, name_label ?? id);
    }
    this.#logEntries(surroundings);
    this.#surroundings = surroundings;
    this.#shownPools = new Set(surroundings.pools.keys());
  }
}

/** What {@linkcode createLazyMachines} needs. */
interface LazyMachinesOptions extends Omit<MachinesOptions, "own"> {
  readonly memory: Pick<Memory, "ownChanges">;
  /** Makes inventories show machines. */
  readonly follow: (followed: Followed) => void;
}

/** See {@linkcode Machines}. */
interface LazyMachines extends Machines<MachinesObservation, Step> {
  /** Resolves when inventories show machines, if a controller follows them. */
  whenFollowed(): Promise<void>;
}

/** Creates machines whose code is loaded only when a controller follows them, or asks for them. */
function createLazyMachines(options: LazyMachinesOptions): LazyMachines {
  let loading: Promise<XenOrchestraMachines> | undefined;
  let loaded: XenOrchestraMachines | undefined;
  let following: Promise<void> | undefined;
  const load = (): Promise<XenOrchestraMachines> => {
    loading ??= loadMachines(options).then((machines) => (loaded = machines));
    return loading;
  };
  // Views and steps come only from what was loaded.
  const now = (): XenOrchestraMachines => {
    assert(loaded !== undefined, "a view of machines comes from loaded code");
    return loaded;
  };
  const follow = async (): Promise<void> => {
    const [{ FOLLOWED }] = await Promise.all([import("./machines/wire/objects.ts"), load()]);
    options.follow(FOLLOWED);
  };
  return {
    follow: () => void (following ??= follow()),
    whenFollowed: async () => await following,
    observe: async (question, signal) => await (await load()).observe(question, signal),
    plan: (view, spec, record) => now().plan(view, spec, record),
    planRemoval: (view, identity, record) => now().planRemoval(view, identity, record),
    apply: (step, context, signal) => now().apply(step, context, signal),
    mayGoOn: (error) => loaded?.mayGoOn(error) ?? false,
    inspect: async (use, signal) => await (await load()).inspect(use, signal),
    power: {
      read: async (id, signal) => await (await load()).power.read(id, signal),
      readName: async (id, signal) => await (await load()).power.readName(id, signal),
      readInterfaces: async (id, signal) => await (await load()).power.readInterfaces(id, signal),
      act: async (...asked) => await (await load()).power.act(...asked),
      setBootOrder: async (...asked) => await (await load()).power.setBootOrder(...asked),
      setFirmware: async (...asked) => await (await load()).power.setFirmware(...asked),
      media: {
        findStorage: async (...asked) => await (await load()).power.media.findStorage(...asked),
        listImages: async (...asked) => await (await load()).power.media.listImages(...asked),
        upload: async (...asked) => await (await load()).power.media.upload(...asked),
        deleteImage: async (...asked) => await (await load()).power.media.deleteImage(...asked),
        readDrive: async (...asked) => await (await load()).power.media.readDrive(...asked),
        insert: async (...asked) => await (await load()).power.media.insert(...asked),
        eject: async (...asked) => await (await load()).power.media.eject(...asked),
      },
    },
  };
}

async function loadMachines({
  memory,
  ...options
}: LazyMachinesOptions): Promise<XenOrchestraMachines> {
  const [{ XenOrchestraMachines: Loaded }, { OwnChanges }] = await Promise.all([
    import("./machines/machines.ts"),
    import("./machines/wire/own_changes.ts"),
  ]);
  const own = (memory.ownChanges ??= new OwnChanges(options.clock));
  return new Loaded({ ...options, own });
}
