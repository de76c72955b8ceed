/**
 * Finds a Node's instance: in the inventory, then in a newer inventory, then by a direct request to the cloud. Finds
 * out, for every cloud, whether a Node runs on another machine than the one that its provider ID names.
 * @module
 */
import { type LabelSelector, matchesLabels } from "../../core/text/label.ts";
import type { Instance, NodeIdentity } from "../instance.ts";
import { type Presence, type Provider, toUnanswered } from "../provider.ts";
import type { Inventory } from "./inventory.ts";
import type { InventorySource } from "./source.ts";
import type { Clock } from "../../core/clock.ts";
import { swapUuid } from "../../core/text/values.ts";

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

interface Index {
  readonly byUuid: ReadonlyMap<string, Instance>;
  /** In lower case. */
  readonly byName: ReadonlyMap<string, readonly Instance[]>;
}

/** Each list is indexed once: it may have thousands of machines, and all Nodes are looked up in it. */
const INDEXES = new WeakMap<Inventory["instances"], Index>();

/**
 * Judges a Node that has a provider ID by what its kubelet reports. The provider ID never changes. So if a machine is
 * made again under the name of its Node, restored from a backup or replaced by a copy, only deleting the Node helps.
 *
 * - If the kubelet reports the system UUID of another machine, the machine of the provider ID is not the Node's. The
 *   result is `ambiguous`, so that nothing follows that machine.
 * - A name is weaker evidence. If the machine of the provider ID is not shown or does not run, and a machine runs that
 *   has the name of the Node, the result only gets `otherMachine`: the Node may still be deleted by proof.
 */
function judgeOtherMachine(
  presence: Presence,
  node: NodeIdentity,
  { provider, inventory }: { provider: Pick<Provider, "toInstanceId">; inventory: Inventory },
): Presence {
  const { providerId = "" } = node;
  if (providerId === "" || !isJudged(presence)) return presence;
  const uuids = toUuids(node);
  const own = presence.kind === "present" ? presence.instance : undefined;
  const ownId = own?.id ?? provider.toInstanceId?.(providerId);
  if (uuids.includes(own?.systemUuid ?? ownId ?? "")) return presence;
  const index = INDEXES.get(inventory.instances) ?? createIndex(inventory.instances);
  const reported = uuids.map((uuid) => index.byUuid.get(uuid)).find((one) => one !== undefined);
  const names = `The provider ID names ${providerId}`;
  if (reported !== undefined && reported.id !== ownId) {
    const what = `${names}, but the kubelet reports the system UUID of machine ${describe(reported)}`;
    const otherMachine = `${what}; ${ADVICE}`;
    if (presence.kind === "foreign") return { ...presence, otherMachine };
    return { kind: "unknown", reason: "ambiguous", message: otherMachine, otherMachine };
  }
  const isOff = own?.state === "stopped";
  const isGone = presence.kind === "unknown" && presence.reason === "notListed";
  if (!isOff && !isGone) return presence;
  const namesake = listNamesakes(index, node).find(
    (one) => one.id !== ownId && one.state === "running" && mayBeNamed(one, uuids),
  );
  if (namesake === undefined) return presence;
  const state = isOff ? "does not run" : "the cloud does not show";
  const what = `${names}, which ${state}, but machine ${describe(namesake)}, which has the name of the Node, runs`;
  return { ...presence, otherMachine: `${what}; ${ADVICE}` };
}

/** Finds the machine of a Node without a provider ID among those that an inventory no longer shows. */
function findFormer(vanished: Inventory["instances"], node: NodeIdentity): Instance | undefined {
  if (vanished.size === 0) return undefined;
  const uuids = toUuids(node);
  const index = INDEXES.get(vanished) ?? createIndex(vanished);
  const reported = uuids.map((uuid) => index.byUuid.get(uuid)).find((one) => one !== undefined);
  return reported ?? listNamesakes(index, node).find((one) => mayBeNamed(one, uuids));
}

/** Whether a name may identify a machine: a UUID that the cloud knows would have matched. */
function mayBeNamed({ systemUuid }: Instance, uuids: readonly string[]): boolean {
  return systemUuid === undefined || uuids.length === 0;
}

const ADVICE =
  "if the Node runs on that machine now, delete the Node and restart its kubelet, which then registers it again";

/** A Node of another Landfall is not ours to judge, nor is one whose machine cannot be known now. */
function isJudged(presence: Presence): boolean {
  if (presence.kind === "foreign") return presence.message === undefined;
  return presence.kind !== "unknown" || presence.reason !== "malformedProviderId";
}

/** The system UUID in both byte orders; none if the kubelet reports none. */
function toUuids({ systemUuid = "" }: NodeIdentity): readonly string[] {
  const direct = systemUuid.trim().toLowerCase();
  return direct === "" ? [] : [...new Set([direct, swapUuid(direct)])];
}

/** Machines with the name of the Node, or, if there is none, with its part before the first dot. */
function listNamesakes({ byName }: Index, node: NodeIdentity): readonly Instance[] {
  const name = node.name.toLowerCase();
  return byName.get(name) ?? byName.get(name.split(".", 1).join("")) ?? [];
}

function describe({ name, providerId }: Instance): string {
  return `"${name}" (${providerId})`;
}

function createIndex(instances: Inventory["instances"]): Index {
  const byUuid = new Map<string, Instance>();
  const byName = new Map<string, Instance[]>();
  for (const instance of instances.values()) {
    byUuid.set((instance.systemUuid ?? instance.id).toLowerCase(), instance);
    const name = instance.name.toLowerCase();
    const same = byName.get(name);
    if (same) same.push(instance);
    else byName.set(name, [instance]);
  }
  const index = { byUuid, byName };
  INDEXES.set(instances, index);
  return index;
}
