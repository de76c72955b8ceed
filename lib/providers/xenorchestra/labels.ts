/**
 * The labels of a VM's Node, its instance type, region and zone, and its places for display. The keys of labels MUST
 * NOT CHANGE: the Go controller has the same, and workloads select Nodes by them.
 * @module
 */
import type { Finding } from "../../cloud/inspection.ts";
import type { Instance, Place } from "../../cloud/instance.ts";
import { NO_TAG_LABELS, type TagLabels, toTagLabels } from "../../cloud/tag_labels.ts";
import { type Logger, MessageDedup } from "../../core/log.ts";
import { isWithin, toLabelValue } from "../../core/text/label.ts";
import { quote } from "../../core/text/printable.ts";
import { parseUuid } from "../../core/text/values.ts";
import type { Host, Pool, Vm } from "./client.ts";
import type { XenOrchestraSettings } from "./settings.ts";

/** Name of the VM. */
export const VM_NAME_LABEL = "vm.k8s.xenorchestra/name_label";
/** UUID of the pool. */
export const POOL_ID_LABEL = "topology.k8s.xenorchestra/pool_id";
/** Name of the pool. */
export const POOL_NAME_LABEL = "topology.k8s.xenorchestra/pool_name_label";
/** UUID of the host that the VM runs on. */
export const HOST_ID_LABEL = "topology.k8s.xenorchestra/host_id";
/** Name of the host that the VM runs on. */
export const HOST_NAME_LABEL = "topology.k8s.xenorchestra/host_name_label";

/** Labels whose values change with the VM, and the detail of the instance that each shows. */
const SOURCES: Readonly<Record<string, string>> = {
  [VM_NAME_LABEL]: "vmName",
  [POOL_ID_LABEL]: "poolId",
  [POOL_NAME_LABEL]: "poolName",
  [HOST_ID_LABEL]: "hostId",
  [HOST_NAME_LABEL]: "hostName",
};

/** The keys of labels whose values change with the VM. */
export const LABEL_KEYS: ReadonlySet<string> = new Set(Object.keys(SOURCES));

/** UUID of the host before the VM's first move. */
const ORIGINAL_HOST_ID_LABEL = "topology.k8s.xenorchestra/original_host_id";
/** UUID of the pool before the VM's first move to another one. */
const ORIGINAL_POOL_ID_LABEL = "topology.k8s.xenorchestra/original_pool_id";

/** Labels whose value before the first move is kept, and the label that keeps it. See `Provider.originLabels`. */
export const ORIGIN_LABELS: Readonly<Record<string, string>> = {
  [HOST_ID_LABEL]: ORIGINAL_HOST_ID_LABEL,
  [POOL_ID_LABEL]: ORIGINAL_POOL_ID_LABEL,
};

/** Meaning of each label key, for the reference page. */
export const LABEL_DESCRIPTIONS: Readonly<Record<string, string>> = {
  [VM_NAME_LABEL]: "Name of the VM, as a label value.",
  [POOL_ID_LABEL]: "UUID of the pool that holds the VM.",
  [POOL_NAME_LABEL]: "Name of that pool, as a label value.",
  [HOST_ID_LABEL]:
    "UUID of the host that runs the VM. It does not change while the VM does not run.",
  [HOST_NAME_LABEL]:
    "Name of that host, as a label value. It does not change while the VM does not run.",
  [ORIGINAL_HOST_ID_LABEL]:
    "UUID of the host before the VM's first move. Set after that move, and never changed.",
  [ORIGINAL_POOL_ID_LABEL]:
    "UUID of the pool before the VM's first move to another pool. Set after that move, and never changed.",
};

/**
 * Builds labels with values that the API server accepts. A name without any valid character gives an empty value. A
 * detail that is not known now gives no label.
 */
export function toLabels(details: Instance["details"]): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [key, source] of Object.entries(SOURCES)) {
    const value = details[source];
    if (value !== undefined) labels[key] = toLabelValue(value);
  }
  return labels;
}

/** Every label of the provider is in this namespace. */
const OWN_NAMESPACES = ["k8s.xenorchestra"];

/**
 * Turns tags of the form `key=value` into labels, frozen.
 *
 * @param tags Absent if Xen Orchestra does not report them
 * @param prefixes The setting `nodeLabelsFromTags.prefixes`
 * @returns `undefined` if they are not known
 */
export function toVmTagLabels(
  tags: readonly string[] | undefined,
  prefixes: readonly string[],
): TagLabels | undefined {
  if (prefixes.length === 0) return NO_TAG_LABELS;
  if (tags === undefined) return undefined;
  const pairs = tags.flatMap((tag) => {
    const at = tag.indexOf("=");
    return at < 0 ? [] : { key: tag.slice(0, at).trim(), value: tag.slice(at + 1).trim() };
  });
  const { labels, unclear, refused } = toTagLabels(pairs, { prefixes, isOwnKey });
  return Object.freeze({
    labels: Object.freeze(labels),
    unclear: Object.freeze(unclear),
    refused: Object.freeze(refused),
  });
}

function isOwnKey(key: string): boolean {
  return key.includes("/") && isWithin(key.slice(0, key.indexOf("/")), OWN_NAMESPACES);
}

const GIB = 2 ** 30;

/**
 * Formats an instance type as the Go controller does, such as `4vCPU-8GB`. MUST NOT CHANGE: workloads select Nodes by
 * this label value.
 *
 * @param cpus Maximum number of virtual CPUs of the VM
 * @param memoryBytes Configured memory in bytes: the static maximum, which ballooning does not change. Shown in GiB,
 * rounded half to even
 */
export function formatInstanceType(cpus: number, memoryBytes: number): string {
  return `${roundHalfToEven(cpus)}vCPU-${roundHalfToEven(memoryBytes / GIB)}GB`;
}

/**
 * Finds the instance type in a tag, such as `m1.large` for the tag `type=m1.large` and the prefix `type=`.
 *
 * @returns The text after the prefix in the first such tag in text order; `undefined` without one
 */
export function findTagValue(tags: readonly string[], prefix: string): string | undefined {
  const [first] = tags.filter((tag) => tag.startsWith(prefix) && tag.length > prefix.length).sort();
  return first?.slice(prefix.length);
}

/** Rounds like `%.0f` of C and Go. `toFixed(0)` and `Math.round` round halves differently. */
function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** Implements `Provider.toPlaces`. A VM that is off has no host. */
export function toPlaces(
  instance: Instance | undefined,
  labels: Readonly<Record<string, string>>,
): readonly Place[] {
  if (instance === undefined) {
    return [
      ...toPlace("pool", labels[POOL_ID_LABEL], labels[POOL_NAME_LABEL]),
      ...toPlace("host", labels[HOST_ID_LABEL], labels[HOST_NAME_LABEL]),
    ];
  }
  const { details } = instance;
  return [
    ...toPlace("pool", details["poolId"], details["poolName"]),
    ...toPlace("host", details["hostId"], details["hostName"]),
  ];
}

function toPlace(kind: string, id: string | undefined, name: string | undefined): Place[] {
  if (!id) return [];
  return [name ? { kind, id, name } : { kind, id }];
}

type ZoneSettings = Pick<XenOrchestraSettings, "zoneLabelFrom" | "zones">;

/**
 * Finds the value of `Instance.regionLabel`.
 *
 * @returns `undefined` if the region is the ID of the pool
 */
export function findRegionLabel(
  poolId: string,
  places: Places,
  { regions }: Pick<XenOrchestraSettings, "regions">,
): string | undefined {
  if (regions === undefined) return undefined;
  const own = findOwnName(poolId, places.pools, regions);
  if (own.kind === "named") return own.label;
  return own.kind === "unknown" ? "" : undefined;
}

/**
 * Finds the zone of a VM.
 *
 * @param place Without a host for a VM that is off. It may start on any host of its pool, so its zone is known only if
 * all hosts have the same zone
 * @returns `undefined` if it is not known, or `zoneLabelFrom` is `none`
 */
export function findZone(
  { hostId, poolId }: { readonly hostId: string | undefined; readonly poolId: string },
  places: Places,
  settings: ZoneSettings,
): string | undefined {
  const { zones, zoneLabelFrom } = settings;
  if (zones === undefined || zoneLabelFrom.kind === "none") {
    return findUsualZone(hostId, poolId, places, settings);
  }
  const findOne = (id: string): string | undefined => {
    const ofHost = findOwnName(id, places.hosts, zones);
    const own = ofHost.kind === "none" ? findOwnName(poolId, places.pools, zones) : ofHost;
    if (own.kind === "named") return own.label;
    return own.kind === "none" ? findUsualZone(id, poolId, places, settings) : undefined;
  };
  if (hostId !== undefined) return findOne(hostId);
  const ofPool = [...places.hosts.values()].filter(({ $pool }) => $pool === poolId);
  const [zone, ...others] = new Set(ofPool.map(({ id }) => findOne(id)));
  return others.length === 0 ? zone : undefined;
}

/** Finds the zone without an entry in `zones`. */
function findUsualZone(
  hostId: string | undefined,
  poolId: string,
  { hosts }: Places,
  { zoneLabelFrom }: ZoneSettings,
): string | undefined {
  if (zoneLabelFrom.kind === "none") return undefined;
  if (zoneLabelFrom.kind === "pool") return poolId;
  if (zoneLabelFrom.kind === "host") return hostId;
  const tags = hosts.get(hostId ?? "")?.tags ?? [];
  return toLabelValue(findTagValue(tags, zoneLabelFrom.prefix) ?? "") || undefined;
}

/** Labels by ID (lower case) or name of a pool or host. */
type OwnNames = ReadonlyMap<string, string>;

/** The pools and hosts that entries may name. */
export interface Places {
  readonly pools: ReadonlyMap<string, Pool>;
  readonly hosts: ReadonlyMap<string, Host>;
}

/** Hosts, or pools, by ID. */
type Named = ReadonlyMap<string, { readonly name_label?: string | null | undefined }>;

/**
 * The label of a place. `none`: there is no entry for it. `unknown`: Landfall cannot check now whether there is one.
 */
type OwnName =
  { readonly kind: "named"; readonly label: string } | { readonly kind: "none" | "unknown" };

const NONE: OwnName = { kind: "none" };
const UNKNOWN: OwnName = { kind: "unknown" };

/**
 * Finds the entry of a place. An entry by ID wins. If several places have a name, an entry with that name counts for
 * none.
 */
function findOwnName(id: string, places: Named, names: OwnNames): OwnName {
  const byId = names.get(id);
  if (byId !== undefined) return { kind: "named", label: byId };
  const name = places.get(id)?.name_label ?? undefined;
  // The name of the place is not known, so an entry may name it.
  if (name === undefined) return [...names.keys()].every(isId) ? NONE : UNKNOWN;
  const label = names.get(name);
  if (label === undefined) return NONE;
  return countMatches(name, places) === 1 ? { kind: "named", label } : UNKNOWN;
}

function isId(entry: string): boolean {
  return parseUuid(entry) === entry;
}

/** Counts the places that an entry names; by ID at most one. */
function countMatches(entry: string, places: Named): number {
  if (places.has(entry)) return 1;
  let count = 0;
  for (const { name_label } of places.values()) if (name_label === entry) count += 1;
  return count;
}

type EntrySettings = Pick<XenOrchestraSettings, "regions" | "zones">;

/** Lists entries that name no place, or several of one kind, for an operator who sets up the cloud. */
export function listUnfitFindings(
  { pools, hosts }: Places,
  { regions, zones }: EntrySettings,
): UnfitFinding[] {
  return [
    ...judgeEntries("regions", "pool", { names: regions, kinds: [pools] }),
    ...judgeEntries("zones", "pool or host", { names: zones, kinds: [hosts, pools] }),
  ];
}

type UnfitFinding = Finding & { readonly advice: string };

function judgeEntries(
  setting: keyof EntrySettings,
  what: string,
  { names, kinds }: { readonly names: OwnNames | undefined; readonly kinds: readonly Named[] },
): UnfitFinding[] {
  const findings: UnfitFinding[] = [];
  for (const entry of names?.keys() ?? []) {
    const counts = kinds.map((places) => countMatches(entry, places));
    const path = `the entry ${setting}: ${quote(entry)}`;
    if (counts.some((count) => count > 1)) {
      findings.push({
        level: "warning",
        code: "ambiguousEntry",
        message: `${path} is the name of more than one ${what}, so it counts for none of them`,
        advice: "use UUIDs; their Nodes keep the labels that they have",
      });
    } else if (counts.every((count) => count === 0)) {
      findings.push({
        level: "warning",
        code: "unmatchedEntry",
        message: `${path} matches no ${what} that Xen Orchestra shows`,
        advice: `correct the UUID or name in ${setting}, or reconnect the pool`,
      });
    }
  }
  return findings;
}

/** Creates a function that checks the entries with the pools and hosts that are shown now, and logs what is new. */
export function createEntryLog(settings: EntrySettings, log: Logger): (places: Places) => void {
  const reported = new MessageDedup();
  return (places) => {
    const unfit = listUnfitFindings(places, settings);
    if (unfit.length === 0) reported.end();
    else if (reported.isNew(JSON.stringify(unfit))) {
      for (const { message, advice } of unfit) {
        log.warn("An entry of regions or zones has no effect", { why: message, advice });
      }
    }
  };
}

/** The objects whose tags count. */
interface Tagged {
  readonly hosts: readonly Pick<Host, "tags">[];
  readonly vms: readonly Pick<Vm, "tags">[];
}

/** Warns of each prefix without a tag. Without any host or VM there is nothing to say: that is another problem. */
export function listUnmatchedTagFindings(
  { hosts, vms }: Tagged,
  {
    zoneLabelFrom,
    instanceTypeTag,
  }: Pick<XenOrchestraSettings, "instanceTypeTag" | "zoneLabelFrom">,
): Finding[] {
  const findings: Finding[] = [];
  if (zoneLabelFrom.kind === "hostTag" && !hasTag(hosts, zoneLabelFrom.prefix)) {
    findings.push({
      level: "warning",
      code: "unmatchedTag",
      message: `zoneLabelFrom: no host has a tag that begins with ${quote(zoneLabelFrom.prefix)}`,
      advice:
        "correct the prefix or tag the hosts: for a host without such a tag Landfall writes no zone label",
    });
  }
  if (instanceTypeTag !== undefined && !hasTag(vms, instanceTypeTag)) {
    findings.push({
      level: "warning",
      code: "unmatchedTag",
      message: `instanceTypeTag: no VM has a tag that begins with ${quote(instanceTypeTag)}`,
      advice:
        "correct the prefix or tag the VMs: for a VM without such a tag Landfall computes the instance type",
    });
  }
  return findings;
}

function hasTag(objects: readonly Pick<Vm, "tags">[], prefix: string): boolean {
  return (
    objects.length === 0 ||
    objects.some(({ tags }) => findTagValue(tags ?? [], prefix) !== undefined)
  );
}
