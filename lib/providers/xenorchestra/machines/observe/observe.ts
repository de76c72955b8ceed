/**
 * Observes everything that changes of machines depend on, in a number of requests that does not depend on how many
 * machines there are.
 * @module
 */
import {
  MACHINE_PREFIX,
  type MachineIdentity,
  toMachineName,
  toOwnerPrefix,
} from "../../../../cloud/capabilities/machines.ts";
import type { Inventory } from "../../../../cloud/inventory/inventory.ts";
import type { ListReply } from "../../../../cloud_http/decode.ts";
import type { Clock } from "../../../../core/clock.ts";
import { toInstance } from "../../inventory.ts";
import type { InstanceSettings } from "../../settings.ts";
import {
  OWN_DISKS,
  OWN_VMS,
  type RawNetwork,
  type RawStorage,
  type RawTask,
  type RawTemplate,
  type RawVbd,
  type RawVdi,
  type RawVif,
  type RawVm,
} from "../wire/objects.ts";
import type { OwnChanges } from "../wire/own_changes.ts";
import type { MachinesApi } from "../wire/machines_api.ts";
import { toNameOfOwner } from "../words.ts";
import { provePools, type Shown } from "./pools_proof.ts";
import { toMacs, toResources, toTasks } from "./resources.ts";
import { type ApiUser, type Observation, toHost, toVm, toVmsObservation } from "./observation.ts";

/** What an observation needs. */
interface ObserveOptions {
  readonly api: MachinesApi;
  readonly clock: Clock;
  readonly settings: InstanceSettings;
  readonly own: OwnChanges;
  /** The newest inventory. */
  readonly inventory: Inventory;
  readonly readUser: (signal: AbortSignal) => Promise<ApiUser>;
  readonly listPlaces: (signal: AbortSignal) => Promise<Places>;
}

/** Where disks and interfaces can be. */
export interface Places {
  readonly storages: readonly RawStorage[];
  readonly networks: readonly RawNetwork[];
}

/** As many IDs fit into the header of a request, beside the rest; with more the whole list is shorter. */
const FILTER_IDS_MAX = 300;
const OWNERS_MAX = 50;

/**
 * Observes, between two proofs of which pools answer.
 *
 * @param tasksBefore What {@linkcode listTasks} answered right before. @default {it is asked}
 * @throws {CloudError} if a list fails
 */
export async function observe(
  { api, clock, settings, own, inventory, readUser, listPlaces }: ObserveOptions,
  machines: readonly MachineIdentity[],
  signal: AbortSignal,
  tasksBefore?: readonly RawTask[],
): Promise<Observation> {
  const observedAtMs = clock.monotonic();
  const atMs = clock.now();
  const strangeMs = own.noteObservation(observedAtMs);
  // A VM may appear only after the task that makes it, never before.
  const [before, tasks] = await Promise.all([
    listPools(api, signal),
    tasksBefore ?? listTasks(api, machines, signal),
  ]);
  const [vms, templates, places, user] = await Promise.all([
    api.list("vms", signal, OWN_VMS),
    api.list("vm-templates", signal),
    listPlaces(signal),
    readUser(signal),
  ]);
  const names = new Set(machines.map(toMachineName));
  const listed = new Set([...templates.objects, ...vms.objects].map(({ $pool }) => $pool));
  const isListed = before.pools.every(({ id }) => listed.has(id));
  const close = await listClose(api, { vms, templates, names }, signal);
  // What is shown with all its parts, or is being made, needs no proof that nothing is hidden.
  const made = names.difference(listPending(tasks ?? []));
  const isWhole = names.size > 0 && isShownWhole(made, vms.objects, close);
  // Every pool has templates, but not every user may see those of each.
  const others = isListed || isWhole ? [] : await api.listLoadedPools(signal);
  const [after, servers] = isWhole
    ? [before, undefined]
    : await Promise.all([listPools(api, signal), api.listServers(signal)]);
  const loaded = isWhole
    ? new Set(before.pools.map(({ id }) => id))
    : listed.union(new Set(others));
  const proven = provePools({ before, after, loaded, servers, coverage: inventory.coverage });
  const unread = [...vms.undecodable, ...templates.undecodable][0];
  const gap = proven.gap ?? (unread && `Landfall cannot read VM ${unread[0]}: ${unread[1]}`);
  // Without machines in question, disks are not listed.
  const noteUnused = (ids: readonly string[]): ReadonlyMap<string, number> =>
    names.size === 0 ? new Map() : own.noteUnused(ids, observedAtMs);
  const resources = toResources({
    user,
    noteUnused,
    noteIdle: (ids) => own.noteIdle(ids, observedAtMs),
    unnamable: own.listUnnamable(close.disks),
    begun: own.begun,
    pools: before.pools,
    templates: templates.objects,
    tasks,
    ...places,
    ...close,
  });
  const surroundings = {
    pools: new Map(before.pools.map((pool) => [pool.id, pool])),
    hosts: new Map(before.hosts.map((host) => [host.id, host])),
  };
  // The inventory shows a new VM only later, and a start later still.
  const instances = new Map(
    vms.objects.map((vm) => [vm.id, toInstance(vm, surroundings, settings)]),
  );
  const shown = {
    vms: vms.objects.map(toVm),
    hosts: before.hosts.map(toHost),
    pools: proven.pools,
    instances,
    surroundings,
    settings,
  };
  const { isUnsure } = own;
  const base = {
    observedAtMs,
    atMs,
    strangeMs,
    isUnsure,
    isForChange: true,
    ...toVmsObservation(shown),
  };
  // Without machines in question, interfaces are not listed.
  const macs =
    names.size > 0 && toMacs({ vifs: close.vifs, vms: shown.vms, templates: templates.objects });
  return { ...base, ...(gap !== undefined && { gap }), ...(macs && { macs }), resources };
}

async function listPools(api: MachinesApi, signal: AbortSignal): Promise<Shown> {
  const [pools, hosts] = await Promise.all([api.list("pools", signal), api.list("hosts", signal)]);
  return { pools: pools.objects, hosts: hosts.objects };
}

/** Lists the tasks that made VMs of the owners; `undefined` if the user has no right to see tasks. */
export async function listTasks(
  api: MachinesApi,
  machines: readonly MachineIdentity[],
  signal: AbortSignal,
): Promise<readonly RawTask[] | undefined> {
  const prefixes = [...new Set(machines.map(({ owner }) => toOwnerPrefix(owner)))];
  const some = prefixes.length > 0 && prefixes.length <= OWNERS_MAX ? prefixes : [MACHINE_PREFIX];
  return await api.listTasks(`/^(?:${some.join("|")})/`, signal);
}

interface Close {
  readonly vifs: readonly RawVif[];
  readonly links: readonly RawVbd[];
  readonly disks: readonly RawVdi[];
  readonly adrift: readonly RawVdi[];
}

/** Lists what VMs are made of: of the machines in question, and of templates. */
async function listClose(
  api: MachinesApi,
  shown: {
    readonly vms: ListReply<RawVm>;
    readonly templates: ListReply<RawTemplate>;
    readonly names: ReadonlySet<string>;
  },
  signal: AbortSignal,
): Promise<Close> {
  const { names } = shown;
  if (names.size === 0) return { vifs: [], links: [], disks: [], adrift: [] };
  const vms = [
    ...shown.vms.objects.filter(({ name_label: name }) => names.has(name)),
    ...shown.templates.objects.filter(({ $VBDs }) => ($VBDs ?? []).length > 0),
  ];
  const linkIds = vms.flatMap(({ $VBDs }) => $VBDs ?? []);
  const byVm = toIdsFilter(
    "VM",
    vms.map(({ id }) => id),
  );
  const byLink = toIdsFilter("$VBDs", linkIds);
  const [vifs, links, disks] = await Promise.all([
    api.list("vifs", signal),
    api.list("vbds", signal, byVm),
    api.list("vdis", signal, byLink && `|(${OWN_DISKS} ${byLink})`),
  ]);
  const ids = new Set(vms.map(({ id }) => id));
  const seen = links.objects.filter(({ VM }) => ids.has(VM ?? "")).map(({ id }) => id);
  const known = { names, seen: new Set(seen) };
  const adrift = await listAdrift(api, disks.objects, known, signal);
  return { vifs: vifs.objects, links: links.objects, disks: disks.objects, adrift };
}

/** Names of the VMs that Xen Orchestra makes now. */
function listPending(tasks: readonly RawTask[]): ReadonlySet<string> {
  const all = [...toTasks(tasks)];
  const pending = all.filter(([, some]) => some.some(({ status }) => status === "pending"));
  return new Set(pending.map(([name]) => name));
}

/** Whether each machine has one VM, in the list of its time, and all parts that it names are listed after it. */
function isShownWhole(
  names: ReadonlySet<string>,
  vms: readonly RawVm[],
  { vifs, links }: Pick<Close, "links" | "vifs">,
): boolean {
  const own = vms.filter(({ name_label: name }) => names.has(name));
  const parts = new Set([...vifs, ...links].map(({ id }) => id));
  const isWhole = ({ VIFs, $VBDs }: RawVm): boolean =>
    [...(VIFs ?? []), ...($VBDs ?? [])].every((id) => parts.has(id));
  return new Set(own.map((vm) => vm.name_label)).size === names.size && own.every(isWhole);
}

/**
 * Disks of the machines in question that are attached to no VM that there is.
 *
 * @param known.seen IDs of the links of VMs that are shown
 */
async function listAdrift(
  api: MachinesApi,
  disks: readonly RawVdi[],
  { names, seen }: { readonly names: ReadonlySet<string>; readonly seen: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<readonly RawVdi[]> {
  const isUnclear = ({ name_label: name, $VBDs: links }: RawVdi): boolean =>
    names.has(toNameOfOwner(name ?? "")) && isAttached(links) && !links.some((id) => seen.has(id));
  const unclear = disks.filter(isUnclear);
  if (unclear.length === 0) return [];
  // A person may have attached one to another VM, and copies of VMs have disks with the same names.
  const holders = toIdsFilter(
    "$VBDs",
    unclear.flatMap(({ $VBDs }) => $VBDs ?? []),
  );
  // Own VMs are listed, too: own changes of what a list lacks would be taken for seen.
  const { objects } = await api.list("vms", signal, holders && `|(${OWN_VMS} ${holders})`);
  const held = new Set(objects.flatMap(({ $VBDs }) => $VBDs ?? []));
  return unclear.filter(({ $VBDs }) => !($VBDs ?? []).some((id) => held.has(id)));
}

function isAttached(links: RawVdi["$VBDs"]): links is readonly string[] {
  return (links ?? []).length > 0;
}

/** A filter by IDs. @returns `undefined` if there are too many, so that everything must be listed */
function toIdsFilter(property: string, ids: readonly string[]): string | undefined {
  if (ids.length > FILTER_IDS_MAX) return undefined;
  // A filter without a term is not valid; no object has this ID.
  return `${property}:|(${ids.length === 0 ? "none" : ids.join(" ")})`;
}
