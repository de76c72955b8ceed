/**
 * The taint of a Node that is out of service, and Landfall's record that it set the taint. Pure. Frozen: the words must
 * not change.
 *
 * Kubernetes asks people to set the same taint by hand, so the taint alone does not say whose it is. The record does.
 * @module
 */
import type { Node } from "../../kube/kinds/node.ts";
import type { Taints } from "../node_writer.ts";

/**
 * Kubernetes force-deletes the Pods of such a Node and detaches its volumes at once, if it is not Ready. Contract of
 * Kubernetes: https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/#non-graceful-node-shutdown
 */
export const OUT_OF_SERVICE_TAINT = {
  key: "node.kubernetes.io/out-of-service",
  value: "nodeshutdown",
  effect: "NoExecute",
} as const;

/** Annotation that holds the record. */
export const OUT_OF_SERVICE_RECORD = "landfall.dev/out-of-service";

/** Label that keeps a Node from being taken out of service; its value does not matter. */
export const EXCLUSION_LABEL = "landfall.dev/exclude-from-out-of-service";

/** For so long Kubernetes waits before it detaches the volumes of a Node by itself, in milliseconds. */
export const DETACH_WAIT_MS = 360_000;

/** What Landfall wrote down when it set the taint. */
export interface OutOfServiceRecord {
  /** When, by the clock of the writer; milliseconds since 1970. `NaN` if the text is not a time. */
  readonly timeMs: number;
  /** `status.nodeInfo.bootID` of then; empty if it was not known. */
  readonly bootId: string;
}

/** The record on a Node; absent when Landfall did not set the taint. */
export function findRecord({ metadata }: Node): OutOfServiceRecord | undefined {
  const text = metadata.annotations?.[OUT_OF_SERVICE_RECORD];
  if (text === undefined) return undefined;
  const [time = "", bootId = ""] = text.split(" ");
  return { timeMs: Date.parse(time), bootId };
}

/** The record as the value of the annotation: the time in ISO 8601, and the boot ID. */
export function formatRecord({ timeMs, bootId }: OutOfServiceRecord): string {
  return `${new Date(timeMs).toISOString()} ${bootId}`.trimEnd();
}

/** Taints of a Node that say that it is out of service, from any writer and with any value and effect. */
export function listOutOfServiceTaints({ spec }: Node): Taints {
  return spec?.taints?.filter(({ key }) => key === OUT_OF_SERVICE_TAINT.key) ?? [];
}

/** Whether a taint is the very one that Landfall sets. */
export function isOurTaint({ key, value, effect }: Taints[number]): boolean {
  const ours = OUT_OF_SERVICE_TAINT;
  return key === ours.key && value === ours.value && effect === ours.effect;
}

/** Whether a Node has the very taint that Landfall sets, and the record of it. */
export function isOutOfServiceByUs(node: Node): boolean {
  return findRecord(node) !== undefined && (node.spec?.taints?.some(isOurTaint) ?? false);
}

/** Names of the Nodes that have such a taint without our record: people set it by hand, and so do other programs. */
export function listForeignlyTainted(nodes: readonly Node[]): string[] {
  return nodes
    .filter((node) => findRecord(node) === undefined && listOutOfServiceTaints(node).length > 0)
    .map(({ metadata }) => metadata.name);
}

/** Whether a label keeps a Node from being taken out of service. */
export function isExcluded({ metadata }: Node): boolean {
  return metadata.labels?.[EXCLUSION_LABEL] !== undefined;
}
