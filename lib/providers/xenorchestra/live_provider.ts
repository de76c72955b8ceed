/**
 * A provider whose settings may change while it works.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Changes } from "../../cloud/capabilities/changes.ts";
import type { Inspection } from "../../cloud/inspection.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import { toUnknown } from "../../cloud/presence.ts";
import type {
  ChangeHint,
  Instance,
  NodeIdentity,
  Place,
  Presence,
  Provider,
  ReadOptions,
} from "../../cloud/provider.ts";
import { Generations } from "../../cloud_http/generations.ts";
import type { XenOrchestraSettings } from "./settings/config.ts";
import { ConnectionWatch } from "./proof/connection_watch.ts";
import { inspectToken } from "./inspection/inspect_token.ts";
import { Memory } from "./memory.ts";
import { type XenOrchestraOptions, XenOrchestraProvider } from "./provider.ts";
import type { Session } from "./session/session.ts";
import type { TokenWatch } from "./session/token_watch.ts";

/** What a {@linkcode LiveProvider} is made of. */
export interface LiveProviderOptions extends Omit<XenOrchestraOptions, "memory"> {
  readonly session: Pick<
    Session,
    "reconfigure" | "setRefreshInterval" | "get" | "post" | "readToken"
  >;
  readonly tokenWatch: Pick<TokenWatch, "look">;
  /** Ends what goes on behind an inventory. */
  readonly signal: AbortSignal;
}

/** One set of settings at work. */
interface Generation {
  readonly settings: XenOrchestraSettings;
  readonly provider: XenOrchestraProvider;
  readonly memory: Memory;
  readonly connections: ConnectionWatch;
}

/**
 * Hands everything to a {@linkcode XenOrchestraProvider}, and puts another one in its place when the settings change.
 *
 * Guarantees: those of {@linkcode Generations}, by which no direct answer is given before the first inventory under new
 * settings; the memory that keeps Nodes safe stays as long as `url` does, and starts anew with another one.
 */
export class LiveProvider implements Provider, Changes {
  readonly name = "xenorchestra";
  readonly providedNodeIps = "trusted";
  readonly originLabels: Readonly<Record<string, string>>;
  readonly labelKeys: ReadonlySet<string>;
  readonly changes: Changes = this;
  readonly #options: LiveProviderOptions;
  readonly #generations: Generations<Generation>;

  constructor(options: LiveProviderOptions) {
    this.#options = options;
    this.#generations = new Generations((left) =>
      this.#createGeneration(options.settings, new Memory(), left),
    );
    this.originLabels = this.#now.provider.originLabels;
    this.labelKeys = this.#now.provider.labelKeys;
  }

  get refreshIntervalMs(): number {
    return this.#now.settings.refreshIntervalMs;
  }

  /**
   * Uses other settings from now on.
   *
   * @throws {ConfigError} when a file that they name cannot be used; the old ones stay
   * @returns Whether `url` is what it was
   */
  reconfigure(settings: XenOrchestraSettings): "sameCloud" | "otherCloud" {
    const { settings: old, memory } = this.#now;
    const isSame = isDeepStrictEqual(toConnection(settings), toConnection(old));
    const { session } = this.#options;
    if (isSame) session.setRefreshInterval(settings.refreshIntervalMs);
    else session.reconfigure(settings);
    const isSameCloud = settings.url === old.url;
    const nextMemory = isSameCloud ? memory : new Memory();
    this.#generations.replace(
      (left) => this.#createGeneration(settings, nextMemory, left),
      !isSame,
    );
    // Another user may see less: what is gone from a list counts from the start.
    if (!isSame) memory.connections.noteOtherReader();
    return isSameCloud ? "sameCloud" : "otherCloud";
  }

  async listInventory(interest: readonly NodeIdentity[], signal: AbortSignal): Promise<Inventory> {
    const { answer: inventory, by } = await this.#generations.ask(
      ({ provider }, both) => provider.listInventory(interest, both),
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
      ({ provider }, both) => provider.readInstances(ids, both),
      signal,
    );
    return shown ?? new Map();
  }

  watchChanges(onHint: (hint: ChangeHint) => void, signal: AbortSignal): Promise<void> {
    return this.#generations.follow(
      ({ provider }, both) => provider.watchChanges(onHint, both),
      signal,
    );
  }

  findInstance(inventory: Inventory, node: NodeIdentity): Presence {
    return this.#now.provider.findInstance(inventory, node);
  }

  async readInstance(
    inventory: Inventory,
    node: NodeIdentity,
    signal: AbortSignal,
    options?: ReadOptions,
  ): Promise<Presence> {
    // It rejects only when the caller's own signal aborts.
    const presence = await this.#generations.askOnce(
      ({ provider }) => provider.readInstance(inventory, node, signal, options),
      signal,
    );
    const message = "No inventory was taken yet since the settings changed";
    return presence ?? toUnknown("noInventory", message);
  }

  async inspect(signal: AbortSignal): Promise<Inspection> {
    const { provider, settings } = this.#now;
    const inspection = await provider.inspect(signal);
    if (inspection.findings.some(({ level }) => level === "failure")) return inspection;
    const { session, clock } = this.#options;
    const now = { nowMs: clock.now(), signal };
    const found = await inspectToken(session, settings.credentials, now);
    return { ...inspection, findings: [...inspection.findings, ...found] };
  }

  toInstanceId(providerId: string): string | undefined {
    return this.#now.provider.toInstanceId(providerId);
  }

  toPlaces(
    instance: Instance | undefined,
    labels: Readonly<Record<string, string>>,
  ): readonly Place[] {
    return this.#now.provider.toPlaces(instance, labels);
  }

  get #now(): Generation {
    return this.#generations.now;
  }

  #createGeneration(settings: XenOrchestraSettings, memory: Memory, left: AbortSignal): Generation {
    const provider = new XenOrchestraProvider({ ...this.#options, settings, memory });
    const signal = AbortSignal.any([this.#options.signal, left]);
    const connections = new ConnectionWatch({ ...this.#options, memory, signal });
    return { settings, provider, memory, connections };
  }
}

/** Everything that requests depend on. */
function toConnection(settings: XenOrchestraSettings): Partial<XenOrchestraSettings> {
  const {
    addresses: _1,
    zoneLabelFrom: _2,
    instanceTypeTag: _3,
    pools: _4,
    refreshIntervalMs: _5,
    ...connection
  } = settings;
  return connection;
}
