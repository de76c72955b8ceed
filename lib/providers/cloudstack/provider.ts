/**
 * Apache CloudStack as a provider: finds the VMs of Nodes, and asks by settings that may change while it works.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Inspection } from "../../cloud/inspection.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import type { Instance, NodeIdentity, Place } from "../../cloud/instance.ts";
import { type Presence, type Provider, toUnknown } from "../../cloud/provider.ts";
import { Generations, TOO_EARLY } from "../../cloud_http/generations.ts";
import { Generation, type GenerationOptions } from "./generation.ts";
import { inspectCloudStack } from "./inspection/inspect.ts";
import {
  CloudStackLoadBalancers,
  type LoadBalancersOptions,
} from "./load_balancers/load_balancers.ts";
import { Memory } from "./memory.ts";
import { parseIdentity } from "./model/identity.ts";
import { findInstance } from "./model/matching.ts";
import { toPlaces } from "./model/places.ts";
import { parseProviderId } from "./model/provider_id.ts";
import type { CloudStackSession } from "./session/session.ts";
import type { CloudStackSettings } from "./settings/config.ts";

/** What a {@linkcode CloudStackProvider} needs. */
interface CloudStackOptions extends Omit<GenerationOptions, "memory"> {
  readonly session: Pick<CloudStackSession, "followKeys" | "reconfigure"> &
    LoadBalancersOptions["session"];
}

const ADDRESSES: ReadonlySet<"addresses" | "zone"> = new Set(["addresses"]);
const NOTHING: ReadonlySet<"addresses" | "zone"> = new Set();

/**
 * See {@linkcode Provider}. A {@linkcode Generation} sends its requests; another one replaces it when the settings
 * change.
 *
 * Guarantees: those of {@linkcode Generations}, so there is no direct answer before the first inventory under new
 * settings. The memory that keeps Nodes safe is kept for the same connection, and starts empty with another one and
 * with other keys, because another user or project may not see the same VMs.
 */
export class CloudStackProvider implements Provider {
  readonly name = "external-cloudstack";
  /** A guest may use addresses that CloudStack does not give out, such as secondary ones. */
  readonly providedNodeIps = "trusted";
  readonly loadBalancers: CloudStackLoadBalancers;
  readonly #options: CloudStackOptions;
  readonly #generations: Generations<Generation>;

  constructor(options: CloudStackOptions) {
    this.#options = options;
    this.#generations = new Generations(() => new Generation({ ...options, memory: new Memory() }));
    this.loadBalancers = new CloudStackLoadBalancers(options, this.#now);
    options.session.followKeys(() => this.#replace(this.#now.settings, new Memory()));
  }

  get unmanaged(): ReadonlySet<"addresses" | "zone"> {
    return this.#now.settings.leavesAddresses ? ADDRESSES : NOTHING;
  }

  get refreshIntervalMs(): number {
    return this.#now.settings.refreshIntervalMs;
  }

  /**
   * Uses new settings from now on.
   *
   * @throws {ConfigError} when a file that they name cannot be used; the old settings stay in use
   * @returns Whether the URL is what it was
   */
  reconfigure(settings: CloudStackSettings): "sameCloud" | "otherCloud" {
    const { settings: old, memory } = this.#now;
    const isSameCloud = settings.url === old.url;
    const isSame = isDeepStrictEqual(toConnection(settings), toConnection(old));
    // Key files stay those in use: new ones would read other keys from the same paths, and would not report a change.
    if (!isSame) this.#options.session.reconfigure(settings);
    this.#replace(settings, isSame ? memory : new Memory());
    return isSameCloud ? "sameCloud" : "otherCloud";
  }

  async listInventory(interest: readonly NodeIdentity[], signal: AbortSignal): Promise<Inventory> {
    const { answer } = await this.#generations.ask(
      (asked, both) => asked.listInventory(interest, both),
      signal,
    );
    return answer;
  }

  findInstance(inventory: Inventory, node: NodeIdentity): Presence {
    return findInstance(inventory, parseIdentity(node));
  }

  async readInstance(
    inventory: Inventory,
    node: NodeIdentity,
    signal: AbortSignal,
  ): Promise<Presence> {
    // It rejects only when the caller's own signal aborts.
    const presence = await this.#generations.askOnce(
      (asked) => asked.readInstance(inventory, node, signal),
      signal,
    );
    return presence ?? toUnknown("noInventory", TOO_EARLY);
  }

  inspect(signal: AbortSignal): Promise<Inspection> {
    const now = this.#now;
    const listInventory = (both: AbortSignal): Promise<Inventory> => now.listForAll(both);
    return inspectCloudStack({ settings: now.settings, listInventory }, signal);
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

  get #now(): Generation {
    return this.#generations.now;
  }

  #replace(settings: CloudStackSettings, memory: Memory): void {
    const isAbandoned = memory !== this.#now.memory;
    const next = { ...this.#options, settings, memory };
    this.#generations.replace(() => new Generation(next), isAbandoned);
    this.loadBalancers.replace(this.#now, isAbandoned);
  }
}

/** Everything that requests depend on. */
function toConnection(settings: CloudStackSettings): Partial<CloudStackSettings> {
  const {
    region: _1,
    refreshIntervalMs: _2,
    instanceTypeStyle: _3,
    addresses: _4,
    leavesAddresses: _5,
    trustsEmptyAnswer: _6,
    ...connection
  } = settings;
  return connection;
}
