/**
 * Turns a list of VMs into an inventory. Pure.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Coverage, Inventory } from "../../../cloud/inventory/inventory.ts";
import type { ObjectList } from "../session/lists.ts";
import type { Vm } from "../wire/schema.ts";
import { lacksNetwork } from "./addresses.ts";
import type { Identity } from "./identity.ts";
import { type InstanceSettings, toInstance } from "./instance.ts";
import { isGone } from "./power.ts";

/** What an inventory is made of, besides the list. */
export interface InventoryOptions {
  readonly settings: InstanceSettings;
  /** Names of all zones that were ever shown, by ID. */
  readonly zones: ReadonlyMap<string, string>;
  /** The inventory before: instances that are equal in it are kept. */
  readonly before: Inventory | undefined;
  /** When the list was requested, in monotonic milliseconds. */
  readonly observedAtMs: number;
}

/** An inventory of this cloud. */
export interface CloudStackInventory extends Inventory {
  /** Names of the VMs in `undecodable`, in lower case, as far as they can be read. */
  readonly unreadableNames: ReadonlySet<string>;
  /**
   * The Nodes that were known by their names when the list was requested, each with its system UUID. Absent: the list
   * was requested for no Nodes in particular.
   */
  readonly askedFor?: ReadonlyMap<string, string | undefined>;
  /** Whether the settings name a network for addresses in which no VM has an interface. Only for a whole list. */
  readonly lacksNetwork?: true;
}

/** Whether an inventory shows no VM in the network of the settings, see {@linkcode CloudStackInventory}. */
export function isNetworkMissing(inventory: Inventory): boolean {
  return "lacksNetwork" in inventory && inventory.lacksNetwork === true;
}

/** The Nodes among these that are known by their names, for {@linkcode CloudStackInventory.askedFor}. */
export function toAskedFor(
  identities: readonly Identity[],
): ReadonlyMap<string, string | undefined> {
  return new Map(
    identities.flatMap((one) => (one.kind === "name" ? [[one.name, one.systemUuid] as const] : [])),
  );
}

/**
 * Whether an inventory was requested before Landfall knew the Node. A VM with that name may then be the one before,
 * which is gone by now.
 */
export function isOlderThan(
  inventory: Inventory,
  { name, systemUuid }: Extract<Identity, { kind: "name" }>,
): boolean {
  const askedFor = "askedFor" in inventory ? inventory.askedFor : undefined;
  if (!(askedFor instanceof Map)) return false;
  return !askedFor.has(name) || askedFor.get(name) !== systemUuid;
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** Names of the VMs that an inventory shows in a form that cannot be read otherwise, in lower case. */
export function findUnreadableNames(inventory: Inventory): ReadonlySet<string> {
  const names = "unreadableNames" in inventory ? inventory.unreadableNames : undefined;
  return names instanceof Set ? names : NO_NAMES;
}

/** The part that an inventory covers while no zone was ever shown. */
const NO_ZONE: ReadonlyMap<string, string> = new Map([["all", "all zones"]]);

/** The inventory of a list. It lacks VMs that are gone for good, although the server still shows them. */
export function toInventory(
  list: ObjectList<Vm>,
  { settings, zones, before, observedAtMs }: InventoryOptions,
): CloudStackInventory {
  const shown = list.objects.filter(({ state }) => !isGone(state));
  const entries = shown.map((vm) => {
    const old = before?.instances.get(vm.id);
    const instance = toInstance(vm, settings);
    return [vm.id, old && isDeepStrictEqual(old, instance) ? old : instance] as const;
  });
  const isSame =
    before?.instances.size === entries.length &&
    entries.every(([id, instance]) => before.instances.get(id) === instance);
  const isWhole = list.gap === undefined && list.undecodable.size === 0;
  return Object.freeze({
    observedAtMs,
    instances: isSame ? before.instances : new Map(entries),
    coverage: toCoverage(zones, list.gap),
    undecodable: list.undecodable,
    unreadableNames: list.unreadableNames ?? NO_NAMES,
    ...(isWhole && lacksNetwork(shown, settings.addresses) && { lacksNetwork: true as const }),
  });
}

/** The inventory of the same list, observed again. */
export function renewInventory(
  inventory: CloudStackInventory,
  { zones, observedAtMs }: Pick<InventoryOptions, "zones" | "observedAtMs">,
): CloudStackInventory {
  const coverage = toCoverage(zones, undefined);
  return Object.freeze({ ...inventory, observedAtMs, coverage });
}

/** Every zone that was ever shown: one list is about all of them. */
function toCoverage(
  zones: ReadonlyMap<string, string>,
  gap: string | undefined,
): ReadonlyMap<string, Coverage> {
  const rest = gap === undefined ? { complete: true } : { complete: false, reason: gap };
  const parts = zones.size === 0 ? NO_ZONE : zones;
  return new Map([...parts].map(([id, name]) => [id, { ...rest, name }]));
}
