/**
 * Turns a list of VMs into an inventory, and each VM into an instance. Pure.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Coverage, Inventory } from "../../../cloud/inventory/inventory.ts";
import type { ObjectList } from "../session/lists.ts";
import type { Nic, Vm } from "../wire/schema.ts";
import type {
  Instance,
  InstanceAddresses,
  InstanceState,
  NodeIdentity,
} from "../../../cloud/instance.ts";
import { LABEL_LENGTH_MAX, toLabelValue } from "../../../core/text/label.ts";
import type { CloudStackSettings } from "../settings/config.ts";
import { chooseAddresses, NO_ADDRESSES, toInstanceAddresses } from "../../../cloud/addresses.ts";
import { type IpAddress, isHostAddress, isInCidr, parseIp } from "../../../core/net/ip.ts";
import { quote } from "../../../core/text/printable.ts";
import { type Presence, toUnknown } from "../../../cloud/provider.ts";
import { formatMemory, parseUuid } from "../../../core/text/values.ts";

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

/** Names of the VMs of a list that cannot be read otherwise, in lower case. */
export function toUnreadableNames({
  unreadable = [],
}: Pick<ObjectList<Vm>, "unreadable">): ReadonlySet<string> {
  const names = unreadable.flatMap(({ name }) => (typeof name === "string" ? [name] : []));
  return new Set(names.map((one) => one.toLowerCase()));
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
    unreadableNames: toUnreadableNames(list),
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

/** The settings that instances depend on. */
export type InstanceSettings = Pick<
  CloudStackSettings,
  "addresses" | "instanceTypeStyle" | "region"
>;

/** An instance of this cloud. */
interface CloudStackInstance extends Instance {
  /** Whose it is; absent when the server does not say. A user who sees one VM of an owner sees the others, too. */
  readonly owner?: string;
  /** Whether it runs no kubelet, because it is destroyed or was never made. */
  readonly isDead?: true;
}

const NO_LABELS: Readonly<Record<string, string>> = Object.freeze({});

/** A VM as an instance, frozen. */
export function toInstance(vm: Vm, settings: InstanceSettings): CloudStackInstance {
  const { id, state, serviceofferingname: offering } = vm;
  const zone = toLabelValue(vm.zonename ?? "");
  const region = toLabelValue(settings.region ?? "") || zone;
  const instanceType = offering && formatInstanceType(offering, settings.instanceTypeStyle);
  const owner = toOwner(vm);
  return Object.freeze({
    id,
    providerId: formatProviderId(id),
    name: vm.name ?? "",
    state: toInstanceState(state),
    ...(region !== "" && { region }),
    ...(zone !== "" && { zone }),
    ...(instanceType && { instanceType }),
    ...toAddresses(vm, settings.addresses),
    labels: NO_LABELS,
    details: Object.freeze(toDetails(vm)),
    ...(owner !== undefined && { owner }),
    ...(isDead(state) && { isDead: true as const }),
  });
}

/** The owner of an instance; `undefined` when it is not known. */
export function findOwner(instance: Instance): string | undefined {
  return "owner" in instance && typeof instance.owner === "string" ? instance.owner : undefined;
}

/** Whether an instance runs no kubelet, because it is destroyed or was never made. */
export function isDeadInstance(instance: Instance): boolean {
  return "isDead" in instance && instance.isDead === true;
}

/** A project owns what was made in it; everything else belongs to an account of a domain. */
function toOwner({ account, domainid, projectid }: Vm): string | undefined {
  if (projectid) return `project ${projectid}`;
  return account && domainid ? `account ${account} of domain ${domainid}` : undefined;
}

function toDetails(vm: Vm): Record<string, string> {
  const pairs: Record<string, string | null | undefined> = {
    state: vm.state,
    zone: vm.zonename,
    serviceOffering: vm.serviceofferingname,
    cpus: vm.cpunumber?.toString(),
    memory: vm.memory === undefined ? undefined : formatMemory(vm.memory * 1024 ** 2),
    account: vm.account,
    projectId: vm.projectid,
    displayName: vm.displayname === vm.name ? undefined : vm.displayname,
  };
  const known = Object.entries(pairs).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return Object.fromEntries(known);
}

/** How the name of a service offering becomes a label value. */
type InstanceTypeStyle = "squeezed" | "sanitised";

/**
 * Formats an instance type. MUST NOT CHANGE: schedulers select by it.
 *
 * - `squeezed`: only ASCII letters and digits stay, as the Apache provider writes it: `Small Instance` gives
 *   `SmallInstance`, and `Über 2` gives `ber2`
 * - `sanitised`: every other character becomes `-`: `Small-Instance`
 *
 * @returns `undefined` when nothing is left
 */
export function formatInstanceType(offering: string, style: InstanceTypeStyle): string | undefined {
  const text =
    style === "sanitised"
      ? toLabelValue(offering)
      : offering.replaceAll(/[^A-Za-z0-9]/gu, "").slice(0, LABEL_LENGTH_MAX);
  return text === "" ? undefined : text;
}

const RUNNING: ReadonlySet<string> = new Set(["Running", "Starting", "Stopping", "Migrating"]);
/** A destroyed VM can be recovered until it is expunged. */
const STOPPED: ReadonlySet<string> = new Set(["Stopped", "Shutdown", "Destroyed"]);
const GONE: ReadonlySet<string> = new Set(["Expunging", "Expunged"]);

/** Whether a VM in this state runs. `Error`, `Unknown` and states of later versions say nothing. */
export function toInstanceState(state: string | null | undefined): InstanceState {
  if (RUNNING.has(state ?? "")) return "running";
  return STOPPED.has(state ?? "") ? "stopped" : "unknown";
}

/** Whether a VM in this state is gone for good, although the server still shows it. */
export function isGone(state: string | null | undefined): boolean {
  return GONE.has(state ?? "");
}

/** Whether a VM in this state runs no kubelet: it is thrown away, or was never made. */
export function isDead(state: string | null | undefined): boolean {
  return state === "Destroyed" || state === "Error";
}

/** What helps after {@linkcode toNoNetwork}. */
export const NETWORK_ADVICE =
  "correct addresses.network ([Addresses] network): until then no VM has usable addresses, and Nodes keep theirs";

/** Says that no VM has the network of the settings. */
export function toNoNetwork(network: string): string {
  return `no VM has a network with the name or ID ${quote(network)}`;
}

/** How addresses are chosen. */
type AddressSettings = CloudStackSettings["addresses"];

/**
 * Chooses a VM's addresses by the rules of docs/explanation/addresses.md: the default interface comes first. The others
 * follow by their place in the VM, because the server lists them in no order. The address of a static NAT is
 * ExternalIP, even if it is private.
 *
 * Without a usable address of an interface, because the settings leave out all or CloudStack shows none, it returns no
 * address at all: the Node keeps those that it has. A static NAT alone would take away its InternalIP.
 */
export function toAddresses(
  vm: Pick<Vm, "nic" | "publicip">,
  settings: AddressSettings,
): InstanceAddresses {
  const nics = (vm.nic ?? []).filter((nic) => isWanted(nic, settings));
  const inOrder = nics.toSorted((a, b) => toRank(a) - toRank(b));
  const natted = listUsable([vm.publicip], settings);
  const found = listUsable(
    inOrder.flatMap(({ ipaddress, ip6address }) => [ipaddress, ip6address]),
    settings,
  );
  if (found.length === 0) return NO_ADDRESSES;
  return toInstanceAddresses(
    chooseAddresses(
      [...found, ...natted],
      ({ text }) =>
        natted.some((ip) => ip.text === text) ||
        settings.externalCidrs.some((cidr) => isInCidr(text, cidr)),
    ),
  );
}

/**
 * Whether the settings name a network in which no VM has an interface.
 *
 * @returns `false` if they name none, and for no VMs
 */
export function lacksNetwork(
  vms: readonly Pick<Vm, "nic">[],
  settings: Pick<AddressSettings, "network">,
): boolean {
  const hasOne = ({ nic }: Pick<Vm, "nic">): boolean =>
    (nic ?? []).some((one) => isWanted(one, settings));
  return settings.network !== undefined && vms.length > 0 && !vms.some(hasOne);
}

/** Where an interface comes in the order: the default one first, then by its place in the VM. */
export function toRank({ isdefault, deviceid }: Nic): number {
  if (isdefault === true) return -1;
  const place = Number(deviceid ?? Number.NaN);
  return Number.isSafeInteger(place) && place >= 0 ? place : Number.MAX_SAFE_INTEGER;
}

function isWanted(
  { networkid, networkname }: Nic,
  { network }: Pick<AddressSettings, "network">,
): boolean {
  return network === undefined || network === networkname || network.toLowerCase() === networkid;
}

function listUsable(
  texts: readonly (string | null | undefined)[],
  { exclude }: AddressSettings,
): IpAddress[] {
  return texts
    .flatMap((text) => parseIp(text ?? "") ?? [])
    .filter((ip) => isHostAddress(ip.text) && !exclude.some((cidr) => isInCidr(ip.text, cidr)));
}

/**
 * What to look a Node up by. The system UUID finds no VM, because hypervisors report others than the IDs of the VMs. It
 * only tells a machine from an earlier one with the same name.
 */
export type Identity =
  | { readonly kind: "providerId"; readonly vmId: string }
  /** Lower case. `short` is its part before the first dot, if it has one. */
  | {
      readonly kind: "name";
      readonly name: string;
      readonly short?: string;
      readonly systemUuid?: string;
      /** Whether the Node has a provider ID, which names no VM. @default {it has none} */
      readonly isNameless?: true;
    }
  /** Nothing to look up by, and the presence that says so. */
  | { readonly kind: "other"; readonly presence: Presence };

/** Reads what a Node says. */
export function parseIdentity({ name, providerId, systemUuid }: NodeIdentity): Identity {
  if (providerId !== undefined) {
    const parsed = parseProviderId(providerId);
    if (parsed.kind === "foreign") return toOther({ kind: "foreign", providerId });
    if (parsed.kind === "malformed") {
      return toOther(toUnknown("malformedProviderId", parsed.message));
    }
    if (parsed.kind === "ours") return { kind: "providerId", vmId: parsed.vmId };
  }
  if (name === "") {
    return toOther(toUnknown("noIdentity", "Cannot look up the VM of a Node without a name"));
  }
  const lower = name.toLowerCase();
  const dot = lower.indexOf(".");
  return {
    kind: "name",
    name: lower,
    ...(dot > 0 && { short: lower.slice(0, dot) }),
    ...(providerId !== undefined && { isNameless: true as const }),
    ...(systemUuid !== undefined && { systemUuid: systemUuid.toLowerCase() }),
  };
}

function toOther(presence: Presence): Identity {
  return { kind: "other", presence };
}

/** What a provider ID says. */
type ParsedProviderId =
  | { readonly kind: "ours"; readonly vmId: string }
  /** What version 1.1 of the Apache provider wrote on every Node. It names no VM: the Node is found by its name. */
  | { readonly kind: "nameless" }
  /** Ours by its scheme, but not readable. `message` says why. */
  | { readonly kind: "malformed"; readonly message: string }
  | { readonly kind: "foreign" };

const SCHEME = "external-cloudstack";
const FORMAT = `${SCHEME}://<VM UUID>`;
/** As Cluster API and a fork of the Apache provider write it: with a region, which may be empty. */
const OTHER_FORM = /^cloudstack:\/\/[^/]*\/(?<vm>.*)$/s;

/** Formats the provider ID of a VM: `external-cloudstack://<VM UUID>`, lower case. */
export function formatProviderId(vmId: string): string {
  return `${SCHEME}://${vmId}`;
}

/** Reads a provider ID: the form that is written, `cloudstack:///<VM UUID>` and `cloudstack://<region>/<VM UUID>`. */
export function parseProviderId(text: string): ParsedProviderId {
  if (text === SCHEME) return { kind: "nameless" };
  const other = OTHER_FORM.exec(text)?.groups?.["vm"];
  const isOurs = text.startsWith(`${SCHEME}:`) || text.startsWith("cloudstack:");
  if (!isOurs) return { kind: "foreign" };
  const own = text.startsWith(`${SCHEME}://`) ? text.slice(SCHEME.length + 3) : undefined;
  const vmId = parseUuid(own ?? other ?? "");
  if (vmId !== undefined) return { kind: "ours", vmId };
  const message =
    `Cannot read provider ID ${quote(text)}: it must be ${FORMAT}; ` +
    "a provider ID cannot be changed: delete the Node and let the kubelet register it again with a correct one";
  return { kind: "malformed", message };
}
