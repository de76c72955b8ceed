/**
 * The labels of a VM's Node, its instance type, and its places for display. The keys of labels MUST NOT CHANGE: the Go
 * controller has the same, and workloads select Nodes by them.
 * @module
 */
import type { Instance, Place } from "../../cloud/instance.ts";
import { NO_TAG_LABELS, type TagLabels, toTagLabels } from "../../cloud/tag_labels.ts";
import { isWithin, toLabelValue } from "../../core/text/label.ts";

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
