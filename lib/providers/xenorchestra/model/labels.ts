/**
 * Labels of a VM's Node. The keys MUST NOT CHANGE: the Go controller has the same, and workloads select Nodes by them.
 * @module
 */
import { toLabelValue } from "../../../core/text/label.ts";

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

/** Labels whose values change with the VM. */
export const LABEL_KEYS: ReadonlySet<string> = new Set([
  VM_NAME_LABEL,
  POOL_ID_LABEL,
  POOL_NAME_LABEL,
  HOST_ID_LABEL,
  HOST_NAME_LABEL,
]);

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

/** The values of labels. An absent value is not known now, and gives no label. */
interface LabelSource {
  readonly vmName?: string | undefined;
  readonly poolId?: string | undefined;
  readonly poolName?: string | undefined;
  readonly hostId?: string | undefined;
  readonly hostName?: string | undefined;
}

/**
 * Builds labels with values that the API server accepts. A name without any valid character gives an empty value. An
 * unknown value gives no label.
 */
export function toLabels(source: LabelSource): Record<string, string> {
  const pairs: [string, string | undefined][] = [
    [VM_NAME_LABEL, source.vmName],
    [POOL_ID_LABEL, source.poolId],
    [POOL_NAME_LABEL, source.poolName],
    [HOST_ID_LABEL, source.hostId],
    [HOST_NAME_LABEL, source.hostName],
  ];
  const labels: Record<string, string> = {};
  for (const [key, value] of pairs) if (value !== undefined) labels[key] = toLabelValue(value);
  return labels;
}
