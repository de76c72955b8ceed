/**
 * Finds a Node's instance: in the inventory, then in a newer inventory, then by a direct request to the cloud.
 * @module
 */
import { type LabelSelector, matchesLabels } from "../../core/text/label_selector.ts";
import type { NodeIdentity } from "../instance.ts";
import { type Presence, type Provider, toUnanswered } from "../provider.ts";
import type { Inventory } from "./inventory.ts";
import { findFormer, judgeOtherMachine } from "./other_machine.ts";
import type { InventorySource } from "./source.ts";
import type { Clock } from "../../core/clock.ts";

/** The presence of a Node's instance, or `waiting` for a newer inventory. */
type Resolution = Presence | { readonly kind: "waiting" };

/**
 * Resolves Nodes against one inventory source.
 *
 * If the inventory lacks a Node's instance, the caller does not wait. The resolver requests a refresh, and {@linkcode
 * waiting} lists the Nodes to resolve again after it. So a thousand new Nodes cause one refresh, and a slow cloud
 * blocks no worker.
 */
export class InstanceResolver {
  readonly #provider: Provider;
  readonly #source: InventorySource;
  readonly #clock: Clock;
  readonly #findSelector: () => LabelSelector;
  /** The time since which each Node waits for a newer inventory, in monotonic milliseconds. */
  readonly #waiting = new Map<string, number>();
  /** Results of direct reads, for Nodes that the inventory does not show. */
  readonly #answers = new Map<string, Presence>();

  /** @param findSelector Returns the current selector of the Nodes that Landfall manages. @default {all} */
  constructor(
    provider: Provider,
    source: InventorySource,
    clock: Clock,
    findSelector: () => LabelSelector = () => [],
  ) {
    this.#provider = provider;
    this.#source = source;
    this.#clock = clock;
    this.#findSelector = findSelector;
  }

  /** Names of the Nodes to resolve again after the next refresh. */
  get waiting(): Iterable<string> {
    return this.#waiting.keys();
  }

  /** Finds a Node's instance in the inventory; never returns `absent`. */
  find(node: NodeIdentity): Presence {
    const inventory = this.#source.current;
    const sources = { provider: this.#provider, inventory, selector: this.#findSelector() };
    const presence = findPresence(node, sources);
    if (presence.kind !== "unknown" || presence.reason !== "notListed") return presence;
    const known = this.complete(node);
    const { providerId: formerId = "" } = known;
    const former = known === node ? presence : findPresence(known, sources);
    return former.kind === "unknown" && former !== presence ? { ...former, formerId } : presence;
  }

  /**
   * Adds to a Node without a provider ID that of its machine, if an earlier inventory showed the machine and the newest
   * one does not. Only with a provider ID can a cloud prove that a machine is gone.
   *
   * @returns `node` itself for any other Node
   */
  complete(node: NodeIdentity): NodeIdentity {
    if (node.providerId !== undefined) return node;
    const former = findFormer(this.#source.vanished, node);
    return former === undefined ? node : { ...node, providerId: former.providerId };
  }

  /**
   * The same for display. Returns the last direct answer if the inventory has no final one.
   *
   * @param presence The result of {@linkcode find}, if the caller has it already
   */
  explain(node: NodeIdentity, presence: Presence = this.find(node)): Presence {
    const settled = presence.kind !== "unknown" || !needsMore(presence);
    return settled ? presence : (this.#answers.get(node.name) ?? presence);
  }

  /**
   * Resolves a Node. Rejects only with `signal.reason`.
   *
   * @returns `waiting` if it requested a newer inventory
   */
  async resolve(node: NodeIdentity, signal: AbortSignal): Promise<Resolution> {
    const presence = this.find(node);
    if (presence.kind !== "unknown" || !needsMore(presence)) {
      this.forget(node.name);
      return presence;
    }
    const sinceMs = this.#waiting.get(node.name);
    if (sinceMs === undefined || (this.#source.lastAttemptMs ?? -Infinity) <= sinceMs) {
      if (sinceMs === undefined) this.#waiting.set(node.name, this.#clock.monotonic());
      this.#source.requestRefresh();
      return { kind: "waiting" };
    }
    this.#waiting.delete(node.name);
    const answer = await this.#ask(node, signal);
    this.#answers.set(node.name, answer);
    return answer;
  }

  /** Forgets a Node. */
  forget(name: string): void {
    this.#waiting.delete(name);
    this.#answers.delete(name);
  }

  async #ask(node: NodeIdentity, signal: AbortSignal): Promise<Presence> {
    const { current, lastError } = this.#source;
    if (lastError) return toUnanswered(lastError);
    if (current === undefined) return this.find(node);
    return await this.#provider.readInstance(current, this.complete(node), signal);
  }
}

/** Only an instance that the inventory does not list may still be found. Every other answer is final. */
function needsMore(presence: Presence & { kind: "unknown" }): boolean {
  return presence.reason === "notListed" || presence.reason === "noInventory";
}

/** What {@linkcode findPresence} goes by. */
export interface PresenceSources {
  readonly provider: Pick<Provider, "findInstance" | "toInstanceId">;
  readonly inventory: Inventory | undefined;
  /** The Nodes that Landfall manages, as in `NodeSelection`. */
  readonly selector: LabelSelector;
}

const NO_INVENTORY: Presence = {
  kind: "unknown",
  reason: "noInventory",
  message: "Landfall has not taken an inventory of the cloud yet",
};

const UNSELECTED: Presence = {
  kind: "foreign",
  isUnselected: true,
  message: 'its labels do not match "nodes.selector": Landfall leaves this Node alone',
};

/** Whether Landfall manages a Node. */
export function isSelected({ labels = {} }: NodeIdentity, selector: LabelSelector): boolean {
  return matchesLabels(selector, labels);
}

/** Finds a Node's machine; never returns `absent`. */
export function findPresence(
  node: NodeIdentity,
  { provider, inventory, selector }: PresenceSources,
): Presence {
  if (!isSelected(node, selector)) return UNSELECTED;
  if (inventory === undefined) return NO_INVENTORY;
  return judgeOtherMachine(provider.findInstance(inventory, node), node, { provider, inventory });
}
