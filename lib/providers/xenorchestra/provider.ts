/**
 * Xen Orchestra as a provider: finds the VMs of Nodes, with settings that may change while it runs.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Instance, NodeIdentity, Place } from "../../cloud/instance.ts";
import {
  type ChangeHint,
  type Changes,
  type Presence,
  type Provider,
  type ReadOptions,
  toUnknown,
} from "../../cloud/provider.ts";
import type { ProvenOff } from "../../cloud/capabilities/proven_off.ts";
import type { Inspection } from "../../cloud/inspection.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import type { Machines } from "../../cloud/capabilities/machines.ts";
import type { ChangeFeed } from "../../cloud_http/change_feed.ts";
import { Generations, TOO_EARLY } from "../../cloud_http/generations.ts";
import type { XenOrchestraSettings } from "./settings/config.ts";
import { inspectToken } from "./inspection/inspect_token.ts";
import { inspectXenOrchestra } from "./inspection/inspect.ts";
import { Generation, type GenerationOptions } from "./generation.ts";
import { LazyMachines } from "./lazy_machines.ts";
import { Memory } from "./memory.ts";
import { type Identity, parseIdentity } from "./model/identity.ts";
import { LABEL_KEYS, ORIGIN_LABELS } from "./model/labels.ts";
import { toPlaces } from "./model/places.ts";
import { toPresent, toUndecodable } from "./model/presence.ts";
import { parseProviderId } from "./model/provider_id.ts";
import { judgeUnlisted } from "./proof/observation.ts";
import { PowerProof } from "./proof/power.ts";
import { judgeShown, toQuestion } from "./proof/whereabouts.ts";
import type { Session } from "./session/session.ts";
import type { TokenWatch } from "./session/token_watch.ts";

/** The dependencies of a {@linkcode XenOrchestraProvider}. */
interface XenOrchestraOptions extends Omit<GenerationOptions, "memory"> {
  readonly events: Pick<ChangeFeed, "run">;
  readonly session: Pick<
    Session,
    "reconfigure" | "setRefreshInterval" | "get" | "post" | "change" | "callRpc" | "readToken"
  >;
  readonly tokenWatch: Pick<TokenWatch, "look">;
  /** Stops background work. */
  readonly signal: AbortSignal;
}

/**
 * Implements {@linkcode Provider}. A {@linkcode Generation} sends the requests. When the settings change, another one
 * replaces it.
 *
 * Guarantees: those of {@linkcode Generations}, so there is no direct answer before the first inventory with new
 * settings. The memory that protects Nodes stays for the same `url`, and starts empty for another one.
 */
export class XenOrchestraProvider implements Provider, Changes {
  readonly name = "xenorchestra";
  /** Guest tools often report no addresses, or not all. */
  readonly providedNodeIps = "trusted";
  readonly originLabels: Readonly<Record<string, string>> = ORIGIN_LABELS;
  readonly labelKeys: ReadonlySet<string> = LABEL_KEYS;
  readonly changes: Changes = this;
  readonly provenOff: ProvenOff;
  readonly machines: Machines;
  readonly #lazyMachines: LazyMachines;
  readonly #options: XenOrchestraOptions;
  readonly #generations: Generations<Generation>;
  /** Whether to remember where VMs run: a controller asks for it. */
  #followsRuns = false;

  constructor(options: XenOrchestraOptions) {
    this.#options = options;
    this.#generations = new Generations((abandoned) =>
      this.#createGeneration(options.settings, new Memory(), abandoned),
    );
    this.provenOff = new PowerProof({
      ...options,
      find: this.findInstance.bind(this),
      findRuns: () => this.#now.memory.runs,
      followRuns: () => {
        this.#followsRuns = true;
        this.#now.memory.runs.follow();
      },
      askOnce: (work, signal) => this.#generations.askOnce(work, signal),
    });
    this.#lazyMachines = new LazyMachines({
      ...options,
      findListing: () => this.#now.findListing(),
      follow: (followed) => this.#now.follow(followed),
    });
    this.machines = this.#lazyMachines;
  }

  get unmanaged(): ReadonlySet<"addresses" | "zone"> {
    return this.#now.unmanaged;
  }

  get refreshIntervalMs(): number {
    return this.#now.settings.refreshIntervalMs;
  }

  /**
   * Uses new settings from now on.
   *
   * @throws {ConfigError} if a file that they name cannot be used; the old settings stay in use
   * @returns Whether `url` is the same as before
   */
  reconfigure(settings: XenOrchestraSettings): "sameCloud" | "otherCloud" {
    const { settings: old, memory } = this.#now;
    const isSame = isDeepStrictEqual(toConnection(settings), toConnection(old));
    const { session } = this.#options;
    if (isSame) session.setRefreshInterval(settings.refreshIntervalMs);
    else session.reconfigure(settings);
    const isSameCloud = settings.url === old.url;
    const nextMemory = isSameCloud ? memory : new Memory();
    if (this.#followsRuns) nextMemory.runs.follow();
    this.#generations.replace(
      (abandoned) => this.#createGeneration(settings, nextMemory, abandoned),
      !isSame,
    );
    this.#lazyMachines.followAgain();
    // Another user may see less, so counts of what a list lacks start again.
    if (!isSame) memory.connections.noteOtherUser();
    return isSameCloud ? "sameCloud" : "otherCloud";
  }

  async listInventory(interest: readonly NodeIdentity[], signal: AbortSignal): Promise<Inventory> {
    await this.#lazyMachines.whenFollowed();
    const { answer: inventory, by } = await this.#generations.ask(
      (asked, both) => asked.listInventory(interest, both),
      signal,
    );
    void this.#options.tokenWatch.look(by.settings.credentials, this.#options.signal);
    void by.connections.look(inventory.coverage);
    return inventory;
  }

  async readInstances(
    ids: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Instance>> {
    const shown = await this.#generations.askOnce(
      (asked, both) => asked.readInstances(ids, both),
      signal,
    );
    return shown ?? new Map();
  }

  watchChanges(onHint: (hint: ChangeHint) => void, signal: AbortSignal): Promise<void> {
    return this.#generations.follow(
      (_asked, both) => this.#options.events.run(onHint, both),
      signal,
    );
  }

  findInstance(inventory: Inventory, node: NodeIdentity): Presence {
    const { scope } = this.#now;
    const identity = parseIdentity(node);
    const refusal = scope.refuse(identity, inventory);
    return refusal ?? scope.place(identity, this.#find(inventory, identity), inventory);
  }

  async readInstance(
    inventory: Inventory,
    node: NodeIdentity,
    signal: AbortSignal,
    options?: ReadOptions,
  ): Promise<Presence> {
    // Must reject only if the caller's own signal aborts.
    const presence = await this.#generations.askOnce(
      (asked) => asked.readInstance(inventory, node, signal, options),
      signal,
    );
    return presence ?? toUnknown("noInventory", TOO_EARLY);
  }

  async inspect(signal: AbortSignal): Promise<Inspection> {
    const now = this.#now;
    const { api, session, clock } = this.#options;
    const { settings } = now;
    const listInventory = (both: AbortSignal): Promise<Inventory> => now.listInventory([], both);
    const inspection = await inspectXenOrchestra({ api, settings, listInventory }, signal);
    if (inspection.findings.some(({ level }) => level === "failure")) return inspection;
    const at = { nowMs: clock.now(), signal };
    const found = await inspectToken(session, settings.credentials, at);
    return { ...inspection, findings: [...inspection.findings, ...found] };
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

  /** Finds the VM, whether or not the Node is ours. */
  #find(inventory: Inventory, identity: Identity): Presence {
    const { memory } = this.#now;
    if (identity.kind === "other") return identity.presence;
    const id = identity.kind === "providerId" ? identity.vmId : identity.direct;
    const listed = inventory.instances.get(id);
    const { coverage } = inventory;
    const known = { coverage, memory };
    if (listed) return judgeShown(toPresent(listed, identity.kind), identity, known);
    const problem = inventory.undecodable.get(id);
    if (problem !== undefined) return toUndecodable(id, problem);
    if (identity.kind === "providerId")
      return judgeUnlisted(toQuestion(inventory, identity, memory));
    const swapped = inventory.instances.get(identity.swapped);
    if (swapped && memory.isNoVm(id)) {
      return judgeShown(toPresent(swapped, "swappedSystemUuid"), identity, known);
    }
    const message = swapped
      ? `Xen Orchestra lists no VM ${id}, but VM ${identity.swapped}, which is the same UUID in the byte order ` +
        "of UEFI guests; Landfall is checking it"
      : `Xen Orchestra lists no VM with the system UUID ${id}`;
    return toUnknown("notListed", message);
  }

  get #now(): Generation {
    return this.#generations.now;
  }

  #createGeneration(
    settings: XenOrchestraSettings,
    memory: Memory,
    abandoned: AbortSignal,
  ): Generation {
    const signal = AbortSignal.any([this.#options.signal, abandoned]);
    return new Generation({ ...this.#options, settings, memory, signal });
  }
}

/** Returns the settings on which requests depend. */
function toConnection(settings: XenOrchestraSettings): Partial<XenOrchestraSettings> {
  const {
    addresses: _1,
    zoneLabelFrom: _2,
    instanceTypeTag: _3,
    pools: _4,
    refreshIntervalMs: _5,
    leavesAddresses: _6,
    zones: _7,
    regions: _8,
    tagPrefixes: _9,
    ...connection
  } = settings;
  return connection;
}
