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
import type { XenOrchestraSettings } from "./settings/config.ts";
import { ConnectionWatch } from "./proof/connection_watch.ts";
import { inspectToken } from "./inspection/inspect_token.ts";
import { Memory } from "./memory.ts";
import type { XenOrchestraOptions, XenOrchestraProvider } from "./provider.ts";
import { ScopedProvider } from "./scope/scoped_provider.ts";
import type { Session } from "./session/session.ts";
import type { TokenWatch } from "./session/token_watch.ts";

/** What a {@linkcode LiveProvider} is made of. */
export interface LiveProviderOptions extends Omit<XenOrchestraOptions, "memory"> {
  readonly session: Pick<
    Session,
    "reconfigure" | "setRefreshInterval" | "get" | "exchange" | "readToken"
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
  /** Aborts when requests go to another place, or as somebody else. */
  readonly left: AbortController;
}

/**
 * Hands everything to a {@linkcode XenOrchestraProvider}, and puts another one in its place when the settings change.
 *
 * Guarantees: what is given back was asked with one set of settings from its beginning to its end, namely the one in
 * use when it is given; the memory that keeps Nodes safe stays as long as `url` does, and starts anew with another one;
 * no direct answer is given before the first inventory under new settings.
 */
export class LiveProvider implements Provider, Changes {
  readonly name = "xenorchestra";
  readonly providedNodeIps = "trusted";
  readonly originLabels: Readonly<Record<string, string>>;
  readonly labelKeys: ReadonlySet<string>;
  readonly changes: Changes = this;
  readonly #options: LiveProviderOptions;
  #now: Generation;
  /** Whether there was an inventory since the settings changed. */
  #isSettled = true;

  constructor(options: LiveProviderOptions) {
    this.#options = options;
    this.#now = this.#createGeneration(options.settings, new Memory(), new AbortController());
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
    const { settings: old, memory, left } = this.#now;
    const isSame = isDeepStrictEqual(toConnection(settings), toConnection(old));
    const { session } = this.#options;
    if (isSame) session.setRefreshInterval(settings.refreshIntervalMs);
    else session.reconfigure(settings);
    const isSameCloud = settings.url === old.url;
    const nextMemory = isSameCloud ? memory : new Memory();
    this.#now = this.#createGeneration(settings, nextMemory, isSame ? left : new AbortController());
    this.#isSettled = false;
    if (!isSame) left.abort(new Error("the settings changed"));
    // Another user may see less: what is gone from a list counts from the start.
    if (!isSame) memory.connections.noteOtherReader();
    return isSameCloud ? "sameCloud" : "otherCloud";
  }

  async listInventory(interest: readonly NodeIdentity[], signal: AbortSignal): Promise<Inventory> {
    for (;;) {
      const asked = this.#now;
      try {
        // Who waits for a server that was left would wait in vain.
        const both = AbortSignal.any([signal, asked.left.signal]);
        const inventory = await asked.provider.listInventory(interest, both);
        if (asked === this.#now) {
          this.#isSettled = true;
          void this.#options.tokenWatch.look(asked.settings.credentials, this.#options.signal);
          void asked.connections.look(inventory.coverage);
          return inventory;
        }
      } catch (error) {
        if (asked === this.#now || signal.aborted) throw error;
      }
    }
  }

  async readInstances(
    ids: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Instance>> {
    const asked = this.#now;
    if (!this.#isSettled) return new Map();
    const both = AbortSignal.any([signal, asked.left.signal]);
    const shown = await asked.provider.readInstances(ids, both);
    return asked === this.#now ? shown : new Map();
  }

  async watchChanges(onHint: (hint: ChangeHint) => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { provider, left } = this.#now;
      await provider.watchChanges(onHint, AbortSignal.any([signal, left.signal]));
    }
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
    const asked = this.#now;
    if (this.#isSettled) {
      const presence = await asked.provider.readInstance(inventory, node, signal, options);
      if (asked === this.#now) return presence;
    }
    return toUnknown("noInventory", "No inventory was taken yet since the settings changed");
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

  #createGeneration(
    settings: XenOrchestraSettings,
    memory: Memory,
    left: AbortController,
  ): Generation {
    const provider = new ScopedProvider({ ...this.#options, settings, memory });
    const signal = AbortSignal.any([this.#options.signal, left.signal]);
    const connections = new ConnectionWatch({ ...this.#options, memory, signal });
    return { settings, provider, memory, connections, left };
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
